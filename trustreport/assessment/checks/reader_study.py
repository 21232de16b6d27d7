"""Pitfalls of how the readings were made: order, washout, sequential reading, gaps and unequal loads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.checks.check import BY_ORDER, Check, Evidence, Remark
from trustreport.assessment.finding import Severity
from trustreport.assessment.performance.readers import (
    BASELINE,
    COMPARED,
    compared_later,
    days_of,
)
from trustreport.measures.association import equal_shares, fisher_exact, holm
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.period import SLACK, can_adjust, needs_adjusting
from trustreport.measures.paired.difference import PairedTable
from trustreport.measures.paired.ratios import mcnemar_exact
from trustreport.study.study import Floats, Readings
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place

DIMENSION = "decision_benefit"
# Days under which two readings of a case belong to one sitting, whatever the manifest says for P18.
SITTING = 1.0
# Designs in which a reader is not meant to read every case in every arm.
PARTIAL_DESIGNS = ("split-plot", "parallel")


def _compared(evidence: Evidence) -> Iterator[tuple[Readings, tuple[str, str], Place]]:
    """The readings of each task and contrast that hold both arms, and their place."""
    contrasts = evidence.plan.contrasts
    for readings, place in evidence.tasks():
        for arms in contrasts:
            if set(arms) <= set(readings.arms):
                yield readings, arms, place.narrowed(arms=arms) if len(contrasts) > 1 else place


def _made(readings: Readings, arms: tuple[str, str]) -> NDArray[np.bool_]:
    """Whether a reader judged a case in an arm: (2, n_readers, n_cases)."""
    judged = np.zeros(len(readings), bool)
    if readings.decision is not None:
        judged |= readings.decision >= 0
    if readings.score is not None:
        judged |= ~np.isnan(readings.score)
    return readings.grid(np.where(judged, 1.0, np.nan), arms) == 1


def _sequential(evidence: Evidence, readings: Readings) -> bool:
    return readings.sequential or evidence.plan.reading.design == "sequential"


def same_order(evidence: Evidence) -> Iterator[Remark]:
    """P16: readers read the cases in one order, or one arm more often before the other.

    Where the order of the arms differs between readers, changes are adjusted for it; what cannot be is
    withheld.
    """
    limit = evidence.limit("P16_share")
    declared = (evidence.plan.reading.order_assignment or "").lower()
    for readings, arms, place in _compared(evidence):
        said: list[Message] = []
        known = bool(declared)
        alike = _same_case_order(readings, arms)
        severity: Severity = "W"
        own = None if _sequential(evidence, readings) else _arm_by_session(readings, arms)
        later = None if _sequential(evidence, readings) else compared_later(readings, arms)
        if alike is not None:
            known = True
            said += [say("checks.P16.cases", n=len(readings.readers))] if alike else []
        if own is not None:
            known = True
            said += [say("checks.P16.session", n=own)] if own else []
        if later is not None:
            known = True
            mean = float(np.nanmean(later))
            if (1 + abs(mean)) / 2 > limit + SLACK:
                adjusted = can_adjust(later) and needs_adjusting(later)
                first = arms[BASELINE if mean > 0 else COMPARED]
                of = {"arm": first, "share": (1 + abs(mean)) / 2, "n": int((~np.isnan(later)).sum())}
                said.append(say(f"checks.P16.{'adjusted' if adjusted else 'fired'}", **of))
                severity = "W" if _one_sitting(readings, arms) else "B"
        elif declared.startswith("fixed") and not _sequential(evidence, readings):
            said.append(say("checks.P16.declared"))
            severity = "B"
        if known:
            yield Remark(place, _joined(said), severity=severity)


def _joined(said: Sequence[Message]) -> Message | None:
    if not said:
        return None
    first, *more = said
    return say("checks.P16.both", first=first, second=_joined(more)) if more else first


def _same_case_order(readings: Readings, arms: tuple[str, str]) -> bool | None:
    """Whether every reader read the cases of an arm as the first one did; None where order tells nothing."""
    if readings.order is None:
        return None
    alike = []
    for order in readings.grid(readings.order, arms):
        for other in order[1:]:
            both = ~np.isnan(order[0]) & ~np.isnan(other)
            one, two = order[0, both], other[both]
            if len(one) > 2 and len(np.unique(one)) == len(one) and len(np.unique(two)) == len(two):
                alike.append(bool((np.argsort(one) == np.argsort(two)).all()))
    return all(alike) if alike else None


def _arm_by_session(readings: Readings, arms: tuple[str, str]) -> int | None:
    """How many sessions, where each holds one arm only, else 0; None where fewer than two are known."""
    if readings.session is None:
        return None
    sessions = [set(np.unique(of_arm[~np.isnan(of_arm)])) for of_arm in readings.grid(readings.session, arms)]
    if len(sessions[0] | sessions[1]) < 2 or not all(sessions):
        return None
    return 0 if sessions[0] & sessions[1] else len(sessions[0] | sessions[1])


def _in_one_session(readings: Readings, arms: tuple[str, str]) -> float | None:
    """Share of pairs of one reader and case whose two readings were made in one session; None if unknown."""
    if readings.session is None:
        return None
    compared, baseline = readings.grid(readings.session, arms)
    known = ~np.isnan(compared) & ~np.isnan(baseline)
    return float((compared[known] == baseline[known]).mean()) if known.any() else None


def _one_sitting(readings: Readings, arms: tuple[str, str]) -> bool:
    """Whether both readings of a case were mostly made in one sitting, which P18 is about."""
    apart, together = _gap(readings, arms), _in_one_session(readings, arms)
    return apart < SITTING if apart is not None else (together or 0.0) > 0.5


def _gap(readings: Readings, arms: tuple[str, str]) -> float | None:
    """Median days between the two readings of a case by one reader; None where no pair has both dates."""
    days = days_of(readings, arms)
    if days is None:
        return None
    apart = np.abs(days[COMPARED] - days[BASELINE])
    apart = apart[~np.isnan(apart)]
    return float(np.median(apart)) if len(apart) else None


def short_washout(evidence: Evidence) -> Iterator[Remark]:
    """P17: a crossover whose readings of a case lie too close together, as read or as declared."""
    reading = evidence.plan.reading
    limit = evidence.limit("P17_days")
    for readings, arms, place in _compared(evidence):
        if _sequential(evidence, readings) or reading.design in PARTIAL_DESIGNS:
            continue
        days, declared = _gap(readings, arms), reading.washout_days
        if days is not None:
            least = max(limit, declared or 0.0)
            yield Remark(place, say("checks.P17.fired", days=days, limit=least) if days < least else None)
        elif declared is not None:
            short = say("checks.P17.declared", days=declared, limit=limit)
            yield Remark(place, short if declared < limit else None)


def sequential_reading(evidence: Evidence) -> Iterator[Remark]:
    """P18: both decisions in one sitting, which is not practice without the aid."""
    declared = evidence.plan.reading.design
    limit = evidence.limit("P18_days")
    for readings, arms, place in _compared(evidence):
        days, together = _gap(readings, arms), _in_one_session(readings, arms)
        if _sequential(evidence, readings):
            yield Remark(place, say("checks.P18.fired"))
        elif days is not None:
            yield Remark(place, say("checks.P18.sitting", days=days) if days < limit else None)
        elif together is not None:
            yield Remark(place, say("checks.P18.session", share=together) if together > 0.5 else None)
        elif declared is not None:
            yield Remark(place)
    if declared is not None and not evidence.study.readings:
        for counts in (*evidence.study.counts, *evidence.study.paired_counts):
            name = getattr(counts, "set", None) or counts.name
            yield Remark(Place(set=name), say("checks.P18.fired") if declared == "sequential" else None)


def selective_absence(evidence: Evidence) -> Iterator[Remark]:
    """P20: missing readings that go with the arm, the reader, the class or the difficulty of the case."""
    alpha = evidence.limit("P20_alpha")
    if evidence.plan.reading.design in PARTIAL_DESIGNS:
        return
    for readings, arms, place in _compared(evidence):
        missing = ~_made(readings, arms)
        if not missing.any():
            yield Remark(place)
            continue
        found = [a for a in _associations(readings, arms, missing) if not np.isnan(a.test.p)]
        adjusted = holm([a.test.p for a in found])
        said = [
            say(f"checks.P20.by.{a.by}", **a.values, p=p, test=say(f"checks.P20.test.{a.name}"))
            for a, p in zip(found, adjusted)
            if p <= alpha
        ]
        yield Remark(place, say("checks.P20.fired", what=said, tests=len(found)) if said else None)


@dataclass(frozen=True, slots=True)
class _Association:
    """Whether missing readings go with something: the test, its name, and the shares that its text names."""

    by: str
    values: Mapping[str, Any]
    test: Estimate
    name: str


def _associations(
    readings: Readings, arms: tuple[str, str], missing: NDArray[np.bool_]
) -> Iterator[_Association]:
    """By arm, reader, class and difficulty; `missing` (2, n_readers, n_cases)."""
    compared, baseline = missing
    both = PairedTable(
        int((compared & baseline).sum()),
        int((compared & ~baseline).sum()),
        int((~compared & baseline).sum()),
        int((~compared & ~baseline).sum()),
    )
    shares = {"a": float(compared.mean()), "b": float(baseline.mean())}
    named = {"arm": arms[COMPARED], "other": arms[BASELINE], **shares}
    yield _Association("arm", named, mcnemar_exact(both), "mcnemar_exact")
    by_reader = missing.sum(axis=(0, 2))
    each = missing.shape[0] * missing.shape[2]
    most = int(by_reader.argmax())
    rest = (by_reader.sum() - by_reader[most]) / max(each * (len(by_reader) - 1), 1)
    named = {"reader": readings.readers.labels[most], "a": by_reader[most] / each, "b": float(rest)}
    # By case: who skips a case often skips it in both arms, and that is one event.
    skipped = (compared | baseline).sum(axis=1)
    among = equal_shares(skipped, np.full(len(skipped), missing.shape[2]))
    yield _Association("reader", named, among, among.method)
    per_case = missing.sum(axis=(0, 1))
    yield _by_case("class", per_case, readings.cases.truth == 1, readings.cases.truth == 0, missing)
    difficulty = _difficulty(readings, arms)
    middle = np.nanmedian(difficulty) if not np.isnan(difficulty).all() else np.nan
    yield _by_case("difficulty", per_case, difficulty > middle, difficulty <= middle, missing)


def _by_case(
    by: str,
    per_case: NDArray[np.int_],
    one: NDArray[np.bool_],
    other: NDArray[np.bool_],
    missing: NDArray[np.bool_],
) -> _Association:
    """The median test: how many cases of each group lack more readings than the median case does."""
    many = per_case > np.median(per_case[one | other]) if (one | other).any() else per_case > 0
    test = fisher_exact(int(many[one].sum()), int(one.sum()), int(many[other].sum()), int(other.sum()))
    shares = [float(missing[:, :, group].mean()) if group.any() else np.nan for group in (one, other)]
    return _Association(by, {"a": shares[0], "b": shares[1]}, test, "median")


def _difficulty(readings: Readings, arms: tuple[str, str]) -> Floats:
    """Complexity where it is known, else wrong decisions: (n_cases,), NaN where neither is.

    Errors are scaled to the readings of the most read case and rounded: shares of unlike denominators would
    put cases with missing readings beside the median, and those without on it.
    """
    if readings.cases.complexity is not None:
        return readings.cases.complexity
    right = _right(readings, arms)
    judged = (~np.isnan(right)).sum(axis=(0, 1))
    wrong = judged - np.nansum(right, axis=(0, 1))
    return np.where(judged > 0, np.round(wrong / np.maximum(judged, 1) * judged.max()), np.nan)


def _right(readings: Readings, arms: tuple[str, str]) -> Floats:
    """1.0 where a decision is the truth, 0.0 where it is not, NaN elsewhere: (2, n_readers, n_cases)."""
    if readings.decision is None:
        return np.full((2, len(readings.readers), len(readings.cases)), np.nan)
    known = (readings.decision >= 0) & (readings.truth >= 0)
    return readings.grid(np.where(known, readings.decision == readings.truth, np.nan), arms)


def unequal_loads(evidence: Evidence) -> Iterator[Remark]:
    """P21: some readers or cases count for far more readings than others."""
    limit = evidence.limit("P21_ratio")
    for readings, arms, place in _compared(evidence):
        made = _made(readings, arms)
        by_reader, by_case = made.sum(axis=(0, 2)), made.sum(axis=(0, 1))
        by_case = by_case[by_case > 0]
        if not by_case.size:
            continue
        times = by_reader.max() / by_reader[by_reader > 0].min()
        if times > limit:
            most = int(by_reader.argmax())
            share = by_reader[most] / by_reader.sum()
            named = readings.readers.labels[most]
            said = say("checks.P21.fired", reader=named, share=share, times=float(times))
        elif by_case.max() > limit * by_case.min():
            said = say("checks.P21.cases", least=int(by_case.min()), most=int(by_case.max()))
        else:
            yield Remark(place)
            continue
        differ = _averages_differ(_right(readings, arms))
        if round(abs(differ), 3) > 0:  # to the decimals that are written; NaN is not
            said = say("checks.P21.differ", first=said, d=differ)
        yield Remark(place, said)


def _averages_differ(right: Floats) -> float:
    """The change in accuracy over all readings less the mean change of the readers; NaN without decisions."""
    judged = (~np.isnan(right)).sum(axis=2)
    if not judged.all():
        return float("nan")
    correct = np.nansum(right, axis=2)
    pooled = correct.sum(axis=1) / judged.sum(axis=1)
    averaged = (correct / judged).mean(axis=1)
    return float(pooled[COMPARED] - pooled[BASELINE] - averaged[COMPARED] + averaged[BASELINE])


CHECKS = (
    Check("P16", DIMENSION, "B", same_order, BY_ORDER),
    Check("P17", DIMENSION, "W", short_washout),
    Check("P18", DIMENSION, "N", sequential_reading),
    Check("P20", DIMENSION, "B", selective_absence),
    Check("P21", DIMENSION, "W", unequal_loads),
)
