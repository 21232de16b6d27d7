"""What files say of the columns of others: data dictionaries of REDCap, Castor and OpenClinica."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from trustreport.study.ingest import values
from trustreport.study.ingest.tables import Raw
from trustreport.study.proposal.parts import Dictionary, squeezed

SYNTAX = ".sps"  # what OpenClinica writes beside the data for SPSS
QUOTED = r'^\s*(\S+)\s+"(.*)"\s*$'
# Of REDCap's dictionaries: the name of a field, its label, and its choices in one cell.
FIELD, LABEL, CHOICES = (
    "variable_field_name",
    "field_label",
    "choices_calculations_or_slider_labels",
)
# Of Castor's list of variables, and of its field options: the same two files in exports and of its API.
VARIABLE = ("variable_name", "field_variable_name")
GROUP = ("optiongroup_name", "option_group_name", "field_option_group", "option_group_id")
OPTION = ("option_name", "option_value")


@dataclass(frozen=True)
class Explained:
    """What one file says: labels and codes by column, the group of options of a column, codes by group."""

    labels: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    group: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def explained(raw: Raw) -> Explained | None:
    """What a table says of the columns of others; None where it is no data dictionary."""
    columns = {squeezed(header): column for header, column in zip(raw.header, raw.columns)}

    def cells(*names: str) -> list[str]:
        """The cells of the first column that the table has, "" where empty or where it has none."""
        found = next((columns[name] for name in names if name in columns), None)
        return [c or "" for c in values.text(found).to_pylist()] if found is not None else [""] * raw.n_rows

    if {FIELD, CHOICES} <= columns.keys():
        names = cells(FIELD)
        choices = dict(zip(names, map(_choices, cells(CHOICES))))
        return Explained(dict(zip(names, cells(LABEL))), {k: v for k, v in choices.items() if v})
    groups = [name for name in GROUP if name in columns]
    if groups and set(OPTION) <= columns.keys():
        options: dict[str, dict[str, str]] = {}
        for of in groups:
            for group, word, code in zip(cells(of), *map(cells, OPTION)):
                options.setdefault(group, {})[code] = word
        return Explained(options=options)
    if groups and not columns.keys().isdisjoint(VARIABLE):
        names = cells(*VARIABLE)
        return Explained(dict(zip(names, cells(LABEL))), group=dict(zip(names, cells(*groups))))
    return None


def _choices(cell: str) -> dict[str, str]:
    """The codes of REDCap's cell ``1, Yes | 2, No``; empty of a calculation or a slider."""
    pairs = [part.partition(",") for part in cell.split("|")]
    if len(pairs) < 2 or not all(comma for _, comma, _ in pairs):
        return {}
    return {code.strip(): word.strip() for code, _, word in pairs}


def explained_by_syntax(text: str) -> Explained:
    """What OpenClinica's syntax for SPSS says below VARIABLE LABELS and VALUE LABELS."""
    _, _, rest = text.partition("VARIABLE LABELS")
    labels, _, codes = rest.partition("VALUE LABELS")
    return Explained(dict(re.findall(QUOTED, labels, re.MULTILINE)), dict(_value_labels(codes)))


def _value_labels(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The codes of each variable: its name in a line, a line for each code, and a stroke at the end."""
    for block in re.split(r"^\s*/\s*$", text, flags=re.MULTILINE):
        name, *lines = block.strip().splitlines() or [""]
        pairs = {found[1]: found[2] for line in lines if (found := re.match(QUOTED, line))}
        if pairs:
            yield name.strip(), {code.strip("'\""): word for code, word in pairs.items() if word}


def combined(said: Iterable[Explained]) -> Dictionary:
    """One dictionary of what several files say; Castor's options are those of a group that columns name."""
    said = tuple(said)
    options = {group: codes for one in said for group, codes in one.options.items()}
    labels = {name: label for one in said for name, label in one.labels.items() if label}
    codes = {name: options[group] for one in said for name, group in one.group.items() if group in options}
    return Dictionary(labels, codes | {name: own for one in said for name, own in one.codes.items()})
