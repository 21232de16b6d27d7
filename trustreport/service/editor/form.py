"""The form of a manifest: its groups and fields are those of the plan's models.

A control is named by the JSON pointer of its field (``/datasets/0/role``), a new row by a plus sign
(``/datasets/+0/role``). What no control can show in full has none, and stays in the manifest as it is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from trustreport.service.editor import table_columns
from trustreport.service.editor.field_values import Shape, model_of, normal, shape_of, shown
from trustreport.service.engine import DatasetFacts, FileForm, Key, KeyPath, Plan, TableFile, dotted

MOST_CONTROLS = 1200  # of a form: browsers send each, and a request has a limit of fields
NAME = "@name"  # the control for the name of a new table or target
REMOVED = "@removed"
NEW_ROW = re.compile(r"\+[0-9]{1,4}")
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Control:
    """One control.

    Parameters
    ----------
    name : the JSON pointer of its field
    path : the same in the manifest, a new row as its name
    shape : what its text means
    text : what it shows, as the manifest has it
    label : a key of the catalogue, or a word of the tables
    choices : text and meaning of each option
    suggest : the list of names that are offered
    needed : whether this kind of report requires the field
    front : whether it is shown at first
    default : what is assumed where nothing is declared
    """

    name: str
    path: KeyPath
    shape: Shape
    text: str
    label: str
    choices: tuple[tuple[str, str], ...] = ()
    suggest: str = ""
    needed: bool = False
    front: bool = True
    default: str = ""


@dataclass(slots=True)
class Row:
    """A group of controls, with the groups inside it."""

    name: str
    path: KeyPath
    controls: list[Control] = field(default_factory=list)
    parts: list["FormSection"] = field(default_factory=list)


@dataclass(slots=True)
class FormSection:
    """One group of the manifest: a single row, or any number of them; `blank` is a new one."""

    name: str
    label: str
    rows: list[Row] = field(default_factory=list)
    blank: Row | None = None
    is_named: bool = False


@dataclass(slots=True)
class Form:
    """All sections, and the paths of what is in the manifest but in no control."""

    sections: list[FormSection] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def controls(self) -> Iterator[Control]:
        """Every control of every row that there is."""
        return (control for row in self.rows() for control in row.controls)

    def rows(self) -> Iterator[Row]:
        """Every row that there is, an outer one before those inside it."""
        return (row for section in self.sections for row in _rows(section))


def _rows(section: FormSection) -> Iterator[Row]:
    for row in section.rows:
        yield row
        for part in row.parts:
            yield from _rows(part)


def form_of(
    values: Mapping[str, Any], files: table_columns.Files, texts: Mapping[str, str] = NOTHING
) -> Form:
    """The form of a manifest.

    Parameters
    ----------
    values : the plain values of the manifest
    files : the headers and values of the tables that are there
    texts : what was sent by the name of its control: which new rows there are, and of which table a row is
    """
    return _FormBuilder(values, files, texts).form()


class _FormBuilder:
    def __init__(
        self, values: Mapping[str, Any], files: table_columns.Files, texts: Mapping[str, str]
    ) -> None:
        self.values, self.files, self.texts = values, files, texts
        report = values.get("report")
        self.kind = str(report.get("kind")) if isinstance(report, Mapping) else ""
        self.left = MOST_CONTROLS
        self.made = Form()

    def form(self) -> Form:
        """Make the form: a section for each group of the manifest; keys that no group has are kept unseen."""
        for name in Plan.model_fields:
            section = self._section(Plan, name, (), self.values)
            if section is not None:
                self.made.sections.append(section)
        known = Plan.model_fields
        self.made.kept += [str(key) for key in self.values if key not in known]
        return self.made

    def _section(
        self,
        model: type[BaseModel],
        name: str,
        path: KeyPath,
        values: Mapping[str, Any],
        *,
        blank: bool = False,
    ) -> FormSection | None:
        """The section of a field that is a group or several; None where it is not, or cannot be shown."""
        info = model.model_fields[name]
        inner, many = model_of(info.annotation)
        key, value = _spelled(values, name, info)
        here = (*path, key)
        section = FormSection(pointer(here), _label(here))
        if inner is None:
            control = self._control(model, name, path, values) if model is Plan else None
            if control is None:
                return None
            section.rows.append(Row(pointer(path), path, [control]))
            return section
        if many == "one":
            if not isinstance(value, Mapping | None):
                self.made.kept.append(dotted(here))
                return None
            section.rows.append(self._row(inner, here, value or {}, blank=blank))
            return section
        if value is not None and not isinstance(value, list if many == "list" else Mapping):
            self.made.kept.append(dotted(here))
            return None
        section.is_named = many == "map"
        items = value.items() if isinstance(value, Mapping) else enumerate(value or [])
        for k, item in items:
            if isinstance(item, Mapping) and self.left > 0:
                section.rows.append(self._row(inner, (*here, k), item))
            else:
                self.made.kept.append(dotted((*here, k)))
        new = [] if blank else sorted({r for n in self.texts if (r := new_row(n, section.name))}, key=_number)
        section.rows += [self._new(inner, (*here, k), section.is_named) for k in new]
        spent = self.left
        section.blank = self._new(inner, (*here, "+new"), section.is_named)
        self.left = spent
        return section

    def _new(self, model: type[BaseModel], path: KeyPath, is_named: bool) -> Row:
        row = self._row(model, path, {}, blank=str(path[-1]) == "+new")
        if is_named:
            named = Control(f"{row.name}/{NAME}", (*path, NAME), Shape("line"), "", NAME)
            row.controls.insert(0, named)
        return row

    def _row(
        self, model: type[BaseModel], path: KeyPath, values: Mapping[str, Any], *, blank: bool = False
    ) -> Row:
        row = Row(pointer(path), path)
        for name in _own_first(model):
            info = model.model_fields[name]
            if issubclass(model, FileForm) and name in ("columns", "values"):
                continue
            if model_of(info.annotation)[0] is not None:
                part = self._section(model, name, path, values, blank=blank)
                if part is not None:
                    row.parts.append(part)
                continue
            control = self._control(model, name, path, values)
            if control is not None:
                row.controls.append(control)
        if issubclass(model, FileForm):
            self._columns(row, path, values)
        known = {k for name, info in model.model_fields.items() for k in spellings(name, info)}
        self.made.kept += [dotted((*path, key)) for key in values if key not in known]
        return row

    def _control(
        self, model: type[BaseModel], name: str, path: KeyPath, values: Mapping[str, Any]
    ) -> Control | None:
        info = model.model_fields[name]
        key, value = _spelled(values, name, info)
        here, shape = (*path, key), shape_of(info.annotation)
        text = None if shape is None or self.left <= 0 else shown(shape, value)
        if shape is None or text is None:
            if value is not None:
                self.made.kept.append(dotted(here))
            return None
        self.left -= 1
        marks = _mandatory_for(info)
        plain = not issubclass(model, FileForm) and not any(map(_mandatory_for, model.model_fields.values()))
        default = info.default if shape.kind in ("choice", "number") and not info.is_required() else None
        if model is TableFile and name == "kind" and path[-1] in table_columns.TABLE_WORDS:
            default = path[-1]
        return Control(
            pointer(here),
            here,
            shape,
            text,
            _label(here),
            choices=self._choices(model, name, shape, text),
            suggest=SUGGESTED.get(name, ""),
            needed=self.kind in marks,
            front=bool(text) or info.is_required() or bool(marks) or plain or self._is_front(name, values),
            default="" if default is None else _word(default),
        )

    def _is_front(self, name: str, values: Mapping[str, Any]) -> bool:
        """Whether a field that no report requires is shown at first."""
        if name == "measurement":
            return bool(self.values.get("measurements"))
        if name in OF_LABELS:
            return values.get("kind") == "error_prone"
        if name in OF_TESTS:
            return values.get("kind") in OF_TESTS[name]
        return name in FRONT

    def _choices(
        self, model: type[BaseModel], name: str, shape: Shape, text: str
    ) -> tuple[tuple[str, str], ...]:
        """The options of a field: those of its model, the tables, the declared arms."""
        options: list[tuple[str, str]] = []
        if shape.kind == "choice":
            options = [(word, word) for word in map(_word, shape.choices)]
        elif issubclass(model, FileForm) and name == "file":
            options = [(file, file) for file in self.files]
        elif issubclass(model, FileForm) and name == "kind":
            options = [(word, word) for word in table_columns.TABLE_WORDS]
        elif name == "arm_or_contrast":
            options = list(_contrasts(self.values))
        elif name == "chart":
            options = [(word, word) for word in CHARTS]
        elif SUGGESTED.get(name) == "datasets" and shape.kind == "line" and model is not DatasetFacts:
            options = [(known, known) for known in _declared(self.values, "datasets", "dataset")]
        if options and text and text not in dict(options):
            options.append((text, text.replace("\n", ", ")))
        return tuple(options)

    def _columns(self, row: Row, path: KeyPath, values: Mapping[str, Any]) -> None:
        """The columns of a table, and what the values of those that are yes or no mean."""
        sent = {key: self.texts.get(f"{row.name}/{key}") for key in ("file", "kind")}
        values = {**values, **{key: text for key, text in sent.items() if text is not None}}
        kind = values.get("kind") or path[-1] if path[0] == "tables" else "dataset"
        columns, coded, kept = table_columns.of_table(str(kind), values, self.files)
        self.made.kept += [dotted((*path, *rest)) for rest in kept]
        for name, entries in (("columns", columns), ("values", coded)):
            here = (*path, name)
            part = FormSection(pointer(here), _label(here))
            part.rows.append(Row(pointer(here), here))
            for entry in entries:
                at = (*here, *entry.path)
                self.left -= 1
                part.rows[0].controls.append(
                    Control(
                        pointer(at),
                        at,
                        entry.shape,
                        entry.text,
                        entry.word,
                        choices=entry.choices,
                        front=entry.front,
                        default=entry.default,
                    )
                )
            if entries:
                row.parts.append(part)


# What is shown at first although no kind of report requires it, and the names that a field may take up.
FRONT = ("title", "of", "aided", "file", "kind", "dataset", "features")
CHARTS = ("cusum", "sprt", "cusum and sprt")
OF_LABELS = ("sensitivity", "specificity", "source", "subset")  # of a reference that is wrong at times
OF_TESTS = {  # of a reference that is made of several tests, by its kind
    "rule": ("composite", "latent_class"),
    **dict.fromkeys(("conditional_independence", "dependence"), ("latent_class",)),
}
SUGGESTED = {
    "measurement": "measurements",
    "measure": "measures",
    "of": "quantities",
    "metric": "quantities",
    "dataset": "datasets",
    "period": "datasets",
    "baseline_dataset": "datasets",
    "multiplicity_family": "families",
    "candidate": "candidates",
    "arm": "arms",
}


def suggestions(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """The names that the manifest declares, by the list that offers them."""
    lists = {
        "datasets": "dataset",
        "families": "family",
        "candidates": "candidate",
        "arms": "arm",
        "measurements": "measurement",
    }
    return {name: list(_declared(values, name, key)) for name, key in lists.items()}


def _contrasts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each pair of arms that can be compared, the aided one first, each arm, and each data set."""
    arms = [a for a in values.get("arms") or [] if isinstance(a, Mapping)]
    aided = {str(a.get("arm")): a.get("aided", str(a.get("arm")) == "aided") for a in arms}
    aided = aided or {"aided": True, "unaided": False}
    for one in (a for a, yes in aided.items() if yes):
        for other in (a for a, yes in aided.items() if not yes):
            yield f"{one}\n{other}", f"{one} compared with {other}"
    yield from ((name, name) for name in dict.fromkeys((*aided, *_declared(values, "datasets", "dataset"))))


def _declared(values: Mapping[str, Any], group: str, key: str) -> Iterator[str]:
    rows = values.get(group)
    for row in rows if isinstance(rows, list) else ():
        named = row.get(key, row.get(f"{key}_id")) if isinstance(row, Mapping) else None
        if isinstance(named, str | int | float):
            yield str(getattr(named, "text", named))


def pointer(path: Iterable[Key]) -> str:
    """A path as a JSON pointer (RFC 6901)."""
    return "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in path)


def new_row(name: str, section: str) -> str:
    """The new row of a section (``+0``) that the name of a control is in; empty where it is in none."""
    rest = name.removeprefix(f"{section}/")
    row = rest.partition("/")[0]
    return row if rest != name and NEW_ROW.fullmatch(row) else ""


def was_changed(control: Control, texts: Mapping[str, str]) -> bool:
    """Whether another text was sent than the control showed."""
    sent = texts.get(control.name)
    return sent is not None and normal(sent).strip() != normal(control.text).strip()


def spellings(name: str, info: Any) -> tuple[str, ...]:
    """A field's own name, and others that the manifest may have for it."""
    return (name, *(str(a) for a in getattr(info.validation_alias, "choices", ()) if a != name))


def _spelled(values: Mapping[str, Any], name: str, info: Any) -> tuple[str, Any]:
    found = next((key for key in spellings(name, info) if key in values), name)
    return found, values.get(found)


def _mandatory_for(info: Any) -> tuple[str, ...]:
    extra = info.json_schema_extra
    return tuple(extra.get("mandatory_for", ())) if isinstance(extra, dict) else ()


def _own_first(model: type[BaseModel]) -> list[str]:
    """The fields of a model, those that say how a file was written after its own."""
    form = FileForm.model_fields if issubclass(model, FileForm) else {}
    return sorted(model.model_fields, key=lambda name: name in form)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _label(path: KeyPath) -> str:
    is_named = (
        path
        and path[0] in Plan.model_fields
        and model_of(Plan.model_fields[str(path[0])].annotation)[1] == "map"
    )
    words = path[:1] + path[2:] if is_named else path
    return ".".join(str(key) for key in words if not isinstance(key, int) and not key.startswith("+"))


def _number(row: str) -> int:
    return int(row[1:])
