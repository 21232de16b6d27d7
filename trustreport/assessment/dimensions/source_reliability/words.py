"""What is said of the raters of one task: their agreement, and how many of their labels are right."""

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np

from trustreport.assessment.dimensions.source_reliability import actual_accuracy
from trustreport.assessment.dimensions.source_reliability.actual_accuracy import MeasuredAccuracy
from trustreport.assessment.dimensions.source_reliability.results import COEFFICIENTS, NAME, Panel
from trustreport.assessment.finding import Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, as_cell, side_of
from trustreport.figures.reliability import Joyplot, Ridge
from trustreport.measures.agreement.bootstrap import OVER_RATERS_AND_CASES
from trustreport.measures.estimate import Estimate
from trustreport.measures.label_accuracy import MAJORITY, NOMOGRAM
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.results import Result

# Coefficients of which the table also shows the interval with raters drawn too.
SHOWN_BOTH_WAYS = ("percent_agreement", "krippendorff_alpha", "gwet_ac1", "gwet_ac2", "weighted_concordance")
# Raters that a joyplot holds on one page.
RIDGES_A_FIGURE = 40
# A scale of confidence with more values than this is drawn in bins, so many of them.
MOST_STEPS, BINS = 12, 25

text = Texts(NAME)


def parts(
    panel: Panel, results: Sequence[Result], advice: Sequence[MeasuredAccuracy], number: int
) -> Iterator[Part]:
    """The raters of one task: how far they agree; how many labels are right, and what advice means."""
    of_task = {"name": panel.task} if panel.place.panel else {}
    key = "of_task" if of_task else "alone"
    # Of several primary entries (an unweighted kappa and weighted ones) the first is the one in sentences.
    lead = {r.name: r.estimate for r in reversed(results) if r.primary and r.place.raters is None}
    agreement, labels = (
        _agreement(panel, results, lead, number),
        _labels(panel, results, lead, advice, number),
    )
    yield text.part(agreement, text(f"title_agreement.{key}", **of_task), panel.place)
    yield text.part(labels, text(f"title_labels.{key}", **of_task), panel.place)


def _agreement(
    panel: Panel, results: Sequence[Result], lead: dict[str, Estimate], number: int
) -> Iterator[Item]:
    agreement, alpha = lead["percent_agreement"], lead["krippendorff_alpha"]
    cases = int(panel.labelled.any(axis=1).sum())
    yield text.of_estimate("agreement", agreement, n=len(panel.raters), cases=cases)
    if not isnan(agreement.value):
        yield text.of_estimate("alpha", alpha, whole="alpha_ranks" if panel.ranks else "alpha")
        for r in results if not isnan(alpha.low) else ():
            of_alpha = r.name == "krippendorff_alpha" and bool(r.parameters) == panel.ranks
            if of_alpha and r.method == OVER_RATERS_AND_CASES and not isnan(r.estimate.low):
                yield text("other_raters", r)
        yield from _range_of_pairs(panel, results)
    yield text.estimates(
        f"source_reliability_{number}",
        text("table"),
        [
            r
            for name in (*COEFFICIENTS, "gwet_ac2", "icc", "weighted_concordance")
            for r in _rows(results, name)
        ],
        _label,
        lambda r: r.primary and r.name == "krippendorff_alpha" and bool(r.parameters) == panel.ranks,
    )
    if len(panel.raters) > 1:
        yield _raters_table(panel, results, number)
    yield from _joyplots(panel, number)


def _rows(results: Sequence[Result], name: str) -> Iterator[Result]:
    """A coefficient with these raters as they are, then with the raters drawn too."""
    for r in results:
        drawn = r.method == OVER_RATERS_AND_CASES and name in SHOWN_BOTH_WAYS
        if r.name == name and r.place.raters is None and (r.primary or drawn):
            yield r


def _label(r: Result) -> Message:
    """The name of a coefficient of all raters, with its weights or form."""
    way = r.parameters.get("weights") or str(r.parameters.get("form", "")).replace(",", "").lower()
    return text(f"label.{r.name}_{way}" if way else f"label.{r.name}")


def _kappas(panel: Panel, results: Sequence[Result], name: str) -> list[Result]:
    """The kappas that are shown: of ranks those with quadratic weights."""
    chosen = {"weights": "quadratic"} if panel.ranks else {}
    return [r for r in results if r.name == name and r.parameters == chosen]


def _range_of_pairs(panel: Panel, results: Sequence[Result]) -> Iterator[Message]:
    pairs = [r for r in _kappas(panel, results, "cohen_kappa") if not isnan(r.estimate.value)]
    if len(pairs) > 1:
        least, most = (end(pairs, key=lambda r: r.estimate.value) for end in (min, max))
        yield text(
            "pairs_ranks" if panel.ranks else "pairs",
            low=least.estimate.value,
            least=list(least.place.raters or ()),
            high=most.estimate.value,
            most=list(most.place.raters or ()),
        )


def _raters_table(panel: Panel, results: Sequence[Result], number: int) -> PlainTable:
    """A row per rater: labels given, kappa with the others; accuracy and mean confidence where known."""
    of_rater = {r.place.raters: r.estimate for r in _kappas(panel, results, "mean_cohen_kappa")}
    accuracy = {r.place.raters: r.estimate for r in results if r.name == "rater_accuracy"}
    counts = panel.labelled.sum(axis=0)
    return text.table(
        f"source_reliability_raters_{number}",
        text("table_raters_ranks" if panel.ranks else "table_raters"),
        ".rater cases .kappa:number? accuracy? .confidence:number?",
        [
            (
                rater,
                int(counts[i]),
                of_rater.get((rater,)),
                as_cell(accuracy.get((rater,))),
                _mean_confidence(panel, i),
            )
            for i, rater in enumerate(panel.raters)
        ],
    )


def _mean_confidence(panel: Panel, i: int) -> float | None:
    """How sure a rater was of the labels given, where that was recorded."""
    own = np.array([]) if panel.confidence is None else panel.confidence[:, i]
    known = own[~np.isnan(own)]
    return float(known.mean()) if len(known) else None


def _joyplots(panel: Panel, number: int) -> Iterator[Figure]:
    """The distribution of the confidence of each rater, by the steps of the scale or in bins."""
    if panel.confidence is None:
        return
    steps = np.unique(panel.confidence[~np.isnan(panel.confidence)])
    discrete = len(steps) <= MOST_STEPS
    edges = np.linspace(0, 1, BINS + 1)
    at = steps if discrete else (edges[:-1] + edges[1:]) / 2
    ridges = []
    for rater, column in zip(panel.raters, panel.confidence.T):
        own = column[~np.isnan(column)]
        if len(own):
            counts = (own[:, None] == steps).sum(axis=0) if discrete else np.histogram(own, edges)[0]
            shares = tuple(float(x) for x in counts / len(own))
            ridges.append(Ridge(rater, shares, float(own.mean()), len(own)))
    for i in range(0, len(ridges), RIDGES_A_FIGURE):
        some = tuple(ridges[i : i + RIDGES_A_FIGURE])
        means = [ridge.mean for ridge in some]
        yield text.figure(
            f"confidence_{number}" + (f"_{i // RIDGES_A_FIGURE + 1}" if i else ""),
            Joyplot(some, tuple(float(x) for x in at), discrete),
            "confidence",
            n=len(some),
            low=min(means),
            high=max(means),
        )


def _labels(
    panel: Panel,
    results: Sequence[Result],
    lead: dict[str, Estimate],
    advice: Sequence[MeasuredAccuracy],
    number: int,
) -> Iterator[Item]:
    rho, label, agreement = (
        lead[name] for name in ("weighted_concordance", "label_accuracy", "percent_agreement")
    )
    known = panel.accuracy is not None or panel.truth is not None
    yield text.of_estimate("concordance", rho, whole="concordance" if known else "concordance_bound")
    if "expected_agreement" in lead and not isnan(agreement.low):
        expected = lead["expected_agreement"].value
        yield text(
            f"independence.{side_of(agreement, expected, 'more', 'less', 'as_much')}", expected=expected
        )
    if isnan(label.value):
        yield text("no_labels", label)
    else:
        bare = label.method == NOMOGRAM and isnan(label.low)
        yield text(f"labels_by.{label.method}_no_interval" if bare else f"labels_by.{label.method}", label)
        for r in results:
            second = r.name == "label_accuracy" and r.method == MAJORITY != label.method
            if second and not isnan(r.estimate.value):
                yield text("labels_by.majority_second", r)
        if advice:
            yield from actual_accuracy.sentences_of_advice(advice)
        else:
            yield text("band" if panel.n_categories == 2 else "band_classes")
    yield text.estimates(
        f"source_reliability_labels_{number}",
        text("table_labels"),
        [
            r
            for name in ("rater_accuracy", "expected_agreement", "label_accuracy")
            for r in results
            if r.name == name and r.place.raters is None
        ],
        leads=lambda r: r.primary and r.name == "label_accuracy",
    )
    yield from actual_accuracy.tables(advice, str(number))
    if not isnan(rho.value) and panel.n_categories == 2:
        yield actual_accuracy.nomogram_of_raters(results, rho, advice, number)
