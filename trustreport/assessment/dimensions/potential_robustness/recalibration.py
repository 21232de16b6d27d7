"""External calibration as it is beside that after an update at the place, tested on cases apart from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.potential_robustness.results import ScoredSet
from trustreport.assessment.finding import Part
from trustreport.assessment.narrative.texts import Item, Texts
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.features import ID
from trustreport.assessment.performance.measures import lead, why_no_risk
from trustreport.assessment.performance.sites import ROLES
from trustreport.measures.calibration.recalibrated import FOLDS, MEASURES, UPDATES, Update, recalibrated
from trustreport.measures.estimate import Estimate
from trustreport.measures.seeds import generator
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

ELEMENT = "recalibration"
SHOWN = ("oe_ratio", "calibration_slope", "brier")
# What a class of update is to put right, by the measure that shows it.
MENDS: tuple[tuple[str, Update], ...] = (
    ("oe_ratio", "intercept"),
    ("calibration_slope", "intercept and slope"),
)

text = Texts(f"{ID}.recalibrated")


@dataclass(frozen=True, eq=False)
class Recalibrated:
    """A set from elsewhere: its calibration as it is, and after each update."""

    case: ScoredCases
    raw: dict[str, Estimate]
    updated: dict[Update, dict[str, Result]]

    @property
    def results(self) -> list[Result]:
        """Every entry; those of the scores as they are belong to advice value."""
        return [r for own in self.updated.values() for r in own.values()]


def recalibrated_sets(scored: Sequence[ScoredSet], plan: Plan) -> list[Recalibrated]:
    """Every set from elsewhere whose scores are probabilities."""
    cases = [one.case for one in scored if one.case.dataset.role in ROLES]
    return [_recalibrated(case, plan) for case in cases if not why_no_risk(case) and case.scored.any()]


def _recalibrated(case: ScoredCases, plan: Plan) -> Recalibrated:
    truth, score, cluster = case.with_scores
    level, updated = plan.report.confidence_level, {}
    for update in UPDATES:
        rng = generator(plan.similarity.seed, ID, ELEMENT, update, str(case.place.scope))
        found = recalibrated(truth, score, update, rng=rng, cluster=cluster, level=level)
        chosen = {"update": update, "folds": FOLDS}
        updated[update] = {
            name: Result(
                f"{ID}.recalibrated_{name}", case.place, e, parameters=chosen, primary=True, cases=case.key
            )
            for name, e in found.items()
        }
    return Recalibrated(case, {name: lead(case, name, level) for name in MEASURES}, updated)


def recalibration_part(found: Sequence[Recalibrated]) -> Part:
    """In sentences where an update changes the conclusion; in the table every set."""
    return text.part(_items(found), element=ELEMENT)


def _items(found: Sequence[Recalibrated]) -> Iterator[Item]:
    yield from _sentences(found)
    rows: list[tuple[Any, ...]] = []
    for one in found:
        rows.append((one.case.name, text("raw"), *(one.raw[name] for name in SHOWN)))
        for update, own in one.updated.items():
            rows.append((one.case.name, _label(one, update), *(own[name].estimate for name in SHOWN)))
    yield text.table(
        f"{ID}_recalibrated",
        text("table", folds=FOLDS),
        "data_set .scores .oe_ratio:number .calibration_slope:number brier",
        rows,
    )


def _label(one: Recalibrated, update: Update) -> Message:
    key = update.replace(" ", "_")
    e = one.updated[update]["brier"].estimate
    if isnan(e.value):
        return say(f"{ID}.recalibrated.undefined", update=say(f"{ID}.recalibrated.{key}"), reason=e.note)
    return text(key)


def _sentences(found: Sequence[Recalibrated]) -> Iterator[Message]:
    for one in found:
        mended = [pair for pair in MENDS if _mends(one, *pair)]
        if len(mended) == len(MENDS):
            # An update of the slope changes the intercept too, so that one update puts both right.
            ratio, slope = (one.raw[name] for name, _ in MENDS)
            after = one.updated["intercept and slope"]
            yield text(
                "mended_both",
                after["calibration_slope"],
                name=one.case.name,
                ratio=ratio,
                slope=slope,
                new_ratio=after["oe_ratio"].estimate.value,
            )
        elif mended:
            ((name, update),) = mended
            raw, now = one.raw[name], one.updated[update][name].estimate
            yield text(f"mended_{name}", now, name=one.case.name, raw=raw)


def _mends(one: Recalibrated, name: str, update: Update) -> bool:
    """Whether the interval excludes 1 as the scores are, and includes it after the update."""
    raw, now = one.raw[name], one.updated[update][name].estimate
    return (
        not (isnan(raw.low) or isnan(now.low)) and not raw.low <= 1 <= raw.high and now.low <= 1 <= now.high
    )
