"""The form of a check: what it may look at, what it says, and what it keeps from being judged."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import isnan
from typing import Literal

from trustreport.assessment.finding import CheckOutcome, Severity
from trustreport.assessment.performance.cases import place_of_set
from trustreport.assessment.performance.readers import place_of_task
from trustreport.measures.mrmc import notes
from trustreport.study.limits import LIMITS, Limit
from trustreport.study.plan import DatasetFacts, Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Dataset, Readings, Scores, Study
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result

Numbers = Literal[
    "all", "decisions", "labels", "sample", "undefined", "these cases", "group", "changes", "none"
]


@dataclass(frozen=True, slots=True)
class Withholding:
    """Which numbers a block concerns; `says` is how docs/checks.md has it, `numbers` how results.json does.

    A block about precision withholds `only_inconclusive` verdicts: an interval that lies on one side of the
    bound decides, however wide it is, in favour of a device as against it.
    """

    says: str
    numbers: Numbers
    concerns: Callable[[Result, CheckOutcome], bool]
    only_inconclusive: bool = False


def _of_quantities(result: Result, outcome: CheckOutcome) -> bool:
    """Whether it is of a quantity that the outcome names, or a difference of one; any where it names none."""
    row = result.quantity
    return not outcome.quantities or row.id in outcome.quantities or row.base in outcome.quantities


def _of_these_cases_alone(result: Result, outcome: CheckOutcome) -> bool:
    return _of_quantities(result, outcome) and result.place.data <= outcome.place.data


def _of_the_group(result: Result, outcome: CheckOutcome) -> bool:
    return _of_quantities(result, outcome) and result.place.subgroup == outcome.place.subgroup


EVERYTHING = Withholding("all numbers of these data", "all", _of_quantities)
COUNTED_DECISIONS = Withholding(
    "what counts decisions of the device", "decisions", lambda result, _: result.counts_decisions
)
OF_THE_SAMPLE = Withholding(
    "the measures named at the prevalence of the sample, unless the criterion names `population: sample`",
    "sample",
    # What changes with the prevalence, and is not of a prevalence that was declared.
    lambda result, outcome: _of_quantities(result, outcome) and "prevalence" not in result.parameters,
)
UNDEFINED = Withholding("what has no value", "undefined", lambda result, _: isnan(result.estimate.value))
# Both are about precision.
TOO_FEW = Withholding(
    "the measures named, of these cases alone, where inconclusive",
    "these cases",
    _of_these_cases_alone,
    only_inconclusive=True,
)
SMALL_GROUP = Withholding(
    "the measures named, of this group, where inconclusive", "group", _of_the_group, only_inconclusive=True
)
GROUP = Withholding("the measures named, of this group", "group", _of_the_group)
BY_ORDER = Withholding(
    "what is of both arms and is not adjusted for reading order",
    "changes",
    lambda result, _: result.place.arms is not None and notes.ADJUSTED not in result.estimate.note,
)
# The verdict on a criterion looks at the lock itself; the release of a report concerns no number in it.
CRITERIA = Withholding("the criteria named", "none", lambda *_: False)
RELEASE = Withholding("no verdict: a public report is refused", "none", lambda *_: False)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a check may look at: the study, what was declared, and the results."""

    study: Study
    plan: Plan
    results: tuple[Result, ...]

    def limit(self, name: str) -> float:
        """A limit of a check: the manifest's, else the customary one."""
        return self.plan.limit(name)

    def facts(self, name: str) -> DatasetFacts | None:
        """What is declared of a data set, or published set, of this name."""
        return next((facts for facts in self.plan.datasets if facts.dataset == name), None)

    def sets_of_use(self) -> list[Dataset]:
        """The data sets that the device was not made from."""
        return [d for d in self.study.datasets if d.role not in DEVELOPMENT_ROLES]

    def tasks(self) -> Iterator[tuple[Readings, Place]]:
        """The readings of each task, and their place."""
        for readings in self.study.readings:
            yield readings, place_of_task(readings, self.study)

    def leading(self, id: str) -> Iterator[Result]:
        """The primary entries of a result id."""
        return (r for r in self.results if r.id == id and r.primary)


@dataclass(frozen=True, slots=True)
class Remark:
    """What a check has to say about one place; without a message it looked and found nothing.

    `quantities` are those that it concerns, where it does not concern every number of the place, `severity`
    is another than the check's where what was found weighs otherwise.
    """

    place: Place = NOWHERE
    message: Message | None = None
    quantities: tuple[str, ...] = ()
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One pitfall of the register.

    `look` yields a `Remark` for each place (set, task, data set) that it could look at, and nothing where
    the study holds none of what it needs: then the register says that it could not run. Its title and its
    reason for not running stand in the catalogue under ``checks.<id>``. Its limits are those of
    `trustreport.study.limits` whose names begin with its id. `withholds` says which numbers cannot be judged
    where it blocks. `of_rows` says that it looks at rows of cases: a report pooled from files of sites, where
    the rows stay, takes what the check found there.
    """

    id: str
    dimension: str
    severity: Severity
    look: Callable[[Evidence], Iterable[Remark]]
    withholds: Withholding = EVERYTHING
    of_rows: bool = False

    @property
    def limits(self) -> dict[str, Limit]:
        """Its limits by their names in the manifest."""
        return {name: limit for name, limit in LIMITS.items() if name.startswith(f"{self.id}_")}

    def run(self, evidence: Evidence) -> Iterator[CheckOutcome]:
        """One outcome per place, or a single one that says the check could not run."""
        ran = False
        for remark in self.look(evidence):
            ran = True
            if remark.message is None:
                title = Message(f"checks.{self.id}.clear")
                yield CheckOutcome(self.id, self.dimension, self.severity, "clear", title, remark.place)
            else:
                about = (remark.message, remark.place, remark.quantities)
                severity = remark.severity or self.severity
                yield CheckOutcome(self.id, self.dimension, severity, "fired", *about)
        if not ran:
            lacking = Message(f"checks.{self.id}.lacking")
            yield CheckOutcome(self.id, self.dimension, self.severity, "cannot run", lacking)


def outputs(datasets: Iterable[Dataset]) -> Iterator[tuple[Place, Dataset, str, Scores]]:
    """What every candidate put out on each of some data sets, with its place and its name."""
    for dataset in datasets:
        for name, scores in dataset.scores.items():
            yield place_of_set(dataset, name if len(dataset.scores) > 1 else None), dataset, name, scores


def data_of(result: Result) -> Place:
    """The data that a result is of, for a check: its set, task, data set or data sets."""
    at = result.place
    return Place(set=at.set, task=at.task, panel=at.panel, dataset=at.dataset, datasets=at.datasets)
