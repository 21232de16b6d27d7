"""What the manifest declares and what it leaves out, in the words of the catalogue."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from pydantic import BaseModel

from trustreport.report.tables import Head, Table, line_of
from trustreport.study.plan import EMPTY_IS_SAID, Plan
from trustreport.vocabulary.messages import Catalogue

# How files are to be read is no statement about the study; the report group stands on the title page.
NOT_PRINTED = frozenset({"report", "tables"})
ANSWERED = frozenset({"committee_questions"})  # stand with their answers
READING_OF_FILES = frozenset({"columns", "delimiter", "decimal", "encoding", "sheet"})
RANGES = frozenset(
    {"age_range", "score_range", "threshold_range", "prevalence_range", "ci", "bound_or_margin"}
)
COUNTED = frozenset({"sensitivity", "specificity"})  # of labels: how many were right, of how many
# Names of precision targets that are shorter than those of the quantities.
SHORT = {"oe": "oe_ratio"}
MOST_ITEMS = 60
MOST_BESIDE = 6  # items that are columns of a table
MOST_NAMES = 3
HASH_DIGITS = 12  # of 64
NAME = 40  # characters of a name in a list
INDEX = re.compile(r"\[(\d+)\]")
BLANKS = re.compile(r"[ \t\r\n]+")
LONG_WORD = re.compile(r"\S{16,}")
PIECE = 12  # characters between two places where a word without signs may break


@dataclass(frozen=True, slots=True)
class DeclaredGroup:
    """One group of the manifest: what it states, what a report of this kind misses in it.

    Where it has several items, `table` holds what differs between them.
    """

    title: str
    stated: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    more: int = 0
    table: Table | None = None


def groups(plan: Plan, not_declared: Iterable[str], say: Catalogue) -> dict[str, DeclaredGroup]:
    """Every group that says something or lacks something, by its name, in the manifest's order."""
    missing = _missing(plan, not_declared, say)
    found = {}
    for name in type(plan).model_fields:
        shown = name not in NOT_PRINTED and name in plan.model_fields_set
        items = _items(getattr(plan, name), name, say) if shown else []
        table = _table(items, say) if len(items) > 1 else None
        stated = list(_common(items, say) if table else _stated(plan, name, say)) if shown else []
        lacks = tuple(missing.get(name, ()))
        if stated or lacks or table:
            more = max(len(items if table else stated) - MOST_ITEMS, 0)
            found[name] = DeclaredGroup(label(name, say), tuple(stated[:MOST_ITEMS]), lacks, more, table)
    return found


def label(path: str, say: Catalogue) -> str:
    """A field of the manifest in plain words; its path where the catalogue has none."""
    plain = INDEX.sub("", path)
    return next((say(key) for key in label_keys(plain) if key in say), plain)


def label_keys(path: str) -> Iterator[str]:
    """The keys of the catalogue under which a field may have a label; what was published is called alike."""
    for candidate in (path, path.removeprefix("candidates.")):
        yield from (f"plan.{candidate}.group", f"plan.{candidate}")
    if path.startswith("published_"):
        last = path.rpartition(".")[2]
        yield from (f"plan.published.{last}", f"quantity.{last}")


def text(value: Any, say: Catalogue) -> str:
    """A declared value as text."""
    if isinstance(value, bool):
        return say("word.yes" if value else "word.no")
    if isinstance(value, BaseModel):
        return _joined(_fields(value, "", say), say)
    if isinstance(value, Mapping):
        return say.between.join(
            say("word.interval", value=key, interval=text(one, say))
            if isinstance(one, Mapping)
            else say("word.named", label=key, name=text(one, say))
            for key, one in value.items()
        )
    if isinstance(value, tuple | list):
        return ", ".join(text(one, say) for one in value)
    if isinstance(value, float):
        return say.numbers.plain(value)
    if isinstance(value, dt.date):
        return day(value, say)
    return say.declared(str(value))


def _stated(plan: Plan, name: str, say: Catalogue) -> Iterator[tuple[str, str]]:
    value = getattr(plan, name)
    if isinstance(value, BaseModel):
        yield from _fields(value, name, say)
    elif isinstance(value, tuple):
        for fields in _items(value, name, say):
            yield fields[0][1], _joined(fields[1:], say)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            quantity = f"quantity.{SHORT.get(key, key)}"
            shown = _joined(_fields(one, name, say), say) if isinstance(one, BaseModel) else text(one, say)
            yield say(quantity) if quantity in say else str(key), shown


def _items(value: Any, name: str, say: Catalogue) -> list[list[tuple[str, str]]]:
    """The fields of each item of a group that is a list, what it is called first."""
    if not (isinstance(value, tuple) and all(isinstance(item, BaseModel) for item in value)):
        return []
    return [fields for item in value if (fields := list(_fields(item, name, say)))]


def _shared(items: Sequence[Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    return [field for field in items[0][1:] if all(field in other[1:] for other in items[1:])]


def _common(items: Sequence[Sequence[tuple[str, str]]], say: Catalogue) -> Iterator[tuple[str, str]]:
    """What all items have alike, each field by itself."""
    everyone = say("report.declared.all_of_them", n=len(items))
    for name, shown in _shared(items):
        yield say("report.declared.field_of", field=name, names=everyone), shown


def _table(items: Sequence[Sequence[tuple[str, str]]], say: Catalogue) -> Table:
    """What differs between the items: few of them are columns, many are rows."""
    common = _shared(items)
    own = [dict(field for field in fields[1:] if field not in common) for fields in items[:MOST_ITEMS]]
    names = [item[0][1] for item in items[:MOST_ITEMS]]
    fields = list(dict.fromkeys(name for one in own for name in one))
    empty = say("table.empty")
    if len(fields) > len(names) and len(names) <= MOST_BESIDE:
        lines = [line_of(name, *(one.get(name, empty) for one in own)) for name in fields]
        return Table("", tuple(Head(text) for text in ("", *names)), tuple(lines))
    lines = [line_of(name, *(one.get(field, empty) for field in fields)) for name, one in zip(names, own)]
    return Table("", tuple(Head(text) for text in (items[0][0][0], *fields)), tuple(lines))


def _joined(fields: Iterable[tuple[str, str]], say: Catalogue) -> str:
    return say.between.join(say("word.named", label=field, name=given) for field, given in fields)


def _fields(group: BaseModel, path: str, say: Catalogue) -> Iterator[tuple[str, str]]:
    """The fields of a group that were given, nested groups spelled out; first what it is called."""
    own = path.rpartition(".")[2].removesuffix("s")  # the field dataset of datasets
    for name in sorted(type(group).model_fields, key=lambda name: name != own):
        value = getattr(group, name)
        if name not in group.model_fields_set or value is None or name in READING_OF_FILES | ANSWERED:
            continue
        here = f"{path}.{name}" if path else name
        if value in ("", ()):
            if name in EMPTY_IS_SAID:
                yield label(here, say), say("word.none")
        elif isinstance(value, BaseModel):
            yield from _fields(value, here, say)
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            inner = [_joined(_fields(item, here, say), say) for item in value]
            yield label(here, say), " / ".join(inner)
        elif name in RANGES and isinstance(value, tuple) and len(value) == 2:
            yield label(here, say), say("word.to", low=text(value[0], say), high=text(value[1], say))
        elif name in COUNTED and isinstance(value, tuple):
            yield label(here, say), say("report.declared.counted", k=value[0], n=value[1])
        else:
            shown = short_hash(value) if name == "sha256" else text(value, say)
            yield label(here, say), shown


def short_hash(sha256: str) -> str:
    """The first digits of a hash, which tell files apart; results.json has all of them."""
    return sha256[:HASH_DIGITS] + ("…" if len(sha256) > HASH_DIGITS else "")


def _missing(plan: Plan, paths: Iterable[str], say: Catalogue) -> dict[str, list[str]]:
    """Labels of the undeclared fields by group; a field that several items lack is named once."""
    items: dict[str, dict[str, list[str]]] = {}
    for path in paths:
        group = INDEX.sub("", path.split(".")[0])
        plain = INDEX.sub("", path)
        names = items.setdefault(group, {}).setdefault(plain, [])
        index = INDEX.search(path)
        if index:
            names.append(_name_of(plan, group, int(index[1]), say))
    return {
        group: [
            _with_names(label(path, say), names, _size(plan, group), say) for path, names in fields.items()
        ]
        for group, fields in items.items()
    }


def _name_of(plan: Plan, group: str, i: int, say: Catalogue) -> str:
    item = getattr(plan, group)[i]
    first = getattr(item, group.removesuffix("s"), None) or getattr(item, next(iter(type(item).model_fields)))
    return shorten(str(first), NAME, say) if first else say("report.declared.numbered", n=i + 1)


def _size(plan: Plan, group: str) -> int:
    value = getattr(plan, group)
    return len(value) if isinstance(value, tuple) else 0


def _with_names(field: str, names: list[str], size: int, say: Catalogue) -> str:
    """A field with the items that lack it, where some have it; with their number, where none has it."""
    if not names or size == 1:
        return field
    if len(names) == size:
        return say("report.declared.in_all", field=field, n=size)
    listed = ", ".join(names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        listed = say("report.declared.more_names", names=listed, n=len(names) - MOST_NAMES)
    return say("report.declared.field_of", field=field, names=listed)


def shorten(text: str, most: int, say: Catalogue) -> str:
    """At most about so many characters, cut between sentences or words where there are any."""
    text = BLANKS.sub(" ", text).strip(" ")  # what must not break stays
    if len(text) <= most:
        return text
    cut = text[:most]
    if ". " in cut[most // 2 :]:
        return cut[: cut.rfind(". ") + 1]
    at = next((mark for mark in (", ", " ") if mark in cut[most // 2 :]), None)  # between items of a list
    return say("word.shortened", text=cut if at is None else cut[: cut.rfind(at)])


def breakable(text: str) -> Markup:
    """Text as HTML whose long words may break: after points, underscores and slashes, else anywhere."""
    out, end = Markup(""), 0
    for word in LONG_WORD.finditer(text):
        pieces = (piece for whole in re.split(r"(?<=[._/-])", word[0]) for piece in _pieces(whole))
        out += Markup.escape(text[end : word.start()]) + Markup("<wbr>").join(pieces)
        end = word.end()
    return out + Markup.escape(text[end:])


def together(text: str) -> str:
    """A number of a table: what is in brackets may go below what is before them; nothing else breaks."""
    before, bracket, within = text.replace(" ", "\u00a0").partition("\u00a0(")
    return f"{before} ({within}" if bracket else before


def day(moment: dt.datetime | dt.date, say: Catalogue) -> str:
    """A date; a moment with its time, unless that is midnight."""
    if isinstance(moment, dt.datetime) and moment.time() != dt.time():
        return say.numbers.moment(moment)
    return say.numbers.day(moment)


def _pieces(word: str) -> list[str]:
    if len(word) <= 2 * PIECE:
        return [word]
    return [word[i : i + PIECE] for i in range(0, len(word), PIECE)]


def month(period: str, say: Catalogue) -> str:
    """The name of a period; one that is a month by the name of the month ("2026-08": "August 2026")."""
    found = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", period)
    if found is None:
        return period
    from babel.dates import format_date

    return format_date(dt.date(int(found[1]), int(found[2]), 1), "MMMM y", locale=say.language)


def notice(plan: Plan, say: Catalogue) -> str:
    """The notice of the manifest; simulated data are called so without one too."""
    return plan.report.notice or (say("report.use.simulated") if plan.study.simulated else "")
