"""A declared figure of any kind as text: what number it shows, and whether a computed number is that one."""

import re
from dataclasses import dataclass
from math import isfinite, isinf

_TYPESET = str.maketrans(
    "\N{MINUS SIGN}\N{EN DASH}\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}", "--   "
)
_CLAIMED = re.compile(r"([+-]?)(\d{1,3}(?:[ ,']\d{3})+|\d*)(?:[.,](\d*))?\s*(%?)")
NOT_DEFINED = frozenset(
    {"", "-", "na", "n/a", "n.a.", "nan", "none", "not defined", "undefined", "not applicable"}
)
# Floating point only; a printed half is rounded up by some and to even by others.
SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Declared:
    """A number as typed: its value, its decimals, whether it is per cent."""

    value: float
    places: int
    percent: bool

    def of(self, *, share: bool) -> "Declared":
        """The same where it is a share: a number above 1 without a sign was meant as per cent."""
        return Declared(self.value, self.places, True) if share and abs(self.value) > 1 else self

    def is_of(self, computed: float) -> bool:
        """Whether the computed number prints like this, both ends of rounding included."""
        if not isfinite(computed):
            return isinf(computed) and computed == self.value
        shown = 100 * computed if self.percent else computed
        return abs(shown - self.value) <= 0.5 * 10.0**-self.places + SLACK * max(1.0, abs(shown))


def declared(text: str) -> Declared | None:
    """The number that a text shows; None where it shows none.

    A comma is a decimal mark unless exactly three digits follow each and the first group is not zero.

    >>> declared("0.80"), declared("94 %")
    (Declared(value=0.8, places=2, percent=False), Declared(value=94.0, places=0, percent=True))
    >>> declared("21,572"), declared("0,945"), declared("NA")
    (Declared(value=21572.0, places=0, percent=False), Declared(value=0.945, places=3, percent=False), None)
    """
    said = text.translate(_TYPESET).strip()
    if said in ("\N{INFINITY}", "inf", "infinity"):
        return Declared(float("inf"), 0, False)
    match = _CLAIMED.fullmatch(said)
    if match is None or not (match[2] or match[3]):
        return None
    sign, whole, decimals, percent = match[1], match[2], match[3] or "", match[4]
    if re.match(r"0[ ,']", whole):  # "0,945" is a decimal comma
        whole, decimals = whole[0], whole[2:]
    value = float(f"{sign}{re.sub(r'[^0-9]', '', whole) or '0'}.{decimals or '0'}")
    return Declared(value, len(decimals), bool(percent))


def says_not_defined(text: str) -> bool:
    """Whether a text says that there is no such number: ``NA``, ``-``.

    >>> says_not_defined("NA"), says_not_defined("\N{EN DASH}"), says_not_defined("0")
    (True, True, False)
    """
    return text.translate(_TYPESET).strip().casefold() in NOT_DEFINED
