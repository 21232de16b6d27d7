"""Pitfalls of advice accuracy: one-sided reports, other prevalences, cases left out, figures that are off."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

from trustreport.assessment.checks.check import COUNTED_DECISIONS, UNDEFINED, Check, Evidence, Remark
from trustreport.assessment.claims import claim_checks, tables
from trustreport.assessment.narrative.texts import heading
from trustreport.assessment.performance.cases import ScoredCases, scored_cases
from trustreport.assessment.performance.decision_table import place_of_counts
from trustreport.assessment.performance.time_to_event import followed_cases
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.reported.printed import metric_named
from trustreport.measures.two_arm.difference import newcombe
from trustreport.vocabulary.digits import share
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import leading

DIMENSION = "advice_accuracy"
# Cells that tell of cases of one class, as figures by themselves.
OF_POSITIVES, OF_NEGATIVES = {"fn", "tp"}, {"fp", "tn"}
MISSED, ALARMS = 2, 1  # places in tp, fp, fn, tn
# Units of which nobody can count those that are absent.
WITHOUT_NEGATIVES = ("lesion",)


@dataclass(frozen=True, slots=True)
class CountsTable:
    """A table of counts of the study, and where it belongs."""

    place: Place
    counts: ConfusionCounts

    @property
    def name(self) -> str:
        """The set or data set."""
        return self.place.set or self.place.dataset or ""


def _tables(evidence: Evidence) -> list[CountsTable]:
    return [CountsTable(place, counts) for place, counts in tables(evidence.results).items()]


def _estimate(evidence: Evidence, table: CountsTable, name: str) -> Estimate:
    """A measure of a table at its own prevalence."""
    wanted = {"parameters": None, "threshold": None, "candidate": None, **table.place.scope}
    found = leading(evidence.results, f"{DIMENSION}.{name}", **wanted)
    return found.estimate if found else estimated(MEASURES[name], table.counts)


# ---------------------------------------------------------------- P01


def one_sided(evidence: Evidence) -> Iterator[Remark]:
    """P01: sensitivity without false alarms, or the reverse; negatives of a unit that has none."""
    for reported in evidence.study.reported:
        known = {metric for name in reported.metrics if (metric := metric_named(name))}
        yield Remark(Place(set=reported.set), _lacks_a_side(known))
    yield from _claims_of_one_side(evidence)
    for table in _tables(evidence):
        facts = evidence.facts(table.name)
        unit = facts.unit_of_analysis if facts else None
        if unit in WITHOUT_NEGATIVES and table.counts.negatives:
            yield Remark(table.place, say("checks.P01.fired_unit", unit=say(f"checks.P01.unit.{unit}")))
        else:
            yield Remark(table.place)


def _lacks_a_side(known: set[str]) -> Message | None:
    measures = [MEASURES[name] for name in known if name in MEASURES and name != "prevalence"]
    of_missed = bool(known & OF_POSITIVES) or any(m.depends_on(MISSED) for m in measures)
    of_alarms = bool(known & OF_NEGATIVES) or any(m.depends_on(ALARMS) for m in measures)
    if of_missed == of_alarms:
        return None
    return say("checks.P01.fired" if of_missed else "checks.P01.fired_reverse")


def _claims_of_one_side(evidence: Evidence) -> Iterator[Remark]:
    """Claims about what no table of counts stands beside."""
    counted = {table.name for table in _tables(evidence)}
    by_place: dict[tuple[str | None, ...], set[str]] = {}
    for claim in evidence.plan.performance_claims or ():
        metric = metric_named(claim.measure.rpartition(".")[2])
        if metric:
            by_place.setdefault((claim.set, claim.dataset, claim.arm, claim.population), set()).add(metric)
    for (of_set, dataset, *_), known in by_place.items():
        alone = of_set is None and dataset is None and len(counted) == 1
        if not alone and (of_set or dataset or "") not in counted:
            yield Remark(Place(set=of_set, dataset=dataset), _lacks_a_side(known))


# ---------------------------------------------------------------- P02


@dataclass(frozen=True, slots=True)
class _Prevalence:
    """Cases of either class of a set."""

    name: str
    place: Place
    role: str
    positives: int
    n: int


def _prevalences(evidence: Evidence) -> list[_Prevalence]:
    found = []
    for dataset in evidence.study.datasets:
        known = dataset.cases.truth[dataset.cases.truth >= 0]
        if len(dataset.cases.classes) == 2 and known.size:
            place = Place(dataset=dataset.name)
            found.append(_Prevalence(dataset.name, place, dataset.role, int((known == 1).sum()), known.size))
    for table in _tables(evidence):
        facts = evidence.facts(table.name)
        if facts and table.place.set is not None and table.counts.n:
            found.append(
                _Prevalence(table.name, table.place, facts.role, table.counts.positives, table.counts.n)
            )
    return found


def other_prevalence(evidence: Evidence) -> Iterator[Remark]:
    """P02: tuned at one prevalence, tested at another, and no range of it declared."""
    mixes = _prevalences(evidence)
    tuned = [m for m in mixes if m.role == "tuning"] or [m for m in mixes if m.role == "training"]
    if not tuned:
        return
    x, n = sum(m.positives for m in tuned), sum(m.n for m in tuned)
    for mix in mixes:
        if mix.role not in ("tuning", "training"):
            apart = newcombe(mix.positives, mix.n, x, n)
            fires = apart.low * apart.high > 0 and evidence.plan.utility.prevalence_range is None
            message = say("checks.P02.fired", a=share(x, n), b=share(mix.positives, mix.n))
            yield Remark(mix.place, message if fires else None)


# ---------------------------------------------------------------- P03


def left_out(evidence: Evidence) -> Iterator[Remark]:
    """P03: cases removed after results were known, and cases without an output: left out, or counted."""
    found = _tables(evidence)
    for facts in evidence.plan.datasets:
        if facts.exclusions is None:
            continue
        own = [t for t in found if t.name == facts.dataset]
        if not own and len(found) == len(evidence.plan.datasets) == 1:
            own = found
        n = sum(e.n for e in facts.exclusions if e.decided_before_results is False)
        place = own[0].place if own else Place(dataset=facts.dataset)
        yield Remark(place, _without(own[0].counts if own else None, n) if n else None)
    for confusion in evidence.study.confusion:
        given = (confusion.indeterminate_positives, confusion.indeterminate_negatives)
        if given != (None, None):
            n = sum(k or 0 for k in given)
            here = place_of_counts(confusion)
            counted = _counted(evidence, here, n)
            yield counted or Remark(here, _indeterminate(confusion, n))
    for case in scored_cases(evidence.study, evidence.plan):
        if case.n_failed:
            yield Remark(case.place, _kept(evidence, case), severity="W")
        if case.n_not_given or not case.n_failed:
            n = case.n_not_given
            yield Remark(case.place, _without(case.counts, n) if n else None)
    for one in followed_cases(evidence.study, evidence.plan):
        failed, n = one.cases.n_failed, one.cases.n_not_given
        if failed:
            yield Remark(one.place, say("checks.P03.fired_failed", n=failed), severity="W")
        if n or not failed:
            yield Remark(one.place, _without(None, n) if n else None)


def _kept(evidence: Evidence, case: ScoredCases) -> Message:
    """Cases that were given and have no output: they count, by the declared rule or as wrong."""
    whole, part = case.counts, case.decided.counts
    if whole is None or part is None or not part.n:
        return say("checks.P03.fired_failed", n=case.n_failed)
    values = {
        "n": case.n_failed,
        "x": share(part.tp + part.tn, part.n),
        "y": share(whole.tp + whole.tn, whole.n),
    }
    rule = evidence.plan.operating_point.indeterminate_as
    if rule is None:
        return say("checks.P03.fired_indeterminate", **values)
    return say("checks.P03.fired_counted", counted=say(f"{DIMENSION}.counted.{rule}"), **values)


def _counted(evidence: Evidence, place: Place, n: int) -> Remark | None:
    """A warning instead of a block where a declared rule puts such cases in every denominator."""
    rule = evidence.plan.operating_point.indeterminate_as
    if not n or rule is None:
        return None
    wanted = {"candidate": None, **place.scope}
    without = leading(
        evidence.results, f"{DIMENSION}.accuracy", parameters={"indeterminate": "left out"}, **wanted
    )
    counted = leading(evidence.results, f"{DIMENSION}.accuracy", parameters=None, **wanted)
    if without is None or counted is None:
        return None
    x, y = without.estimate.value, counted.estimate.value
    how = say(f"{DIMENSION}.counted.{rule}")
    message = say("checks.P03.fired_counted", n=n, counted=how, x=x, y=y)
    return Remark(place, message, severity="W")


def _without(counts: ConfusionCounts | None, n: int) -> Message:
    """How far accuracy falls when what was left out counts as wrong."""
    if counts is None or not counts.n:
        return say("checks.P03.fired_no_table", n=n)
    right = counts.tp + counts.tn
    return say("checks.P03.fired", n=n, x=share(right, counts.n), y=share(right, counts.n + n))


def _indeterminate(confusion: Any, n: int) -> Message | None:
    right, decided = confusion.tp + confusion.tn, confusion.tp + confusion.fp + confusion.fn + confusion.tn
    if not n or not decided:
        return None
    return say("checks.P03.fired_indeterminate", n=n, x=share(right, decided), y=share(right, decided + n))


# ---------------------------------------------------------------- P04


def classes_in_separate_sets(evidence: Evidence) -> Iterator[Remark]:
    """P04: a set that holds one class only, or false positives where no negative is declared."""
    found = _tables(evidence)
    unbounded = _without_negatives(evidence)
    for table in found:
        counts = table.counts
        if counts.n:
            message = _one_class(counts.positives, counts.negatives)
            if message is None and counts.fp and table.name in unbounded:
                message = say("checks.P04.fired_unbounded", n=counts.fp)
            yield Remark(table.place, message)
    counted = {table.name for table in found}
    for mix in _prevalences(evidence):
        if mix.name not in counted and _has_scores(evidence, mix.name):
            yield Remark(mix.place, _one_class(mix.positives, mix.n - mix.positives))


def _one_class(positives: int, negatives: int) -> Message | None:
    if positives and negatives:
        return None
    return say("checks.P04.fired" if positives else "checks.P04.fired_negatives")


def _has_scores(evidence: Evidence, name: str) -> bool:
    return any(d.name == name and d.scores for d in evidence.study.datasets)


def _without_negatives(evidence: Evidence) -> set[str]:
    """Sets whose number of negatives is declared to be none."""
    found = {r.set for r in evidence.study.reported if r.negatives == 0}
    for claim in evidence.plan.performance_claims or ():
        if claim.measure.casefold() == "negatives" and claim.value.strip() == "0":
            found.add(claim.set or claim.dataset or "")
    return found


# ---------------------------------------------------------------- P05


def hidden_class(evidence: Evidence) -> Iterator[Remark]:
    """P05: one class does much worse than the other, while the accuracy looks well."""
    for table in _tables(evidence):
        of = {name: _estimate(evidence, table, name) for name in MEASURES}
        if any(isnan(of[name].value) for name in ("accuracy", "sensitivity", "specificity")):
            continue
        yield Remark(table.place, _hidden(evidence, of, table.counts))


def _hidden(evidence: Evidence, of: Mapping[str, Estimate], c: ConfusionCounts) -> Message | None:
    accuracy = of["accuracy"].value
    sensitivity, specificity = of["sensitivity"], of["specificity"]
    values = {"a": accuracy, "sensitivity": sensitivity.value, "specificity": specificity.value}
    fn, fp = evidence.plan.utility.cost_fn, evidence.plan.utility.cost_fp
    if fn is not None and fp is not None and fn > fp and sensitivity.high < specificity.low:
        return say("checks.P05.fired_missed", **values)
    if fn is not None and fp is not None and fp > fn and specificity.high < sensitivity.low:
        return say("checks.P05.fired_alarms", **values)
    gap = evidence.limit("P05_gap")
    if _differ(sensitivity, specificity, gap):
        return say("checks.P05.fired", **values)
    low, high = evidence.limit("P05_mcc"), evidence.limit("P05_accuracy")
    if accuracy >= high and of["mcc"].value < low:
        return say("checks.P05.fired_mcc", a=accuracy, mcc=of["mcc"].value)
    if _differ(of["ppv"], of["npv"], gap):
        predictive = {"ppv": of["ppv"].value, "npv": of["npv"].value}
        return say("checks.P05.fired_predictive", a=accuracy, share=share(c.positives, c.n), **predictive)
    return None


def _differ(one: Estimate, other: Estimate, gap: float) -> bool:
    """Further apart than the limit, and more than chance would have it: the intervals do not meet."""
    return abs(one.value - other.value) > gap and (one.high < other.low or other.high < one.low)


# ---------------------------------------------------------------- P06


def not_reproducible(evidence: Evidence) -> Iterator[Remark]:
    """P06: declared figures that the data do not give, totals that do not add up, figures in conflict."""
    by_place: dict[Place, list[Message]] = {}
    for one in claim_checks(evidence.plan, evidence.results):
        items = by_place.setdefault(one.place, [])
        if not one.agrees:
            items.append(one.item)
    for confusion in evidence.study.confusion:
        if confusion.cases is not None and confusion.readers in (None, 1):
            by_place.setdefault(place_of_counts(confusion), []).extend(_total_differs(confusion))
    for place, items in by_place.items():
        yield Remark(place, say("checks.P06.fired", items=items, n=len(items)) if items else None)
    for r in evidence.results:
        if r.id == "reported.consistent_matrices" and isfinite(r.estimate.value):
            message = say("checks.P06.fired_conflict") if r.estimate.value == 0 else None
            yield Remark(r.place, message)


def _total_differs(confusion: Any) -> list[Message]:
    """The number of cases of a set, against what its counts add up to."""
    undecided = (confusion.indeterminate_positives or 0) + (confusion.indeterminate_negatives or 0)
    n = confusion.tp + confusion.fp + confusion.fn + confusion.tn + undecided
    if n == confusion.cases:
        return []
    measure, value = say("claims.total.total"), say("claims.count", value=n)
    printed, apart = say("claims.count", value=confusion.cases), abs(n - confusion.cases)
    return [say("claims.item_total", measure=measure, printed=printed, value=value, apart=apart)]


# ---------------------------------------------------------------- P07, P08


def degenerate(evidence: Evidence) -> Iterator[Remark]:
    """P07: a class without cases, or all decisions alike: measures without a value."""
    for table in _tables(evidence):
        c = table.counts
        margins = (
            ("positive", c.positives),
            ("negative", c.negatives),
            ("called_positive", c.called_positive),
            ("called_negative", c.called_negative),
        )
        empty = [say(f"checks.P07.reason.{name}") for name, n in margins if not n]
        lost = [heading(name) for name in MEASURES if isnan(_estimate(evidence, table, name).value)]
        yield Remark(table.place, say("checks.P07.fired", reasons=empty, measures=lost) if empty else None)


def imbalance(evidence: Evidence) -> Iterator[Remark]:
    """P08: an accuracy that the answer of the more common class would nearly reach."""
    for table in _tables(evidence):
        c, accuracy = table.counts, _estimate(evidence, table, "accuracy")
        if not c.n:
            continue
        common_share = share(max(c.positives, c.negatives), c.n)
        margin = evidence.plan.limits.get("P08_margin", accuracy.high - accuracy.low)
        common = say(f"checks.P08.{'positive' if c.positives >= c.negatives else 'negative'}")
        message = say("checks.P08.fired", accuracy=accuracy.value, share=common_share, common=common)
        yield Remark(table.place, message if accuracy.value <= common_share + margin else None)


CHECKS = (
    Check("P01", DIMENSION, "B", one_sided, withholds=COUNTED_DECISIONS),
    Check("P02", DIMENSION, "W", other_prevalence),
    Check("P03", DIMENSION, "B", left_out, of_rows=True),
    Check("P04", DIMENSION, "B", classes_in_separate_sets),
    Check("P05", DIMENSION, "W", hidden_class),
    Check("P06", DIMENSION, "W", not_reproducible),
    Check("P07", DIMENSION, "B", degenerate, withholds=UNDEFINED),
    Check("P08", DIMENSION, "W", imbalance),
)
