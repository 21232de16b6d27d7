"""Training cases and the cases of another set, brought to the same features, ready to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.seeds import generator
from trustreport.measures.similarity.features import Features, mixed
from trustreport.study.clusters import clusters_over
from trustreport.study.plan import Plan
from trustreport.study.study import Clusters, Dataset, Floats, Study

ID = "potential_robustness"
# Sets that are compared with the training set.
COMPARED = ("external", "local", "internal test")
# Under this number of training cases the permutation test is off its level (benchmarks/similarity_level.py).
FEW_TO_STANDARDISE_BY = 200
NO_TRAINING = note("no_training_set_was_provided")
NO_FEATURES = note("features_training_set_or_this_set")
NO_COMMON = note("this_set_has_no_feature_in")
MISSING = note("feature_values_missing_and_how_to")
PARTLY = note("compared_by_features_that_both_sets")
EMPTY = note("feature_without_any_value_in_set")
IMPUTED = note("missing_feature_values_replaced_by_median")
IMPUTED_CATEGORY = note("missing_categories_replaced_by_most_frequent")
DROPPED = note("cases_with_missing_feature_value_left")
ONCE = note("cases_that_belong_together_first_compared")
SMALL_TRAINING = note("standardised_by_fewer_than_200_training")


@dataclass(frozen=True, eq=False)
class Pair:
    """A data set beside the training set; without `features`, `why` says why they cannot be compared."""

    dataset: Dataset
    features: Features | None = None
    why: Note = NO_NOTE
    details: dict[str, float] = field(default_factory=dict)


def training_sets(study: Study) -> list[Dataset]:
    """The sets that the model learnt from."""
    return [d for d in study.datasets if d.role == "training"]


def compared_sets(study: Study) -> list[Dataset]:
    """The sets that are compared with them."""
    return [d for d in study.datasets if d.role in COMPARED]


def paired(training: Sequence[Dataset], dataset: Dataset, plan: Plan) -> Pair:
    """Both sets by their common features, in training means and SDs unless declared otherwise.

    Of a set with more cases than declared a random part is taken before anything is copied: ten million
    cases cost no more room than their features.
    """
    if not training:
        return Pair(dataset, why=NO_TRAINING)
    if dataset.features is None or any(d.features is None for d in training):
        return Pair(dataset, why=NO_FEATURES)
    sets = [*training, dataset]
    every = training[0].feature_names
    common = [name for name in every if all(name in d.feature_names for d in sets)]
    gaps = [np.array([_missing(one, name) for name in common], np.int64) for one in sets]
    in_training, in_other = np.sum(gaps[:-1], axis=0), gaps[-1]
    left_out = (in_training == sum(len(d.cases) for d in training)) | (in_other == len(dataset.cases))
    names = [name for name, out in zip(common, left_out) if not out]
    if not names:
        return Pair(dataset, why=NO_COMMON)
    about = PARTLY if len(common) < max(len(d.feature_names) for d in sets) else NO_NOTE
    about += EMPTY if left_out.any() else NO_NOTE
    of_training, of_other = int(in_training[~left_out].sum()), int(in_other[~left_out].sum())
    details = {
        "features": float(len(names)),
        "training_missing": float(of_training),
        "external_missing": float(of_other),
    }
    treated = plan.similarity.missing if of_training or of_other else None
    if (of_training or of_other) and treated is None:
        return Pair(dataset, why=MISSING, details=details)
    if treated == "drop":
        about += DROPPED
    codes = clusters_over(sets, plan)
    rng, most = generator(plan.similarity.seed, ID, "part", dataset.name), plan.similarity.most_cases
    drawn = [
        _part(own, of, names, treated == "drop", most, rng)
        for own, of in ((training, codes[:-1]), ([dataset], codes[-1:]))
    ]
    parts = [rows for rows, *_ in drawn]
    if not all(whole for _, whole, _ in drawn):
        about += note("random_sample_used_for_set_more", n=most)
    if any(once for *_, once in drawn):
        about += ONCE
    categorical = [i for i, name in enumerate(names) if name in dataset.feature_levels]
    if categorical:
        about += note(
            "two_different_categories_one_standard_deviation",
            names=", ".join(names[i] for i in categorical),
        )
    if treated == "impute":
        parts, said = _imputed(training, names, parts, categorical, np.sum(gaps, axis=0)[~left_out] > 0)
        about += said
    details |= {"training_cases": float(len(parts[0])), "external_cases": float(len(parts[1]))}
    if ONCE in about:
        details["clusters"] = float(len(parts[1]))
    by = plan.similarity.standardise
    if by == "training" and len(parts[0]) < FEW_TO_STANDARDISE_BY:
        about += SMALL_TRAINING
    both = mixed(parts[0], parts[1], categorical, by=by)
    return Pair(dataset, Features(both.training, both.external, about + both.note), details=details)


def _column(dataset: Dataset, name: str) -> Floats:
    assert dataset.features is not None
    return dataset.features[:, dataset.feature_names.index(name)]


def _missing(dataset: Dataset, name: str) -> int:
    return int(np.isnan(_column(dataset, name)).sum())


def _part(
    sets: Sequence[Dataset],
    codes: Sequence[Clusters],
    names: Sequence[str],
    drop: bool,
    most: int,
    rng: np.random.Generator,
) -> tuple[Floats, bool, bool]:
    """The first case of every cluster of all sets, one below the other, and at most so many.

    Then whether these are all of them, and whether a cluster had more than one.
    """
    n = sum(len(d.cases) for d in sets)
    rows = np.arange(n)
    if drop:
        gap = np.zeros(n, bool)
        for name in names:
            gap |= np.isnan(np.concatenate([_column(d, name) for d in sets]))
        rows = rows[~gap]
    first = np.sort(np.unique(np.concatenate(codes)[rows], return_index=True)[1])
    once, rows = len(first) < len(rows), rows[first]
    whole = len(rows) <= most
    if not whole:
        rows = rows[np.sort(rng.choice(len(rows), most, replace=False))]
    starts = np.cumsum([0, *(len(d.cases) for d in sets)])
    parts = []
    for one, start, end in zip(sets, starts, starts[1:]):
        own = rows[(rows >= start) & (rows < end)] - start
        parts.append(np.column_stack([_column(one, name)[own] for name in names]))
    return np.vstack(parts), whole, once


def _imputed(
    training: Sequence[Dataset],
    names: Sequence[str],
    parts: Sequence[Floats],
    categorical: Sequence[int],
    gaps: NDArray[np.bool_],
) -> tuple[list[Floats], Note]:
    """What is missing, filled with the median of all training cases, or their most frequent category."""
    typical = np.zeros(len(names))
    for column, name in enumerate(names):
        known = np.concatenate([_column(d, name) for d in training])
        known = known[~np.isnan(known)]
        if column in categorical:
            codes, counts = np.unique(known, return_counts=True)
            typical[column] = codes[counts.argmax()]
        else:
            typical[column] = np.median(known)
    said = IMPUTED if any(gaps[i] for i in range(len(gaps)) if i not in categorical) else NO_NOTE
    said += IMPUTED_CATEGORY if any(gaps[i] for i in categorical) else NO_NOTE
    return [np.where(np.isnan(rows), typical, rows) for rows in parts], said
