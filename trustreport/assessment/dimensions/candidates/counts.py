"""Candidates known by published tables of one set: each with its measures, and their differences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from trustreport.assessment.dimensions.candidates.results import ID
from trustreport.assessment.finding import Column, Part
from trustreport.assessment.narrative.texts import Item, Texts, heading, lead_estimate
from trustreport.assessment.performance.decision_table import Decisions, counts_of_candidates, joint_decisions
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.paired.difference import paired_shares
from trustreport.measures.two_arm.difference import newcombe
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

OF_EACH = ("sensitivity", "specificity", "accuracy", "ppv", "npv")
COMPARED = ("sensitivity", "specificity", "accuracy")
TWO_SAMPLE, PAIRED = "two_sample", "paired"

text = Texts(ID)


@dataclass(frozen=True, eq=False)
class CandidateCounts:
    """The tables of the candidates of one set; `joint` are their decisions on the same cases, where known."""

    name: str
    tables: Mapping[str, ConfusionCounts]
    joint: Mapping[tuple[int, int], Decisions]

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        """The candidates two by two, the later compared with the earlier one."""
        yield from ((later, earlier) for earlier, later in combinations(self.tables, 2))


def candidates_of_counts(study: Study, plan: Plan) -> list[CandidateCounts]:
    """The published sets with tables of at least one candidate."""
    return [
        CandidateCounts(name, tables, joint_decisions(name, list(tables), plan))
        for name, tables in counts_of_candidates(study, plan).items()
    ]


def results_of_counts(one: CandidateCounts, plan: Plan) -> list[Result]:
    """Each candidate, and the differences: paired where a joint table is declared, else of two samples."""
    level = plan.report.confidence_level
    found = [
        Result(
            f"{ID}.{name}",
            Place(set=one.name, candidate=c),
            estimated(MEASURES[name], counts, level=level),
            primary=True,
        )
        for c, counts in one.tables.items()
        for name in OF_EACH
    ]
    names = list(one.tables)
    for compared, baseline in one.pairs:
        both = one.joint.get((names.index(baseline), names.index(compared)))
        place = Place(set=one.name, candidates=(compared, baseline))
        for name in COMPARED:
            if both is None:
                counts = (one.tables[compared], one.tables[baseline])
                ours, theirs = (MEASURES[name].counts_of((c.tp, c.fp, c.fn, c.tn)) for c in counts)
                e, analysis = newcombe(*ours, *theirs, level=level), TWO_SAMPLE
            else:
                e, analysis = _paired(both, name, level), PAIRED
            found.append(Result(f"{ID}.{name}_difference", place, e, primary=True, analysis=analysis))
    return found


def _paired(both: Decisions, name: str, level: float) -> Estimate:
    """The later candidate minus the earlier one, on the cases that the measure is of."""
    of = MEASURES[name].cases(both.truth)
    theirs, ours = (decision[of] == both.truth[of] for decision in both.decision)
    return paired_shares(ours, theirs, level=level)


def part_of_counts(one: CandidateCounts, results: list[Result], number: int) -> Part:
    """A table of the candidates, and one of their differences."""
    return text.part(_items(one, results, number), say("word.name", name=one.name), Place(set=one.name))


def _items(one: CandidateCounts, results: list[Result], number: int) -> Iterator[Item]:
    yield text.table(
        f"candidates_counts_{number}",
        text("table_counts", level=results[0].estimate.level, name=one.name),
        ("measure", *(Column(say("word.name", name=c), "number.3") for c in one.tables)),
        [
            (
                heading(name),
                *(lead_estimate(results, f"{ID}.{name}", set=one.name, candidate=c) for c in one.tables),
            )
            for name in OF_EACH
        ],
    )
    pairs = [r for r in results if r.place.candidates is not None]
    unpaired = any(r.analysis == TWO_SAMPLE for r in results)
    if pairs:
        caption = text("table_pairs_counts" if unpaired else "table_pairs")
        yield text.estimates(f"candidates_counts_pairs_{number}", caption, pairs, _pair, lambda r: False)


def _pair(r: Result) -> Message:
    compared, baseline = r.place.candidates or ("", "")
    return text(
        "pair", measure=heading(r.name.removesuffix("_difference")), compared=compared, baseline=baseline
    )
