"""No message writes a number with more decimals than anybody measures: 80.83%, never 80.83333333%."""

import re
from string import Formatter

import numpy as np
import pytest

from trustreport.assessment.verdicts.judge import bound_amount
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.quantities import ROWS

LONG = re.compile(r"\d[.,]\d{7,}|\d[.,]\d{3,}\s?%")
DRAWN = [float(x) for x in np.random.default_rng(8).random(4)]
OF_WORDS = {"the", "The", "of", "bare", "group", "declared", "typed", "title"}
LANGUAGES = ("en", "de", "fr", "it")


def values(text: str, drawn: float) -> dict[str, object]:
    """A drawn number for each field that the message itself writes as one, a word for the others."""
    found = {name: form for _, name, form, _ in Formatter().parse(text) if name}
    return {name: drawn if form and form not in OF_WORDS else "x" for name, form in found.items()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_with_drawn_numbers(language: str) -> None:
    say, written, value = catalogue(language), 0, DRAWN[0]
    wrong: list[str] = []
    keys = say.keys()
    for key in keys:
        found = say.text(key) if isinstance(say.text(key), str) else None
        if found is None or not values(found, value):
            continue
        try:
            text = say(key, **values(found, value))
        except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
            continue  # it lists names, or counts
        written += 1
        wrong += [f"{key}: {text}"] * bool(LONG.search(text))
    assert written > 500
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("value", DRAWN)
def test_amounts_of_every_unit(value: float) -> None:
    say: Catalogue = catalogue()
    for row in ROWS:
        assert not LONG.search(say(bound_amount(row, value))), row.id
