"""Tables of page 1 and at a glance on a phone: each row a card within the window; on a desktop a table."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import STRUCTURE, violations

pytestmark = pytest.mark.slow
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
EXAMPLES = ("certification-dossier", "vigilance-audit", "procurement-triage", "planned-change")
CARDS = "#answer .cards"
# What lies beyond the window or beyond what its table shows of itself.
BEYOND = """
() => [...document.querySelectorAll(':is(#answer, #glance) :is(th, td, .verdict, svg)')].filter(one => {
    const box = one.getBoundingClientRect()
    const shown = one.closest('.scroll, section').getBoundingClientRect()
    const [left, right] = [Math.max(shown.left, 0), Math.min(shown.right, innerWidth)]
    return box.left < left - 1 || box.right > right + 1
}).map(one => one.textContent)
"""
# Of each row with a verdict: where its parts begin, and how high a line is.
LAID_OUT = """
() => [...document.querySelectorAll('#answer .cards tr:has(.judged)')].map(row => {
    const part = name => row.querySelector(name).getBoundingClientRect()
    const others = [...row.querySelectorAll('[data-label]:not(.estimate)')]
    const line = parseFloat(getComputedStyle(row).lineHeight)
    return {name: part('th'), verdict: part('.verdict'), estimate: part('.estimate'), drawn: part('.drawn'),
            others: others.map(one => one.getBoundingClientRect()), line}
})
"""


@pytest.fixture(params=EXAMPLES)
def page(request: pytest.FixtureRequest, browser: Any, example: Callable[[str], Path]) -> Iterator[Any]:
    """The page of an example on a phone."""
    shown = browser.new_page(viewport=PHONE)
    shown.goto((example(request.param) / "report.html").as_uri())
    yield shown
    shown.close()


def test_on_a_phone_a_card_begins_with_name_verdict_and_estimate(page: Any) -> None:
    assert page.evaluate(BEYOND) == []
    rows = page.evaluate(LAID_OUT)
    assert rows
    for row in rows:
        assert row["name"]["top"] <= row["verdict"]["top"] < row["name"]["top"] + row["line"] / 2
        assert row["verdict"]["left"] >= row["name"]["right"]
        assert row["estimate"]["top"] >= row["name"]["bottom"]
        for later in (*row["others"], row["drawn"]):
            assert later["top"] >= row["estimate"]["bottom"] - 1


def test_on_a_desktop_tables_of_many_columns_fit_in_the_report(page: Any) -> None:
    page.set_viewport_size(DESKTOP)
    wider = """all => all.filter(one => !one.closest('details:not([open])'))
        .filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"""
    assert page.locator(".chapter .scroll:has(.dense)").evaluate_all(wider) == []


def test_a_row_is_a_row_and_says_the_same_however_it_is_laid_out(page: Any) -> None:
    roles = ("table", "row", "columnheader", "rowheader", "cell")
    of_roles = [page.locator(CARDS).get_by_role(role).count() for role in roles[1:]]
    texts = page.locator(f"{CARDS} tbody").all_text_contents()
    assert violations(page, {**STRUCTURE, "runOnly": ["wcag2a", "wcag2aa"]}) == []
    for label in page.locator(f"{CARDS} [data-label]").all():
        assert label.get_attribute("data-label")
    page.set_viewport_size(DESKTOP)
    assert page.evaluate(BEYOND) == []
    assert [page.locator(CARDS).get_by_role(role).count() for role in roles[1:]] == of_roles
    assert min(of_roles) > 0
    assert page.locator(f"{CARDS} tbody").all_text_contents() == texts
    for row in page.evaluate(LAID_OUT):
        assert row["name"]["top"] <= row["estimate"]["top"] == row["drawn"]["top"]
        assert row["name"]["right"] <= row["estimate"]["left"] < row["drawn"]["left"] < row["verdict"]["left"]


def test_each_card_of_a_phone_has_the_numbers_of_its_axis(page: Any) -> None:
    shown = """all => all.map(one => {
        const box = one.querySelector('text').getBoundingClientRect()
        const card = one.closest('tr').getBoundingClientRect()
        return getComputedStyle(one).overflow === 'visible' && box.bottom <= card.bottom + 1
    })"""
    drawn = page.locator(f"{CARDS} .forest-row:has(path)")
    assert all(drawn.evaluate_all(shown))
    page.set_viewport_size(DESKTOP)
    below = page.locator(f"{CARDS} .forest-row:has(.below)")
    assert set(below.evaluate_all("all => all.map(one => getComputedStyle(one).overflow)")) <= {"hidden"}


@pytest.mark.parametrize("page", ["certification-dossier"], indirect=True)
def test_on_a_desktop_the_values_of_figures_and_declared_fields_fit_too(page: Any) -> None:
    page.set_viewport_size(DESKTOP)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    wider = """() => [...document.querySelectorAll('.scroll:has(.values, .declared)')]
        .filter(one => one.querySelectorAll('thead tr:last-child th').length < 10)
        .filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"""
    assert page.evaluate(wider) == []
