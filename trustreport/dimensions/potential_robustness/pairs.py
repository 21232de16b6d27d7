"""Training cases and the cases of another set, brought to the same features, ready to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trustreport.measures.similarity.features import Features, mixed
from trustreport.plan import Plan
from trustreport.seeds import generator
from trustreport.study import Dataset, Floats, Study

ID = "potential_robustness"
# Sets that are held against the training set.
COMPARED = ("external", "local", "internal test")
# With more cases than this a set is represented by a random part of it: the work grows with their square.
LARGEST = 3_000

NO_TRAINING = "no training set was handed in"
NO_FEATURES = "features of the training set or of this set were not handed in"
NO_COMMON = "this set has no feature in common with the training set"
OTHER_DISTANCE = "a distance other than the euclidean one is declared: it is not computed"
MISSING = (
    "feature values are missing, and how to treat them is not declared (similarity.missing: impute or drop)"
)
PARTLY = "compared by the features that both sets have"
EMPTY = "a feature without any value in a set is left out"
IMPUTED = "missing feature values stand as the median of the training cases"
IMPUTED_CATEGORY = "missing categories stand as the most frequent one of the training cases"
DROPPED = "cases with a missing feature value are left out"
PART = "from 3,000 random cases of a larger set"


@dataclass(frozen=True, eq=False)
class Pair:
    """A data set beside the training set; without `features`, `why` says why they cannot be compared."""

    dataset: Dataset
    features: Features | None = None
    why: str = ""
    details: dict[str, float] = field(default_factory=dict)


def training_sets(study: Study) -> list[Dataset]:
    """The sets that the model learnt from."""
    return [d for d in study.datasets if d.role == "training"]


def compared_sets(study: Study) -> list[Dataset]:
    """The sets that are held against them."""
    return [d for d in study.datasets if d.role in COMPARED]


def paired(training: Sequence[Dataset], dataset: Dataset, plan: Plan) -> Pair:
    """Both sets by their common features, in training means and SDs unless declared otherwise."""
    if not training:
        return Pair(dataset, why=NO_TRAINING)
    if dataset.features is None or any(d.features is None for d in training):
        return Pair(dataset, why=NO_FEATURES)
    if plan.similarity.metric.lower() != "euclidean":
        return Pair(dataset, why=OTHER_DISTANCE)
    sets = [*training, dataset]
    every = training[0].feature_names
    common = [name for name in every if all(name in d.feature_names for d in sets)]
    known, other = _rows(training, common), _rows([dataset], common)
    empty = np.asarray(np.isnan(known).all(axis=0) | np.isnan(other).all(axis=0))
    names = [name for name, left_out in zip(common, empty) if not left_out]
    if not names:
        return Pair(dataset, why=NO_COMMON)
    notes = [PARTLY] if len(common) < max(len(d.feature_names) for d in sets) else []
    notes += [EMPTY] if empty.any() else []
    known, other = known[:, ~empty], other[:, ~empty]
    categorical = [i for i, name in enumerate(names) if name in dataset.feature_levels]
    details = {
        "features": float(len(names)),
        "training_missing": float(np.isnan(known).sum()),
        "external_missing": float(np.isnan(other).sum()),
    }
    if np.isnan(known).any() or np.isnan(other).any():
        match plan.similarity.missing:
            case "impute":
                known, other, said = _imputed(known, other, categorical)
                notes += said
            case "drop":
                known, other = (rows[~np.isnan(rows).any(axis=1)] for rows in (known, other))
                notes.append(DROPPED)
            case _:
                return Pair(dataset, why=MISSING, details=details)
    rng = generator(plan.similarity.seed, ID, "part", dataset.name)
    parts = [_part(rows, rng) for rows in (known, other)]
    if len(parts[0]) + len(parts[1]) < len(known) + len(other):
        notes.append(PART)
    details |= {"training_cases": float(len(parts[0])), "external_cases": float(len(parts[1]))}
    by: Any = plan.similarity.standardise
    both = mixed(parts[0], parts[1], categorical, by=by)
    said = [*notes, both.note] if both.note else notes
    return Pair(dataset, Features(both.training, both.external, "; ".join(said)), details=details)


def _rows(sets: Sequence[Dataset], names: Sequence[str]) -> Floats:
    """The cases of all sets, one below the other, by these features."""
    parts = []
    for one in sets:
        assert one.features is not None
        parts.append(one.features[:, [one.feature_names.index(name) for name in names]])
    return np.vstack(parts)


def _imputed(known: Floats, other: Floats, categorical: Sequence[int]) -> tuple[Floats, Floats, list[str]]:
    """What is missing, filled with the training median, or the most frequent category."""
    typical = np.nanmedian(known, axis=0)
    for column in categorical:
        codes, counts = np.unique(known[~np.isnan(known[:, column]), column], return_counts=True)
        typical[column] = codes[counts.argmax()]
    gaps = np.asarray(np.isnan(np.vstack([known, other])).any(axis=0))
    said = [IMPUTED] if any(gaps[i] for i in range(len(gaps)) if i not in categorical) else []
    said += [IMPUTED_CATEGORY] if any(gaps[i] for i in categorical) else []
    filled = [np.where(np.isnan(rows), typical, rows) for rows in (known, other)]
    return filled[0], filled[1], said


def _part(rows: Floats, rng: np.random.Generator) -> Floats:
    if len(rows) <= LARGEST:
        return rows
    return rows[np.sort(rng.choice(len(rows), LARGEST, replace=False))]
