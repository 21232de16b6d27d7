"""The words by which columns, arms, roles and values of tables are recognised."""

import re
import tomllib
import unicodedata
from functools import cache
from typing import Any

from trustreport.vocabulary.resources import folder

# What headers add to the word for a column: treatment_name, numero_de_cas.
ENDS = ("", "_id", "_name", "_no", "_nr", "_number", "_code")
STARTS = ("numero_de_", "numero_", "no_", "nr_", "id_")


@cache
def vocabulary() -> dict[str, dict[str, Any]]:
    """The words of headers, arms, roles and groups that are known."""
    with (folder("templates") / "columns.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def spellings(word: str) -> tuple[str, ...]:
    """A word of ours and others for it, each also with what headers add; the plain ones first."""
    names = [word, *vocabulary()["columns"][word]]
    ends = [name + end for name in names for end in ENDS]
    return tuple(dict.fromkeys([*names, *ends, *(start + name for name in names for start in STARTS)]))


def squeezed(header: str) -> str:
    """A header in plain small letters, its words joined by one underscore."""
    plain = unicodedata.normalize("NFKD", header).encode("ascii", "ignore").decode()
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain)
    return re.sub(r"[^a-z0-9]+", "_", plain.casefold()).strip("_")


def has_word(header: str, of: str) -> bool:
    """Whether one of the words of a header is in a list of the vocabulary."""
    return not set(squeezed(header).split("_")).isdisjoint(vocabulary()["within"][of])


def is_group(header: str) -> bool:
    """Whether a column names groups of patients, such as their sex."""
    return squeezed(header) in vocabulary()["groups"]["names"]
