"""What a proposal consists of: its doubts, its tables, its data sets."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trustreport.study.plan import Kind


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that the tables do not settle: a question, what may be answered, and the likeliest."""

    question: str
    options: tuple[str, ...]
    likeliest: str


Choose = Callable[[Doubt], str]


@dataclass
class Entry:
    """One table as the manifest will name it; `about` are the doubts of its lines, by key."""

    path: Path
    kind: str
    form: dict[str, Any] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)


@dataclass
class Proposal:
    """A manifest in the making.

    `thresholds` are examples, by candidate; `about` are the doubts of lines that belong to no table, by key;
    `features` are columns of numbers that nothing else uses, by data set; `unread` says of files that are in
    none why, and `notes` what else a reader of the manifest should know.
    """

    kind: Kind
    entries: list[Entry] = field(default_factory=list)
    arms: dict[str, bool] = field(default_factory=dict)
    design: str = ""
    label_scale: str = ""
    datasets: list[dict[str, Any]] = field(default_factory=list)
    baseline: str = ""
    time_to_event: dict[str, Any] = field(default_factory=dict)
    acceptance_radius: str = ""
    marks_need_a_dataset: bool = False
    groups: list[str] = field(default_factory=list)
    features: dict[str, list[str]] = field(default_factory=dict)
    thresholds: dict[str, str] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
