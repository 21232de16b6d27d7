"""A manifest proposed from tables: which column is what, what its values mean, which arms there are.

Nothing is computed. What the words of a table do not settle is a `Doubt`: somebody is asked, or the likeliest
answer is taken and marked.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trustreport.ingest import contracts, values
from trustreport.ingest.columns import yaml_word
from trustreport.ingest.problems import Problems
from trustreport.ingest.tables import Layout, Raw, find_header, read_table
from trustreport.plan import Kind
from trustreport.resources import folder

if TYPE_CHECKING:
    from trustreport.ingest.tables import Column

GLANCE = 20_000  # rows that are looked at
FEW = 12  # values of a column of groups
JUDGED = ("score", "decision")
UNIT_COLUMNS = 2  # columns that only a first row spoils, for it to be taken as one of units
Choose = Callable[["Doubt"], str]


@cache
def vocabulary() -> dict[str, dict[str, Any]]:
    """The words of headers, arms, roles and groups that are known."""
    with (folder("templates") / "columns.toml").open("rb") as file:
        return tomllib.load(file)


def spellings(word: str) -> list[str]:
    """A word of ours and others for it, each also with _id."""
    names = [word, *vocabulary()["columns"][word]]
    return [spelled for name in names for spelled in (name, f"{name}_id")]


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that the tables do not settle: a question, what may be answered, and the likeliest."""

    question: str
    options: tuple[str, ...]
    likeliest: str


@dataclass
class Entry:
    """One file as the manifest will name it; `about` are the doubts of its lines, by key."""

    path: Path
    kind: str
    form: dict[str, Any] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)


@dataclass
class Proposal:
    """A manifest in the making; `unread` says of files that are in none why."""

    kind: Kind
    entries: list[Entry] = field(default_factory=list)
    arms: dict[str, bool] = field(default_factory=dict)
    arms_doubt: str = ""
    design: str = ""
    datasets: list[dict[str, Any]] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    threshold: str = ""
    unread: dict[str, str] = field(default_factory=dict)


def propose(files: Sequence[Path], kind: Kind, choose: Choose | None = None) -> Proposal:
    """Look at tables and say what they probably are.

    Parameters
    ----------
    choose : answers a doubt; without it the likeliest answer is taken and marked as uncertain
    """
    made = Proposal(kind)
    for path in files:
        problems = Problems()
        raw = _raw(path, problems)
        if raw is None:
            made.unread[path.name] = str(problems[0]) if problems else "it cannot be read"
            continue
        _Table(path, raw, made, choose).take()
    return made


def _raw(path: Path, problems: Problems) -> Raw | None:
    names = frozenset(name for word in vocabulary()["columns"] for name in spellings(word))
    row = find_header(path, names)
    return read_table(path, path.name, Layout(header_row=row), problems)


def squeezed(header: str) -> str:
    """A header in plain small letters, its words joined by one underscore."""
    plain = unicodedata.normalize("NFKD", header).encode("ascii", "ignore").decode()
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain)
    return re.sub(r"[^a-z0-9]+", "_", plain.casefold()).strip("_")


@dataclass
class _Table:
    """One file while it is being recognised."""

    path: Path
    raw: Raw
    made: Proposal
    choose: Choose | None

    def __post_init__(self) -> None:
        self.headers = [h for h in self.raw.header if h]
        self.seen = {h: _Cells(c) for h, c in zip(self.raw.header, self.raw.columns) if h}
        below = {h: _Cells(c.slice(1)) for h, c in zip(self.raw.header, self.raw.columns) if h}
        # A row of units or kinds under the header: without it columns are of one kind.
        self.unit_row = sum(below[h].tidy and not self.seen[h].tidy for h in self.headers) >= UNIT_COLUMNS
        if self.unit_row:
            self.seen = below
        self.entry = Entry(self.path, "")
        self.columns: dict[str, Any] = {}

    def take(self) -> None:
        """Put the file into the proposal, or say why not."""
        self._form()
        self._columns()
        kind = self.entry.kind = self._kind()
        if not kind:
            known = ", ".join(self.headers[:8])
            self.made.unread[self.path.name] = f"its columns ({known}) are of no table that is known"
            return
        self._values()
        renamed = {w: h for w, h in self.columns.items() if w != h}
        if renamed:
            self.entry.form["columns"] = renamed
        if kind == "dataset":
            self._dataset()
        else:
            self.made.entries.append(self.entry)
        if kind == "readings":
            self._arms()
        self.made.groups += [
            h
            for h in self.headers
            if squeezed(h) in vocabulary()["groups"]["names"] and h not in self.made.groups
        ]

    def _form(self) -> None:
        """How the file was written: header, words for missing values, decimals."""
        form = self.entry.form
        if self.raw.layout.header_row:
            form["header_row"] = self.raw.layout.header_row
        if self.unit_row:
            form["skip_rows"] = [int(self.raw.row(np.zeros(1, int))[0])]
        absent = sorted({w for cells in self.seen.values() for w in cells.absent})
        if absent:
            form["missing"] = absent
        if any(cells.comma for cells in self.seen.values()):
            form["decimal"] = ","
        dates = {cells.date_form for cells in self.seen.values() if cells.date_form}
        if dates:
            form["date_format"] = min(dates)

    def _columns(self) -> None:
        """The column of each word: by its header, where its cells do not speak against it."""
        taken: set[str] = set()
        for word in vocabulary()["columns"]:
            for name in spellings(word):
                found = next((h for h in self.headers if squeezed(h) == name and h not in taken), None)
                if found is not None and self._may_be(word, found):
                    self.columns[word] = found
                    taken.add(found)
                    break
        self._per_arm(taken)
        rest = [h for h in self.headers if h not in taken and self.seen[h].is_share]
        classes = (
            {c.casefold() for c in self.seen[self.columns["truth"]].distinct}
            if "truth" in self.columns
            else set()
        )
        if len(classes) > 2 and classes <= {h.rpartition("_")[2].casefold() for h in rest}:
            self.columns["class_scores"] = rest
        elif "truth" in self.columns and self.columns.keys().isdisjoint(JUDGED) and rest:
            self.columns["score"] = rest[0] if len(rest) == 1 else {h: h for h in rest}
        calls = [h for h in self.headers if h not in taken and self.seen[h].is_call]
        if "truth" in self.columns and not rest and len(calls) > 1 and self.columns.keys().isdisjoint(JUDGED):
            self.columns["decision"] = {h: h for h in calls}
        patient = self.columns.get("patient", "")
        once = patient and self.seen[patient].n_distinct == self.raw.n_rows
        if once and "case" not in self.columns and "truth" in self.columns:
            self.columns["case"] = self.columns.pop("patient")

    def _may_be(self, word: str, header: str) -> bool:
        cells = self.seen[header]
        if word in ("truth", "decision", "advice"):
            return cells.n_distinct <= 2 or (
                word == "truth" and cells.n_distinct <= FEW and not cells.numeric
            )
        if word in ("score", "advice_score", "seconds", "confidence"):
            return cells.numeric and (word != "score" or cells.n_distinct > 2)
        if word in ("date", "read_at"):
            return cells.is_date
        if word in ("arm", "dataset", "candidate", "version", "site"):
            return cells.n_distinct <= 50
        return True

    def _per_arm(self, taken: set[str]) -> None:
        """Columns such as decision_aided and decision_unaided."""
        for word in ("decision", "score", "confidence", "seconds"):
            if word in self.columns:
                continue
            found: dict[str, str] = {}
            for name in (word, *vocabulary()["columns"][word]):
                for header in self.headers:
                    rest = squeezed(header).removeprefix(name).strip("_")
                    arm = next((a for a in ("aided", "unaided") if rest in vocabulary()["arms"][a]), "")
                    if squeezed(header).startswith(name) and arm and header not in taken:
                        found.setdefault(arm, header)
            if len(found) == 2:
                self.columns[word] = {arm: found[arm] for arm in ("unaided", "aided")}
                taken |= set(found.values())

    def _kind(self) -> str:
        have = set(self.columns)
        wide = [h for h in self.headers if re.fullmatch(r"(rater|reader|expert|annotator)_?\d+", squeezed(h))]
        if {"tp", "fp", "fn", "tn"} <= have or {"arm", "errors", "correct"} <= have:
            return "counts"
        if {"set", "metric", "value"} <= have:
            return "reported"
        if len(wide) > 1 and "reader" not in have:
            return self._wide_raters(wide)
        if {"rater", "case"} <= have and have & {"label", "decision", "truth"}:
            label = next(self.columns[word] for word in ("label", "decision", "truth") if word in have)
            kept = {w: h for w, h in self.columns.items() if w in ("case", "rater", "confidence")}
            self.columns = {**kept, "label": label}
            return "raters"
        self.columns.pop("label", None)
        self.columns.pop("rater", None)
        if {"reader", "case"} <= have and have & {"decision", "score"}:
            for word in ("dataset", "candidate", "version", "site", "date", "set"):
                self.columns.pop(word, None)
            return "readings"
        self.columns.pop("arm", None)
        self.columns.pop("set", None)
        if "truth" in have and have & {*JUDGED, "class_scores"}:
            return "dataset"
        if "case" in have and have & {"score", "decision"}:
            return "scores"
        if {"case", "truth"} <= have:
            return "cases"
        return "readers" if "reader" in have and "case" not in have else ""

    def _wide_raters(self, wide: list[str]) -> str:
        case = self.columns.get("case") or next(h for h in self.headers if h not in wide)
        self.columns = {"case": case}
        stem = re.sub(r"\d+$", "", wide[0])
        whole = all(h.startswith(stem) for h in wide)
        self.entry.form["unpivot"] = {"into": "rater", "columns": {"label": f"{stem}*" if whole else wide}}
        return "raters"

    def _values(self) -> None:
        """What the cells of columns of two values mean."""
        for word in ("truth", "decision", "advice"):
            named = self.columns.get(word)
            for header in named.values() if isinstance(named, dict) else [named] if named else ():
                cells = self.seen[header]
                if cells.coded or cells.n_distinct > 2 or not cells.n_distinct:
                    continue
                codes = self._codes(word, header, cells.distinct)
                self.entry.form.setdefault("values", {}).setdefault(word, {}).update(codes)

    def _codes(self, word: str, header: str, distinct: Sequence[str]) -> dict[str, str]:
        known = {name: contracts.CODES.get(name.casefold(), "") for name in distinct}
        # A letter alone says too little of the other value.
        sure = any(code and len(name) > 1 for name, code in known.items())
        if len(distinct) == 2 and "" in known.values() and sure:
            other = "0" if "1" in known.values() else "1"
            known = {name: code or other for name, code in known.items()}
        if len(distinct) == 2 and set(known.values()) == {"0", "1"}:
            return known
        doubt = Doubt(
            f"{self.path.name}, {header}: which value is 1 (positive)?", tuple(distinct), distinct[-1]
        )
        positive = self._settle(doubt, "values")
        return {name: str(int(name == positive)) for name in distinct}

    def _settle(self, doubt: Doubt, key: str) -> str:
        if self.choose is not None:
            return self.choose(doubt)
        self.entry.about[key] = doubt.question
        return doubt.likeliest

    def _arms(self) -> None:
        header = self.columns.get("arm")
        if header is None:
            per_arm = any(isinstance(h, dict) for h in self.columns.values())
            if any(squeezed(h).startswith("initial_") for h in self.headers):
                self.made.arms, self.made.design = {"unaided": False, "aided": True}, "sequential"
            elif not per_arm and not self.made.arms:
                self.made.arms = {"aided": True}
            return
        names = list(self.seen[header].distinct)
        known = vocabulary()["arms"]
        flags: dict[str, bool | None] = dict.fromkeys(names)
        for flag, words in ((True, "aided"), (False, "unaided")):
            own = {*known[words], *known[f"{words}_cells"]}
            flags |= {name: flag for name in names if squeezed(name) in own}
        if set(flags.values()) != {True, False} and len(names) > 1:
            doubt = Doubt(
                f"{self.path.name}, {header}: which arm is with the device?", tuple(names), names[-1]
            )
            aided = self.choose(doubt) if self.choose else doubt.likeliest
            self.made.arms_doubt = "" if self.choose else doubt.question
            flags = {name: name == aided for name in names}
        if set(names) - {"aided", "unaided"}:
            self.made.arms = {name: bool(flag) for name, flag in flags.items()}

    def _dataset(self) -> None:
        form, column = self.entry.form, self.columns.get("dataset")
        if column is None:
            stem = self.path.stem
            role, about = self._role(stem)
            about |= self.entry.about
            self.made.datasets.append(
                {"dataset": stem, "role": role, "file": self.path, **form, "about": about}
            )
        else:
            self.entry.kind = "scores"
            self.made.entries.append(self.entry)
            for name in self.seen[column].distinct:
                role, about = self._role(name)
                self.made.datasets.append({"dataset": name, "role": role, "about": about})
        score = self.columns.get("score")
        if score and "decision" not in self.columns and not isinstance(score, dict):
            high = self.seen[score].largest
            self.made.threshold = "0.5" if high <= 1 else "50" if high <= 100 else ""

    def _role(self, name: str) -> tuple[str, dict[str, str]]:
        """The role that a data set's name tells, and what is in doubt of it."""
        for role, pattern in vocabulary()["roles"].items():
            if re.search(pattern, squeezed(name)):
                return role, {}
        options = ("external", "internal test", "training", "tuning", "local", "period")
        likeliest = "local" if self.made.kind == "procurement" else "external"
        doubt = Doubt(f"what kind of data set is {name}?", options, likeliest)
        return (self.choose(doubt), {}) if self.choose else (likeliest, {"role": doubt.question})


class _Cells:
    """What the cells of a column are."""

    def __init__(self, column: "Column") -> None:
        import pyarrow.compute as pc

        cells = pc.unique(values.text(column.slice(0, GLANCE))).drop_null().to_pylist()
        self.absent = {
            c for c in cells if c.casefold() in contracts.MISSING and c not in ("-", "none", "None")
        }
        self.distinct = [c for c in cells if c not in self.absent]
        self.n_distinct = len(self.distinct)
        plain = [_number(c) for c in self.distinct]
        commas = [_number(c.replace(",", ".", 1)) for c in self.distinct]
        self.numeric = bool(plain) and None not in plain
        self.comma = not self.numeric and bool(commas) and None not in commas
        self.numeric = self.numeric or self.comma
        numbers = [x for x in (commas if self.comma else plain) if x is not None] if self.numeric else []
        self.largest = max(numbers, default=np.nan)
        within = bool(numbers) and min(numbers) >= 0 and self.largest <= 1
        self.is_share = within and any(x != int(x) for x in numbers)
        self.coded = all(c.lower() in (*values.YES, *values.NO) for c in self.distinct)
        iso = bool(self.distinct) and all(values.TIME.fullmatch(c) for c in self.distinct)
        forms = {form for c in self.distinct if (form := _date_form(c))}
        other = bool(self.distinct) and len(forms) > 0 and all(_date_form(c) for c in self.distinct)
        self.date_form = max(forms, key=lambda f: f.startswith("mm")) if other else ""
        self.is_date = iso or other
        self.is_call = self.coded and self.n_distinct == 2
        self.tidy = self.numeric or self.is_date or self.n_distinct == 2


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _date_form(cell: str) -> str:
    found = re.search(r"date_format: (\S+) to", contracts.fix_date(cell))
    return found[1] if found else ""


# ---------------------------------------------------------------- the manifest


def text(proposal: Proposal, title: str) -> str:
    """The manifest of a proposal; a line that rests on a guess says so."""
    lines = [*_head(proposal, title), *_tables(proposal), *_datasets(proposal), *_hints(proposal)]
    guessed = any("# UNCERTAIN" in line for line in lines)
    first = "# Proposed from the tables." + (" Check what is marked UNCERTAIN." if guessed else "")
    return "\n".join([first, *lines]) + "\n"


def _head(proposal: Proposal, title: str) -> Iterator[str]:
    yield f"report: {{kind: {proposal.kind}, title: {yaml_word(title)}}}"
    yield 'device: {trade_name: ""}  # the name of what is assessed; software_version, manufacturer ...'
    if proposal.arms:
        arms = ", ".join(
            f"{{arm: {yaml_word(a)}, aided: {str(f).lower()}}}" for a, f in proposal.arms.items()
        )
        yield f"arms: [{arms}]{_mark(proposal.arms_doubt)}"
    if proposal.design:
        yield f"reading: {{design: {proposal.design}}}"
    if proposal.threshold:
        yield f"# operating_point: {{threshold: {proposal.threshold}}}  # without it no score is a decision"


def _tables(proposal: Proposal) -> Iterator[str]:
    if not proposal.entries:
        return
    yield "tables:"
    names: dict[str, int] = {}
    for entry in proposal.entries:
        names[entry.kind] = number = names.get(entry.kind, 0) + 1
        yield f"  {entry.kind if number == 1 else f'{entry.kind}_{number}'}:"
        yield f"    file: {yaml_word(entry.path.name)}"
        if number > 1:
            yield f"    kind: {entry.kind}"
        yield from _form(entry.form, entry.about, "    ")


def _datasets(proposal: Proposal) -> Iterator[str]:
    if not proposal.datasets:
        return
    yield "datasets:"
    for one in proposal.datasets:
        about = one["about"]
        yield f"  - dataset: {yaml_word(one['dataset'])}"
        yield f"    role: {one['role']}{_mark(about.get('role', ''))}"
        if "file" in one:
            yield f"    file: {yaml_word(one['file'].name)}"
            rest = {k: v for k, v in one.items() if k not in ("dataset", "role", "file", "about")}
            yield from _form(rest, about, "    ")


def _form(form: Mapping[str, Any], about: Mapping[str, str], indent: str) -> Iterator[str]:
    for key, value in form.items():
        yield f"{indent}{key}: {_flow(value)}{_mark(about.get(key, ''))}"


def _hints(proposal: Proposal) -> Iterator[str]:
    if proposal.groups:
        names = ", ".join(f"{{name: {yaml_word(name)}}}" for name in proposal.groups)
        yield f"# subgroups: [{names}]"
    for name, why in proposal.unread.items():
        yield f"# {name} is not used: {' '.join(why.split())}"


def _mark(question: str) -> str:
    return f"  # UNCERTAIN: {question}" if question else ""


def _flow(value: Any) -> str:
    """A value on one line of YAML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_word(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, str):
        return value if value in ("0", "1") else yaml_word(value)
    return f"[{', '.join(map(_flow, value))}]" if isinstance(value, Iterable) else str(value)
