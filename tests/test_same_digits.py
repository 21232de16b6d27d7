"""Sentences and tables of the examples write each number as its result is written."""

import string
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from trustreport.assessment.assess import Assessment
from trustreport.assessment.finding import PlainTable
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.digits import Rounded, places_in
from trustreport.vocabulary.messages import Message, catalogue

EN = catalogue("en")


@cache
def formats(key: str) -> dict[str, str]:
    """How a text of the catalogue writes the values that it names."""
    found = EN.text(key)
    texts = [found] if isinstance(found, str) else found.values()
    parsed = (part for text in texts for part in string.Formatter().parse(text))
    return {name: form for _, name, form, _ in parsed if name and form}


def named(message: Message) -> Iterator[tuple[str, str, Any]]:
    """Every value that a message writes as a number: where, in which format, and what."""
    for name, value in message.values.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, Message):
                yield from named(one)
            elif isinstance(one, float) and name in formats(message.key):
                yield f"{message.key} {name}", formats(message.key)[name], one


def said(assessment: Any) -> Iterator[tuple[str, str, Any]]:
    """All numbers in sentences, captions, checks, verdicts and tables."""
    messages = [o.message for o in assessment.checks] + [v.reason for v in assessment.verdicts]
    for part in (part for finding in assessment.findings for part in finding.parts):
        messages += [*part.finding, *(m for figure in part.figures for m in (figure.caption, figure.alt))]
        for table in part.tables:
            if isinstance(table, PlainTable):
                for row in table.rows:
                    for column, cell in zip(table.columns, row, strict=True):
                        value = cell.value if isinstance(cell, Estimate) else cell
                        if isinstance(value, float) and column.format != "text":
                            yield f"{table.id} {column.header.key}", column.format, value
    for message in messages:
        yield from named(message)


@pytest.mark.parametrize("example", ["knee-mri", "factory", "breast-recurrence", "vigilance-audit"])
def test_a_number_has_the_digits_of_its_result_in_every_sentence_and_table(
    example: str, assessed_example: Callable[[str], Assessment]
) -> None:
    assessment = assessed_example(example)
    own: dict[float, set[int]] = {}
    for r in assessment.results:
        for x in (r.estimate.value, r.estimate.low, r.estimate.high):
            places = places_in(x)
            if places is not None and r.unit != "count":
                own.setdefault(float(x), set()).add(places)
    # A number that a person declared may be that of a result by chance.
    declared = {x for x in own if x == round(x, 2)}
    wrong = []
    for where, form, x in said(assessment):
        if places_in(x) is None and x in own and x not in declared:
            written = {EN.numbers.write(Rounded(x, places), form) for places in own[x]}
            if EN.numbers.write(x, form) not in written:
                wrong.append(f"{where}: {EN.numbers.write(x, form)}, not {written}")
    assert not wrong, "\n".join(wrong)
