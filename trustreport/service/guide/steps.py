"""What each step asks: controls of the manifest's form, by the names that the form gives them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from trustreport.service.engine import TABLE_WORDS

STEPS = ("files", "who", "arms", "criteria", "device")
# Asked once, and entered into every data set.
SHARED = ("source", "sites", "country", "sampling", "eligibility", "unit_of_analysis", "labels_provenance")
OF_SETS = ("dataset", "role", "start_date", "end_date")
PERIOD = ("/vigilance/baseline_dataset", "/vigilance/period_start", "/vigilance/period_end")
READING = ("design", "washout_days", "order_assignment", "blinded_to_reference", "blinded_to_other_arm")
OF_READING = tuple(f"/reading/{name}" for name in READING)
POINT = ("/operating_point/threshold", "/operating_point/threshold_origin")
TRUTH = ("/reference_standard/definition", "/reference_standard/applied_to")
DEVICE = (
    *("/device/trade_name", "/device/software_version", "/device/manufacturer", "/device/risk_class"),
    *("/intended_use/intended_purpose", "/intended_use/medical_condition", "/intended_use/intended_users"),
    "/intended_use/intended_patient_population/description",
)
SCORES = "dataset"  # the kind of a file that is a data set of its own
ANNOUNCED = ("readings", "cases")  # tables of a reader study that may be named before they are there
DEVELOPMENT = ("training", "tuning")


@dataclass(frozen=True, slots=True)
class FileLine:
    """A file and what it was recognised as; `row` is its entry in the form, empty where it has none."""

    file: str
    row: str
    kind: str


@dataclass(frozen=True, slots=True)
class StepForm:
    """The form of a draft, taken apart: controls by name, rows of groups, and what there is to describe."""

    controls: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Sequence[Mapping[str, Any]]]
    unused: Sequence[str] = field(default=())

    def text(self, name: str) -> str:
        """What a control shows; empty where there is none."""
        return str(self.controls[name]["text"]) if name in self.controls else ""

    @property
    def kind(self) -> str:
        """The kind of report."""
        return self.text("/report/kind")

    @property
    def sets(self) -> list[str]:
        """The rows of the data sets."""
        return [row["name"] for row in self.groups.get("datasets", ())]

    @property
    def tested(self) -> list[str]:
        """The names of data sets that a device is tested on."""
        known = [s for s in self.sets if self.text(f"{s}/role") not in DEVELOPMENT]
        return [self.text(f"{s}/dataset") for s in known]

    @property
    def files(self) -> list[FileLine]:
        """Every file with what it was recognised as."""
        tables = [row["name"] for row in self.groups.get("tables", ())]
        lines = [FileLine(self.text(f"{t}/file"), t, self.kind_of(t)) for t in tables]
        own = [s for s in self.sets if self.text(f"{s}/file")]
        lines += [FileLine(self.text(f"{s}/file"), s, SCORES) for s in own]
        return lines + [FileLine(file, "", "") for file in self.unused]

    def kind_of(self, table: str) -> str:
        """The kind of a table: declared, else that of its name."""
        return self.text(f"{table}/kind") or table.rpartition("/")[2]

    @property
    def has_readings(self) -> bool:
        """Whether people read the cases."""
        return any(line.kind == "readings" for line in self.files)

    @property
    def arms(self) -> tuple[str, str]:
        """The first arm with the device and the first without."""
        rows = [row["name"] for row in self.groups.get("arms", ())]
        aided = {self.text(f"{a}/arm"): self.text(f"{a}/aided") == "true" for a in rows}
        aided = aided or {"aided": True, "unaided": False}
        return tuple(next((a for a, yes in aided.items() if yes is wanted), "") for wanted in (True, False))  # type: ignore[return-value]

    def shared(self, name: str) -> str:
        """What all data sets say of a field; empty where they differ."""
        found = {self.text(f"{row}/{name}") for row in self.sets}
        return found.pop() if len(found) == 1 else ""

    def recognised(self, row: str) -> list[str]:
        """The headers of a table that have a meaning."""
        found = [c["text"] or c["default"] for c in self.columns(row) if "/columns/" in c["name"]]
        return [header for header in found if header]

    def columns(self, row: str) -> list[Mapping[str, Any]]:
        """The controls of a table's columns and values that matter at first."""
        parts = (f"{row}/columns/", f"{row}/values/")
        return [c for name, c in self.controls.items() if name.startswith(parts) and c["front"]]


def parts_of(found: Mapping[str, Any]) -> StepForm:
    """Take a form apart."""
    sections = found["form"]["sections"]
    controls = {c["name"]: c for section in sections for c in _controls(section)}
    groups = {section["name"][1:]: section["rows"] for section in sections}
    return StepForm(controls, groups, found["unused"])


def _controls(section: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for row in section["rows"]:
        yield from row["controls"]
        for part in row["parts"]:
            yield from _controls(part)


def kinds_chosen(sent: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The controls that another kind of a file changes: its row, or another row in place of it."""
    new = 0
    for name, kind in sent.items():
        key = name.removeprefix("@kind:")
        row, _, was = sent.get(f"@was:{key}", "").partition(" ")
        if key == name or kind == was or kind not in ("", SCORES, *TABLE_WORDS):
            continue
        if row.startswith("/tables/") and kind not in ("", SCORES):
            yield f"{row}/kind", kind
            continue
        if row:
            yield f"{row}/@removed", "yes"
        if kind == SCORES:
            yield from _own_set(new, PurePosixPath(key).stem, key)
        elif kind:
            yield f"/tables/+{new}/@name", kind
            yield f"/tables/+{new}/file", key
            yield f"/tables/+{new}/kind", kind
        new += 1


def announced(sent: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The tables, arms and data sets of files to come, named as a proposal from such files would."""
    for i, kind in enumerate(kind for kind in ANNOUNCED if f"@plan/{kind}" in sent):
        yield f"/tables/+{i}/@name", kind
        yield f"/tables/+{i}/file", f"{kind}.csv"
    if "@plan/readings" in sent:
        for i, (arm, aided) in enumerate((("unaided", "false"), ("aided", "true"))):
            yield f"/arms/+{i}/arm", arm
            yield f"/arms/+{i}/aided", aided
    sets = (name.strip() for name in sent.get("@plan/sets", "").split(","))
    for i, name in enumerate(dict.fromkeys(filter(None, sets))):
        yield from _own_set(i, name, f"{name}.csv")


def _own_set(row: int, name: str, file: str) -> Iterator[tuple[str, str]]:
    """A new data set with a file of its own."""
    yield f"/datasets/+{row}/dataset", name
    yield f"/datasets/+{row}/role", "external"
    yield f"/datasets/+{row}/file", file


def shared_texts(sent: Mapping[str, str], sets: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is the same for all data sets, in the control of each."""
    for name in SHARED:
        if text := sent.get(f"@all/{name}", "").strip():
            yield from ((f"{row}/{name}", text) for row in sets)
