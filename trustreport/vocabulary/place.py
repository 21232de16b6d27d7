"""Where a number belongs: which data, which part of them, which arm, reader, candidate or threshold."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

# Names of data: a number of one of these rests on no other.
DATA = ("set", "task", "dataset")
# Names of parts: a number that names one is of that part alone.
PARTS = ("site", "subgroup", "reader", "candidate", "class_", "version", "complexity", "advice_type")
# Fields that results.json writes by another word.
WRITTEN = {"class_": "class", "panel": "task"}


@dataclass(frozen=True, slots=True)
class Place:
    """What a number is of; each field only where it applies.

    Parameters
    ----------
    population : what is described where it is not these cases ("typical site", "new site")
    dataset, period : a data set; one that is a period has both names
    datasets : the data sets that a number over several rests on
    set : a published table, or a pool of them
    sets : the published tables that a pooled number rests on
    task : the task of the readers; empty, not None, where a study has a single task
    panel : the task of the raters, written as ``task``; empty where there is a single one
    arms, candidates : the compared one first
    reference : the data set that it is compared with
    """

    population: str | None = None
    dataset: str | None = None
    period: str | None = None
    datasets: tuple[str, ...] = ()
    set: str | None = None
    sets: tuple[str, ...] = ()
    task: str | None = None
    panel: str | None = None
    candidate: str | None = None
    candidates: tuple[str, str] | None = None
    version: str | None = None
    site: str | None = None
    subgroup: str | None = None
    class_: str | None = None
    reader: str | None = None
    raters: tuple[str, ...] | None = None
    arm: str | None = None
    arms: tuple[str, ...] | None = None
    advice_type: str | None = None
    protocol: str | None = None
    complexity: str | None = None
    threshold: float | None = None
    reference: str | None = None

    def narrowed(self, **more: Any) -> "Place":
        """The same place with some fields set."""
        return replace(self, **more)

    @property
    def data_name(self) -> str:
        """What the reader of a report calls a data set or published set, or a candidate on it."""
        name = str(self.set if self.dataset is None else self.dataset)
        return f"{name}, {self.candidate}" if self.candidate else name

    @property
    def scope(self) -> dict[str, Any]:
        """The fields that apply, as ``scope`` of results.json has them."""
        found: dict[str, Any] = {}
        for name in NAMES:
            value = getattr(self, name)
            if value is not None and value not in ("", ()):
                found[WRITTEN.get(name, name)] = list(value) if isinstance(value, tuple) else value
        if self.period is not None and self.dataset == self.period:
            del found["dataset"]  # the name of a period is that of its data set
        return found

    @property
    def data(self) -> frozenset[tuple[str, str]]:
        """The data that a number rests on, by kind and name; empty where that is not known."""
        named = {("dataset", name) for name in (self.dataset, self.period, *self.datasets) if name}
        if self.reference is not None and named:
            named.add(("dataset", self.reference))
        named |= {("set", name) for name in self.sets}
        named |= {
            (kind, name) for kind in ("set", "task", "panel") if (name := getattr(self, kind)) is not None
        }
        return frozenset(named)

    def rests_on(self, other: "Place") -> bool:
        """Whether a number of this place rests on data of another: unknown data rest on everything."""
        return not self.data or not other.data or bool(self.data & other.data)


NAMES = tuple(field.name for field in fields(Place))
NOWHERE = Place()


def place_of(scope: Mapping[str, Any]) -> Place:
    """A place from the scope of results.json; keys that are no places (endpoint, parameters) are left out."""
    found = {"class_" if key == "class" else key: value for key, value in scope.items()}
    if "period" in found:
        found.setdefault("dataset", found["period"])
    known: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in found.items() if key in NAMES
    }
    return Place(**known)


def of_task(task: str, *, several: bool) -> Place:
    """Where the numbers of a task of readers belong; a single task needs no name."""
    return Place(task=task if several else "")
