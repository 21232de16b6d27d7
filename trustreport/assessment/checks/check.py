"""The form of a check: what it may look at, what it says, and what it keeps from being judged."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from trustreport.assessment.checks.withholding import EVERYTHING, Withholding
from trustreport.assessment.finding import CheckOutcome, Severity
from trustreport.study.limits import LIMITS, Limit
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a check may look at: the study, what was declared, and the results."""

    study: Study
    plan: Plan
    results: tuple[Result, ...]

    def limit(self, name: str) -> float:
        """A limit of a check: the manifest's, else the customary one."""
        return self.plan.limit(name)

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
    where it blocks.
    """

    id: str
    dimension: str
    severity: Severity
    look: Callable[[Evidence], Iterable[Remark]]
    withholds: Withholding = EVERYTHING

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


def data_of(result: Result) -> Place:
    """The data that a result is of, for a check: its set, task, data set or data sets."""
    at = result.place
    return Place(set=at.set, task=at.task, panel=at.panel, dataset=at.dataset, datasets=at.datasets)
