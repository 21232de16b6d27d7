"""The catalogue: how numbers are written, plurals, and that nothing is missing from it or forgotten in it."""

import ast
import re
from math import inf, nan
from pathlib import Path

import pytest

from tests.said_keys import (
    ANY,
    ROOT,
    Module,
    Unsayable,
    literals,
    pattern,
    said,
    said_in,
    wanted,
)
from trustreport.vocabulary.messages import Catalogue, Numbers, catalogue, say

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
        (NUMBERS.points_value(0.0097), "1.0"),
        (NUMBERS.points_value(-0.0201), "\N{MINUS SIGN}2.0"),
        (NUMBERS.points_size(-0.0201), "2.0"),
        (NUMBERS.p(0.00001), "< 0.001"),
        (NUMBERS.p(0.0512), "= 0.051"),
        (NUMBERS.p(0.2), "= 0.20"),
        (NUMBERS.p(0.00123), "= 0.0012"),
        (NUMBERS.p(0.5), "= 0.50"),
    ],
)
def test_numbers_are_written_as_the_language_does(written: str, expected: str) -> None:
    assert written == expected


@pytest.mark.parametrize("value", [1.03e24, -1.79e308])
def test_the_largest_numbers_are_written_with_their_decimals(value: float) -> None:
    whole, _, decimals = Numbers("en").fixed(value, 5).partition(".")
    assert float(whole.replace(",", "").replace("−", "-")) == value
    assert decimals == "00000"


def test_a_message_in_a_message_and_a_plural() -> None:
    assert EN("severity.W") == "warning"
    assert EN(say("word.name", name=say("severity.B"))) == "critical"
    assert EN("report.tested.n_readers", n=1) == "1 reader"
    assert EN("report.tested.n_readers", n=13) == "13 readers"


def test_points_in_a_sentence_have_no_plus_and_where_it_says_fell_no_sign() -> None:
    texts = {"fell": "fell by {x:points_size}", "change": "{x:points_value}", "places": "{x:points_size.0}"}
    words = Catalogue("en", texts)
    assert [words("fell", x=x) for x in (-0.0771, 0.0771)] == ["fell by 7.7"] * 2
    assert [words("change", x=x) for x in (-0.0771, 0.0771)] == ["\N{MINUS SIGN}7.7", "7.7"]
    assert words("places", x=-0.0771) == "8"


def test_an_unknown_key_is_an_error_and_so_is_a_missing_value() -> None:
    with pytest.raises(KeyError, match=r"no text pragmatic_utility\.nothing"):
        EN("pragmatic_utility.nothing")
    with pytest.raises(KeyError):
        EN("pragmatic_utility.rates", aided=0.2)


# Keys that the source seems to say and never does, with the reason.
NEVER_SAID = {
    r"verdicts\.(inconclusive|not \w+)_(above|below|inside|outside)|verdicts\.not \w+": "no verdict, no side",
    r"verdicts\.(pass_outside|fail_inside)": "whoever passes is inside two bounds, whoever fails is outside",
}


def test_every_key_that_is_said_is_in_the_catalogue() -> None:
    keys = EN.keys()
    assert len(said()) > 1000
    places = {text: one.where for one in said() if not one.guarded for text in one.texts}
    lacking = {
        text: where
        for text, where in places.items()
        if text not in EN and not (ANY in text and any(map(pattern(text).fullmatch, keys)))
    }
    excused = {text: {why for why in NEVER_SAID if re.fullmatch(why, text)} for text in lacking}
    wrong = [f"{lacking[text]} says {text.replace(ANY, '...')}" for text, why in excused.items() if not why]
    assert not wrong, "the catalogue lacks what is said: " + "; ".join(wrong)
    assert set().union(*excused.values()) == set(NEVER_SAID), "an excuse that nothing needs"
    for one in said():
        if one.guarded:  # the code asks for it first, which makes sense where the catalogue may have it
            assert any(pattern(text).fullmatch(key) for text in one.texts for key in keys), one


def test_keys_are_said_with_the_values_of_their_texts() -> None:
    for one in said():
        for key in one.texts:
            if one.values and key in EN:
                assert wanted(key) <= one.values | {"n"}, f"{one.where} says {key} without {wanted(key)}"


def test_every_text_of_the_catalogue_can_be_said() -> None:
    texts = {text for one in said() for text in one.texts}
    # A pattern that is nothing but open places reaches every key, and so says nothing about any.
    patterns = [pattern(text) for text in texts if ANY in text and text.strip(f"{ANY}.")]
    in_full = texts | literals()
    dead = [k for k in EN.keys() if k not in in_full and not any(p.fullmatch(k) for p in patterns)]  # noqa: SIM118 -- as below
    assert not dead, f"nothing says {dead}"


def test_an_unknown_key_or_a_missing_value_is_an_error_where_the_message_is_made() -> None:
    with pytest.raises(Unsayable, match=r"no text pragmatic_utility\.nothing"):
        say("pragmatic_utility.nothing")
    with pytest.raises(Unsayable, match=r"pragmatic_utility\.rates without unaided"):
        say("pragmatic_utility.rates", aided=0.2)


@pytest.mark.parametrize(
    "source, texts",
    [
        ("say('a.b')", {"a.b"}),
        ("say(f'a.{ID}')", {"a.here"}),
        ("say(f'a.{unknown}.b')", {f"a.{ANY}.b"}),
        ("say('a' if x else f'{ID}.b')", {"a", "here.b"}),
        ("[say(f'{ID}.{name}') for name in NAMES]", {"here.one", "here.two"}),
        ("[say(name) for name in (*NAMES, ID)]", {"one", "two", "here"}),
        ("[say(f'{ID}.{name}') for name in TABLE]", {"here.three"}),
        ("[say(key) for _, key in TABLE.items()]", {"four"}),
        ("say(TABLE[x])", {"four"}),
        ("say(f'{word()}.b')", {"no.b", "yes.b"}),
        ("def f(kind: Kind):\n    say(f'a.{kind}')", {"a.p", "a.q"}),
        ("def f(kind):\n    say(f'a.{kind}')", {f"a.{ANY}"}),
        ("def f(x):\n    key = 'a'\n    if x:\n        key += '_of'\n    say(key)", {"a", "a_of"}),
        ("def f():\n    for name in NAMES:\n        say(name)", {"one", "two"}),
        ("def f():\n    a, b = 'c', 'd'\n    say(f'{a}.{b}')", {"c.d"}),
        ("text('a', e)", {"here.a"}),
        ("text.column('a', 'count')", {"here.column.a"}),
        ("text.title(name, alone=x)", {"here.title", "here.title_of"}),
        ("text.table(i, c, ['.a:p? cases', '.b'], rows)", {"here.column.a", "here.column.b"}),
        ("text.figure(i, d, 'a', n=1)", {"here.figure.a", "here.figure.a_alt"}),
        ("text.figure(i, d, 'a', caption)", {"here.figure.a_alt"}),
        ("text.estimates(i, c, r)", {f"here.label.{ANY}"}),
        ("text.finding(p, r, NAMES)", {"here.not_shown.one", "here.not_shown.two"}),
    ],
)
def test_keys_are_read_from_the_source(source: str, texts: set[str]) -> None:
    before = """
ID = "here"
NAMES = ("one", "two")
text = Texts(ID)
TABLE = {"three": "four"}
Kind = Literal["p", "q"]
def word():
    return "yes" if x else "no" if y else ""
"""
    (found,) = said_in(Module(ROOT / "made_up.py", ast.parse(before + source)))
    assert found.texts == texts


def test_texts_are_sentences_without_banned_words() -> None:
    words = "prove proves proven safe safely superior equivalent trustworthy bias-free (?<!cross-)validated"
    banned = re.compile(rf"\b({'|'.join(words.split())})\b", re.IGNORECASE)
    for key in EN.keys():  # noqa: SIM118 (a method of the catalogue, not a mapping's)
        if key.startswith(("plan.", "form.")):
            continue  # names of manifest fields, and of sections and fields of authorities' templates
        text = EN.text(key)
        for form in text.values() if not isinstance(text, str) else [text]:
            assert not banned.search(form), f"{key}: {form}"
            assert " - " not in form, f"{key}: a range is written with 'to', a dash is an en dash"


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (["a", "b", "c"], "a, b, and c"),
        (["study 2, R1", "study 2, R2"], "study 2, R1; and study 2, R2"),
        (["A (95%, 90% to 97%)", "B (80%, 70% to 88%)"], "A (95%, 90% to 97%) and B (80%, 70% to 88%)"),
        (["study 2, R1"], "study 2, R1"),
    ],
)
def test_items_with_commas_are_parted_by_semicolons(items: list[str], expected: str) -> None:
    assert EN.listed(items) == expected


BESIDE = {"trustreport", "study.yaml", "CSV, Parquet, XLSX, iMRMC"}  # names, the same in every language
IN_ENGLISH = {"part_reference.html.j2"}  # made of the English document of the API, and marked as English
LABELS = r'(?:aria-label|alt|title|placeholder|data-label|label|hint)="([^"]*)"'


@pytest.mark.parametrize(
    "file", sorted((ROOT / "templates/service").glob("*.j2")), ids=lambda file: file.name
)
def test_no_text_of_a_page_is_outside_the_catalogue(file: Path) -> None:
    if file.name in IN_ENGLISH:
        return
    template = re.sub(r"\{#.*?#\}", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    template = re.sub(r"(\{% block width %\})\w*|^\{\{ url \}\}/.*", "", template, flags=re.MULTILINE)
    plain = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "\0", template, flags=re.DOTALL)
    texts = re.split(r"<[^<>]*>|\0|\n", plain)
    texts += [text for tag in re.findall(r"<[^<>]*>", plain) for text in re.findall(LABELS, tag)]
    texts += re.findall(LABELS, " ".join(re.findall(r"\{\{.*?\}\}", template, flags=re.DOTALL)))
    left = [t for text in texts if re.search(r"[A-Za-z]{2}", t := text.strip(" \0·,:;")) and t not in BESIDE]
    assert not left, left
