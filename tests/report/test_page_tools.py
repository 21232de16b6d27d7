"""Links, copies and sorting on the page of the reports, on a desktop and on a phone."""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
EXAMPLES = ("certification-dossier", "procurement-triage")


@pytest.fixture(params=[(name, size) for name in EXAMPLES for size in SIZES], ids="-".join)
def page(request: pytest.FixtureRequest, browser: Any, example: Callable[[str], Path]) -> Iterator[Any]:
    name, size = request.param
    context = browser.new_context(viewport=SIZES[size], accept_downloads=True)
    shown = context.new_page()
    shown.goto((example(name) / "report.html").as_uri())
    yield shown
    context.close()


def test_each_heading_table_figure_check_and_verdict_has_a_link(page: Any) -> None:
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))
    assert page.locator("main :is(h1, h2, h3, h4, table, figure):not([id])").count() == 0
    for kind in ("section h2", "h3", "h4", "caption", "figcaption", ".forest tr[id] > th", "#found li[id]"):
        n = page.locator(f"main {kind}").count()
        links = page.locator(f"main {kind} > .here")
        assert links.count() == n > 0, kind
    first = page.locator("#found li[id] > .here").first
    assert first.get_attribute("aria-label") == "Link to this place"
    assert first.get_attribute("href").startswith("#check-P")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    first.click()
    assert page.evaluate("navigator.clipboard.readText()").endswith(first.get_attribute("href"))


def test_a_check_of_page_1_leads_to_its_own_line(page: Any) -> None:
    links = page.locator(".ranked a[href^='#check-']")
    assert links.count() > 0 or "procurement" in page.url  # its first limits are of candidates, not of checks
    for i in range(links.count()):
        check = links.nth(i).get_attribute("href").removeprefix("#check-")
        assert f"({check})" in page.locator(f"#check-{check}").inner_text()


def test_a_table_is_copied_as_csv_or_saved(page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.locator(".scroll:has(.forest) + .act")
    button.click()
    page.locator(".tip").filter(has_text="Copied").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert text.count("\r\n") == len(rows)
    heads = page.locator(".forest thead th").all_inner_texts()
    assert rows[0] == [head.strip() for head in heads]
    assert len(rows) == page.locator(".forest tr").count()
    printed = page.locator(".forest tr[id] .verdict").first.inner_text()
    assert rows[2][-1] == printed
    assert "#" not in "".join(rows[2])
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')) }")
    with page.expect_download() as saved:
        button.click()
    assert saved.value.suggested_filename.endswith(".csv")
    assert Path(saved.value.path()).read_bytes().decode() == text


def test_rows_that_leave_out_a_name_have_it_in_the_copy_and_when_sorted(page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    table = page.locator("#table-P-1")
    page.locator(".scroll:has(#table-P-1) + .act").click()
    page.locator(".tip").filter(has_text="Copied").wait_for()
    rows = list(csv.reader(io.StringIO(page.evaluate("navigator.clipboard.readText()"), newline="")))
    names = [name for name, *_ in rows]
    assert all(names)
    assert names.count("sex") == 2
    table.locator("thead button").nth(1).click()
    (female, male) = table.locator("tbody tr", has=page.get_by_role("cell", name="male")).all()
    assert [one.locator("th").inner_text() for one in (female, male)] == ["sex", "sex"]


def test_a_figure_is_saved_as_png_with_its_fonts_on_white(page: Any) -> None:
    from PIL import Image

    page.emulate_media(color_scheme="dark")
    figure = page.locator(".chapter > .element figure, .chapter > .dimension figure").first
    with page.expect_download() as saved:
        figure.locator(".act").first.click()
    assert saved.value.suggested_filename == f"{figure.get_attribute('id')}.png"
    of_svg = "({ viewBox: { baseVal: { width, height } } }) => [width, height]"
    size = figure.locator("svg").first.evaluate(of_svg)
    with Image.open(saved.value.path()) as picture:
        assert picture.size == tuple(int(2 * one) for one in size)
        colours = picture.convert("RGB").getcolors(1 << 24)
    white = sum(n for n, colour in colours if colour == (255, 255, 255))
    assert 0.4 < white / (picture.size[0] * picture.size[1]) < 0.995
    assert min(sum(colour) for _, colour in colours) < 200  # ink of the light page


def test_the_criteria_of_page_1_are_sorted_across_their_groups(page: Any) -> None:
    rows = page.locator(".forest tr[id]")
    before = rows.evaluate_all("all => all.map(row => row.id)")
    heads = page.locator(".forest .group-head").count()
    button = page.locator(".forest thead th button").last
    button.click()
    said = page.locator(".forest tr[id] .verdict").all_inner_texts()
    assert said == sorted(said, key=str.lower)
    assert page.locator(".forest .group-head:visible").count() == 0
    button.click()
    button.click()
    assert rows.evaluate_all("all => all.map(row => row.id)") == before
    assert page.locator(".forest .group-head:visible").count() == heads
