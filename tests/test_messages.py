"""The catalogue: how numbers are written, plurals, and that nothing is missing from it or forgotten in it."""

import ast
import re
import string
from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.messages import Numbers, catalogue, decimals, say

PACKAGE = Path(__file__).resolve().parent.parent / "trustreport"
NUMBERS = Numbers("en")
EN = catalogue("en")


@pytest.mark.parametrize(
    "written, expected",
    [
        (NUMBERS.fixed(-0.0201, 3), "\N{MINUS SIGN}0.020"),
        (NUMBERS.fixed(-0.0004, 2), "0.00"),
        (NUMBERS.fixed(inf), "\N{INFINITY}"),
        (NUMBERS.fixed(nan), ""),
        (NUMBERS.count(1548), "1,548"),
        (NUMBERS.percent(0.22739), "22.7%"),
        (NUMBERS.points(0.0097), "+1.0"),
        (NUMBERS.points(-0.0201), "\N{MINUS SIGN}2.0"),
        (NUMBERS.p(0.00001), "< 0.001"),
        (NUMBERS.p(0.0512), "= 0.051"),
        (NUMBERS.p(0.5), "= 0.50"),
    ],
)
def test_numbers_are_written_as_the_language_does(written: str, expected: str) -> None:
    assert written == expected


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_decimals_show_the_width_of_the_interval(value: float, width: float) -> None:
    places = decimals(value, value - width / 2, value + width / 2)
    assert 0 <= places <= 7
    if 1e-2 <= width < 10:
        assert round(width, places) > 0


def test_a_message_in_a_message_and_a_plural() -> None:
    assert EN("severity.W") == "warns"
    assert EN(say("word.name", name=say("severity.B"))) == "blocks"
    assert EN("report.tested.n_readers", n=1) == "1 reader"
    assert EN("report.tested.n_readers", n=13) == "13 readers"


def test_an_unknown_key_is_an_error_and_so_is_a_missing_value() -> None:
    with pytest.raises(KeyError, match=r"no text pragmatic_utility\.nothing"):
        EN("pragmatic_utility.nothing")
    with pytest.raises(KeyError):
        EN("pragmatic_utility.rates", aided=0.2)


def literal_keys() -> set[tuple[str, int, str, frozenset[str]]]:
    """Every key said with a literal in the code, with the values given by name."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.func.id if isinstance(node.func, ast.Name) else ""
                key = node.args[0].value
                if name in ("say", "message", "Message") and isinstance(key, str):
                    given_names = frozenset(k.arg for k in node.keywords if k.arg)
                    found.add((file.name, node.lineno, key, given_names))
    return found


def test_every_key_said_in_the_code_is_in_the_catalogue_with_its_values() -> None:
    keys = literal_keys()
    assert len(keys) > 50
    for file, line, key, given_names in keys:
        assert key in EN, f"{file}:{line} says {key}, which the catalogue lacks"
        if not given_names:
            continue
        text = EN._find(key)
        for form in text.values() if not isinstance(text, str) else [text]:
            wanted = {name for _, name, _, _ in string.Formatter().parse(form) if name}
            assert wanted <= given_names | {"n"}, f"{file}:{line} says {key} without {wanted - given_names}"


def test_texts_are_sentences_without_banned_words() -> None:
    words = "prove proves proven safe safely superior equivalent trustworthy bias-free (?<!cross-)validated"
    banned = re.compile(rf"\b({'|'.join(words.split())})\b", re.IGNORECASE)
    for key in EN.keys():  # noqa: SIM118 (a method of the catalogue, not a mapping's)
        if key.startswith("plan."):
            continue  # names of manifest fields
        text = EN._find(key)
        for form in text.values() if not isinstance(text, str) else [text]:
            assert not banned.search(form), f"{key}: {form}"
            assert " - " not in form, f"{key}: a range is written with 'to', a dash is an en dash"
