"""Rule packs: which items of a framework a report speaks to, as data of one edition each.

A pack is a file ``schemas/packs/<id>.toml``. What a framework demands stands in the framework; a pack says
where a report speaks to an item, in words of our own, and who compared its number with the framework's text.
Our own words in another language are in ``templates/messages/<language>.packs.toml``: names and titles of
texts stay as they are.
"""

import datetime as dt
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from trustreport.vocabulary.resources import folder

Status = Literal["C", "D", "O"]
Role = Literal["training", "tuning", "internal test", "external", "local", "period"]
Text = Annotated[str, Field(min_length=1)]
ElementId = Annotated[str, Field(pattern=r"^E(0[1-9]|[1-4][0-9]|5[01])$")]
FieldPath = Annotated[str, Field(pattern=r"^[a-z_]+(\.[a-z_]+)?$")]
SUPPLIED = frozenset({"E50", "E51"})  # elements that only name what another document has to supply
NONE = "none"
PROJECT = "trustreport project"  # who compared numbers for this project
LONGEST = 120  # characters of a title
WORDS = ("edition", "legal_status", "compared_with")  # of a pack, that are written in our own words
ITEMS = "[[items]]"


class PackError(ValueError):
    """A pack that cannot be read; the message names the file and every fault."""


class PackModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Item(PackModel):
    """An item of a framework; its number is verified where it is said who compared it with the text."""

    id: Text = Field(description="the number as the framework writes it")
    description: Text = Field(max_length=LONGEST, description="what it is about, in words of our own")
    elements: tuple[ElementId, ...] = Field(
        min_length=1, description="elements of the report that speak to it"
    )
    status: Status = Field(description="C computed here, D declared here, O supplied elsewhere")
    fields: tuple[FieldPath, ...] = Field(
        default=(), description="of status D: the fields of the manifest that declare it"
    )
    roles: tuple[Role, ...] = Field(
        default=(), description="roles of sets of cases it is about; it is open where no set has one of them"
    )
    verified_by: str = Field(description="who compared the number with the primary text; empty if nobody did")
    verified_on: dt.date | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Item":
        if bool(self.verified_by) != (self.verified_on is not None):
            raise ValueError("verified_by and verified_on must be given together or not at all")
        if (self.status == "O") != SUPPLIED.issuperset(self.elements):
            raise ValueError("status O belongs to items of E50 and E51 alone, and to all of those")
        if (self.status == "D") != bool(self.fields):
            raise ValueError("an item of status D names the fields that declare it, no other item does")
        return self

    @property
    def verified(self) -> bool:
        """Whether the number was compared with the primary text."""
        return bool(self.verified_by)


class Pack(PackModel):
    """The items of one framework in one edition."""

    framework: Text
    edition: Text
    legal_status: Text
    legal_status_on: dt.date = Field(description="as of when")
    source: Text = Field(description="title of the primary text")
    compared_with: Text = Field(description="what the numbers were compared with")
    aliases: tuple[Text, ...] = Field(default=(), description="other names by which a manifest may call it")
    items: tuple[Item, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _once(self) -> "Pack":
        ids = [item.id for item in self.items]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"items that occur twice: {', '.join(twice)}")
        return self

    @property
    def verified(self) -> int:
        """How many items have a verified number."""
        return sum(item.verified for item in self.items)


@dataclass(frozen=True, slots=True)
class Named:
    """What a manifest named: the name as typed and the id of its pack, empty where there is none."""

    name: str
    id: str


def home() -> Path:
    """Where the packs lie."""
    return folder("schemas") / "packs"


def ids() -> tuple[str, ...]:
    """The ids of all packs, in order."""
    return tuple(sorted(file.stem for file in home().glob("*.toml")))


@cache
def load(name: str, language: str = "en") -> Pack:
    """The pack with this id, its texts in a language; a pack that is not translated is in English.

    Raises
    ------
    KeyError
        There is none.
    PackError
        The file is not a pack.
    """
    if name not in ids():
        raise KeyError(name)
    if language != "en":
        return translated(load(name), translations(language).get(name, {}))
    return read(home() / f"{name}.toml")


def translated(pack: Pack, own: Mapping[str, Any]) -> Pack:
    """A pack with these texts in place of the English ones; what has none stays as it is."""
    about: Mapping[str, str] = own.get("items", {})
    items = tuple(
        item.model_copy(update={"description": about.get(item.id, item.description)}) for item in pack.items
    )
    return pack.model_copy(update={**{word: own[word] for word in WORDS if word in own}, "items": items})


@cache
def translations(language: str) -> Mapping[str, Any]:
    """The texts of all packs in another language, by the id of the pack."""
    file = folder("templates") / "messages" / f"{language}.packs.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def read(file: Path) -> Pack:
    """A pack from a file; `PackError` with every fault of it."""
    try:
        return Pack.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise PackError(f"{file.name}: {error}") from error
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, e['loc'])) or 'pack'}: {e['msg']}" for e in error.errors())
        raise PackError("\n".join(f"{file.name}, {fault}" for fault in faults)) from error


def find(names: Iterable[str]) -> Iterator[Named]:
    """The packs that a manifest names by id or alias, each once, in its order; ``none`` names nothing."""
    seen: set[str] = set()
    for name in names:
        word = _folded(name)
        if word == NONE:
            continue
        found = _known().get(word, "")
        if (found or word) not in seen:
            yield Named(name, found)
        seen.add(found or word)


@cache
def _known() -> dict[str, str]:
    """Ids and aliases, folded, with the id of their pack."""
    known: dict[str, str] = {}
    for name in ids():
        for word in (name, *_head(home() / f"{name}.toml").get("aliases", ())):
            known.setdefault(_folded(word), name)
    return known


def _head(file: Path) -> dict[str, Any]:
    """What a file says before its items: a report need not read the items of packs that it does not name."""
    return tomllib.loads(file.read_text(encoding="utf-8").partition(ITEMS)[0])


def _folded(name: str) -> str:
    return re.sub(r"\s+", " ", name).strip().casefold()
