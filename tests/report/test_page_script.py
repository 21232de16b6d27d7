"""What the script of the page does in a browser, and that the page is complete without it."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
IN_VIEW = """one => {
    const { top, bottom } = one.getBoundingClientRect()
    return bottom > 0 && top < innerHeight
}"""
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def report(example: Callable[[str], Path]) -> Path:
    return example("procurement-triage") / "report.html"


@contextmanager
def opened(browser: Any, report: Path, **how: Any) -> Iterator[Any]:
    page = browser.new_page(**{"viewport": DESKTOP, **how})
    page.goto(report.as_uri())
    yield page
    page.close()


def test_without_the_script_everything_is_there_and_nothing_promises_more(browser: Any, report: Path) -> None:
    whole = "document.querySelector('main').textContent.replace(/\\s+/g, ' ')"
    with opened(browser, report) as page:
        with_script = page.evaluate(whole)
        assert page.locator("th button").count() > 20
    with opened(browser, report, java_script_enabled=False, viewport=PHONE) as page:
        assert page.locator("button").count() == 0
        assert page.locator("svg g > title").count() > 10
        assert page.locator("main svg").first.is_visible()
        page.locator(".bar a[href='#contents']").click()
        page.wait_for_url(lambda url: url.endswith("#contents"))
        page.locator(".bar a[href='#top']").click()
        page.wait_for_url(lambda url: url.endswith("#top"))
        without = page.evaluate(whole)
    # Titles of marks are what the script takes over, tools what it brings.
    assert len(without) > 0.9 * len(with_script)


def column(page: Any, table: str, i: int) -> list[str]:
    rows = page.locator(f"#{table} tbody tr")
    found: list[str] = rows.evaluate_all("(rows, i) => rows.map(row => row.cells[i].textContent.trim())", i)
    return found


def values(texts: list[str]) -> list[float]:
    return [float(text.replace("\u2212", "-").replace(",", "").split()[0].rstrip("%")) for text in texts]


def test_a_column_of_numbers_is_sorted_by_number_and_then_as_it_was(browser: Any, report: Path) -> None:
    with opened(browser, report) as page:
        table = page.evaluate(
            """[...document.querySelectorAll('.scroll > table[id]')].find(table =>
                table.tBodies[0].rows.length > 8 && table.querySelector('td.same')).id"""
        )
        page.get_by_role("button", name="Open all").click()
        before, methods = column(page, table, 1), column(page, table, 4)
        head = page.locator(f"#{table} thead th").nth(1)
        for way, turned in (("ascending", False), ("descending", True)):
            head.locator("button").click()
            assert head.get_attribute("aria-sort") == way
            found = values([text for text in column(page, table, 1) if any(map(str.isdigit, text))])
            assert found == sorted(found, reverse=turned)
        # A row that has moved says its method itself.
        assert not any(text == "same" or text.startswith("same") for text in column(page, table, 4))
        assert any(text.startswith("same") for text in methods)
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "none"
        assert column(page, table, 1) == before
        page.locator(f"#{table} thead button").first.click()
        assert head.get_attribute("aria-sort") == "none"
        names = column(page, table, 0)
        assert names == page.evaluate(
            "names => [...names].sort((a, b) => a.localeCompare(b, 'en', {numeric: true}))", names
        )


def test_search_goes_from_hit_to_hit_and_hides_nothing(browser: Any, report: Path) -> None:
    with opened(browser, report) as page:
        said, field = page.locator(".tools output").first, page.get_by_label("Search this report")
        field.fill("cedar SENSITIVITY")
        assert said.inner_text().startswith("Hit 1 of ")
        assert said.inner_text() == page.locator(".hits output").inner_text()
        n = int(said.inner_text().split()[-1])
        assert n > 3
        assert page.evaluate("CSS.highlights.get('hits').size") > n
        assert page.locator("#answer .hit").count() == 1  # page 1 is searched
        assert page.locator("main > :not(.explore) [hidden]").count() == 0
        for i in range(1, n + 1):
            assert said.inner_text() == f"Hit {i} of {n}"
            assert page.locator(".hit").count() == 1
            assert page.locator(".hit").evaluate(IN_VIEW)
            page.keyboard.press("Enter") if i % 2 else page.get_by_role("button", name="Next").click()
            field.focus()
        assert said.inner_text() == f"Hit 1 of {n}"
        page.get_by_role("button", name="Previous").click()
        assert said.inner_text() == f"Hit {n} of {n}"
        assert page.locator("details.annex[open]").count()
        page.keyboard.press("Escape")
        assert field.input_value() == ""
        assert page.locator(".hit, .hits:not([hidden])").count() == 0
        assert page.evaluate("CSS.highlights.get('hits').size") == 0
        field.fill("nothing is called like this")
        assert said.inner_text() == "Nothing found"
        page.get_by_role("button", name="End search").click()
        assert said.inner_text() == ""


def test_all_details_open_and_close(browser: Any, report: Path) -> None:
    with opened(browser, report) as page:
        n = page.locator("main details").count()
        assert n
        page.get_by_role("button", name="Open all").click()
        assert page.locator("main details[open]").count() == n
        page.get_by_role("button", name="Close all").click()
        assert page.locator("main details[open]").count() == 0


def test_a_mark_says_its_value_to_the_pointer_and_to_the_keyboard(browser: Any, report: Path) -> None:
    with opened(browser, report) as page:
        page.get_by_role("button", name="Open all").click()
        drawing = page.locator(".drawing:has([data-said])").first
        drawing.scroll_into_view_if_needed()
        marks, tip = drawing.locator("g[data-said]"), page.locator(".tip")
        wanted = [marks.nth(i).get_attribute("data-said") for i in range(marks.count())]
        assert len(set(wanted)) == len(wanted) > 2
        marks.nth(1).hover(force=True)
        assert tip.inner_text() in wanted
        assert drawing.locator(".on").count() == 1
        page.mouse.move(0, 0)
        assert not tip.is_visible()
        drawing.evaluate("one => one.focus()")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        assert tip.inner_text() == f"{len(wanted)} marks: the arrow keys go from one to the next"
        assert tip.get_attribute("role") == "status"
        told = []
        for _ in wanted:
            page.keyboard.press("ArrowRight")
            told.append(tip.inner_text())
        assert told == [" ".join(text.split(" ")) for text in wanted]
        page.keyboard.press("ArrowLeft")
        assert tip.inner_text() == told[-2]
        page.keyboard.press("Escape")
        assert not tip.is_visible()
        assert drawing.locator("svg").get_attribute("aria-label").startswith("Figure ")


def test_the_contents_are_a_drawer_on_a_phone(browser: Any, report: Path) -> None:
    with opened(browser, report, viewport=PHONE) as page:
        drawer = page.get_by_role("dialog", name="Contents")
        assert not drawer.is_visible()
        page.locator(".bar").get_by_text("Contents").click()
        assert drawer.is_visible()
        page.keyboard.press("Escape")
        assert not drawer.is_visible()
        page.locator(".bar").get_by_text("Contents").click()
        drawer.get_by_label("Search this report").fill("sensitivity")
        page.keyboard.press("Enter")
        assert not drawer.is_visible()
        page.locator(".bar").get_by_text("Contents").click()
        links = drawer.locator("ol a")
        assert links.count() == page.locator("nav.contents a").count()
        last = links.last.get_attribute("href")
        links.last.click()
        assert not drawer.is_visible()
        page.wait_for_url(lambda url: url.endswith(str(last)))
        page.set_viewport_size(DESKTOP)
        assert page.locator("nav.contents .tools").is_visible()


def test_a_link_opens_what_it_leads_into(browser: Any, report: Path) -> None:
    with opened(browser, report) as page:
        place = page.locator("main details .scroll").first
        place.evaluate("one => { one.id = 'inside' }")
        assert not place.is_visible()
        page.evaluate("location.hash = '#inside'")
        place.wait_for(state="visible")


def test_print_has_the_annex_and_no_tools(browser: Any, report: Path) -> None:
    for how in ({}, {"java_script_enabled": False}):
        with opened(browser, report, **how) as page:
            page.emulate_media(media="print")
            assert page.locator(".chapter").first.is_visible()
            annex = page.locator("details.annex .chapter")
            assert annex.count() > 5
            for i in range(annex.count()):
                assert annex.nth(i).bounding_box()["height"] > 20
            for hidden in (".tools", ".bar", ".act", ".here", ".hits"):
                assert not any(one.is_visible() for one in page.locator(hidden).all())
            entries = page.locator("nav.contents .annex-entry a")
            linked = entries.evaluate_all("all => all.map(a => a.hash.slice(1))")
            assert linked == annex.evaluate_all("all => all.map(one => one.id)")
            # What is explored is not printed, and no entry of the contents leads there.
            assert not page.locator("nav.contents [href='#explore']").is_visible()
            made = subprocess.run(["pdftotext", "-", "-"], input=page.pdf(), capture_output=True, check=True)
            printed = " ".join(made.stdout.decode().split())
            captions = annex.locator("caption > b").all_text_contents()
            assert len(captions) > 20
            assert [caption for caption in captions if caption not in printed] == []
