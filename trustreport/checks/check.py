"""The form of a check: what it may look at, and what it says."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trustreport.finding import CheckOutcome, Severity
from trustreport.messages import Message
from trustreport.plan import Plan
from trustreport.results import Result
from trustreport.study import Study


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a check may look at: the study, what was declared, and the results."""

    study: Study
    plan: Plan
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """What a check has to say about one scope; without a message it looked and found nothing.

    `measures` are the result ids that it concerns, where it does not concern every number of the scope,
    `severity` is another than the check's where what was found weighs otherwise.
    """

    scope: Mapping[str, Any]
    message: Message | None = None
    measures: tuple[str, ...] = ()
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One pitfall of the register.

    `look` yields a `Remark` for each scope (set, task, data set) that it could look at, and nothing where
    the study holds none of what it needs: then the register says that it could not run. Its title and its
    reason for not running stand in the catalogue under ``checks.<id>``.
    """

    id: str
    dimension: str
    severity: Severity
    look: Callable[[Evidence], Iterable[Remark]]

    def run(self, evidence: Evidence) -> Iterator[CheckOutcome]:
        """One outcome per scope, or a single one that says the check could not run."""
        ran = False
        for remark in self.look(evidence):
            ran = True
            if remark.message is None:
                title = Message(f"checks.{self.id}.clear")
                yield CheckOutcome(self.id, self.dimension, self.severity, "clear", title, remark.scope)
            else:
                about = (remark.message, remark.scope, remark.measures)
                severity = remark.severity or self.severity
                yield CheckOutcome(self.id, self.dimension, severity, "fired", *about)
        if not ran:
            lacking = Message(f"checks.{self.id}.lacking")
            yield CheckOutcome(self.id, self.dimension, self.severity, "cannot run", lacking)


def place(result: Result) -> dict[str, Any]:
    """Where a result belongs, for a check: its set, task or data set, or none of them."""
    return {key: result.scope[key] for key in ("set", "task", "dataset") if key in result.scope}
