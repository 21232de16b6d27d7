"""Every page for everybody: axe-core finds no violation, light and dark; phone width; the keyboard."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from pages import Shown
from services import PASSWORD

from tests.browsing import all_violations
from trustreport.service.guide.steps import STEPS

PLANNED = "endpoint=auc&effect=0.1&expected=0.75&readers=4,8&cases=50,100&structure=HL"
LOOKS = {"light": (1280, "light"), "dark": (390, "dark")}


def addresses(names: dict[str, str]) -> list[str]:
    """Every kind of page, and those that look otherwise in another state."""
    return [
        "/",
        "/search?q=e",
        "/removed",
        "/studies",
        "/studies?q=nowhere",
        "/studies/new",
        f"/studies/{names['study']}",
        f"/studies/{names['locked']}",
        *(f"/studies/{names[kind]}/criteria" for kind in ("open", "changed", "waiting")),
        f"/versions/{names['changed_version']}",
        f"/collaborations/{names['collaboration']}",
        f"/versions/{names['version']}",
        f"/versions/{names['wrong']}",
        f"/versions/{names['wrong']}/edit",
        *(f"/versions/{names['wrong']}/guide/{step}" for step in STEPS),
        f"/versions/{names['version']}/guide/criteria",
        f"/versions/{names['audit']}/period",
        *(f"/versions/{names['blank_version']}/guide/{step}" for step in ("files", "criteria")),
        f"/versions/{names['open_version']}",
        f"/versions/{names['open_version']}/guide/files",
        f"/jobs/{names['queued']}",
        "/reports",
        "/reports?signed=approval&since=2026-01-01",
        f"/reports/{names['report1']}",
        f"/comparison?old={names['report0']}&new={names['report1']}",
        "/devices",
        f"/devices/{names['device']}",
        f"/devices/{names['device']}/incidents",
        f"/incidents/{names['incident']}",
        f"/incidents/{names['signal']}",
        f"/planning?{PLANNED}",
        "/planning?effect=much",
        "/calculator",
        "/audit?verify=yes",
        "/admin/users",
        f"/admin/users/{names['user']}",
        "/admin/tokens",
        "/admin/organisation",
        "/admin/webhooks",
        f"/admin/webhooks/{names['webhook']}",
        "/account",
        "/api/docs",
        "/studies/nothing",
    ]


@pytest.fixture
def page(browser: Any, shown: Shown, request: pytest.FixtureRequest) -> Iterator[Any]:
    width, scheme = LOOKS[getattr(request, "param", "light")]
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened = context.new_page()
    opened.goto(f"{shown.url}/sign-in")
    yield opened
    context.close()


def sign_in(page: Any) -> None:
    page.fill("[name=email]", "anna@hospital.test")
    page.fill("[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/")


@pytest.mark.parametrize("page", LOOKS, indirect=True)
def test_axe_finds_no_violation_on_any_page(page: Any, shown: Shown) -> None:
    found: dict[tuple[str, str], Any] = {}
    faults: list[str] = []
    page.on("console", lambda m: faults.append(m.text) if "Security Policy" in m.text else None)

    def look(address: str) -> None:
        page.goto(shown.url + address, wait_until="domcontentloaded")
        page.evaluate("for (const d of document.querySelectorAll('details')) { d.open = true; }")
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        if wide > 0:
            found[address, "wider than its window"] = wide
        top = page.evaluate(
            "document.querySelector('header.bar').getBoundingClientRect().top + window.scrollY"
        )
        if top != 0:
            found[address, "head is not at the top"] = top
        found.update(((address, rule), places) for rule, places in all_violations(page))

    look("/sign-in")
    look("/invitation")
    look("/shared")
    look("/forgotten")
    page.goto(f"{shown.url}/shared#{shown.names['link']}")
    page.wait_for_url(re.compile(r"/shared/\w{26}$"))
    look(urlsplit(page.url).path)
    look("/site")
    page.goto(f"{shown.url}/site#{shown.names['site_link']}")
    page.wait_for_url(re.compile(r"/site/\w{26}$"))
    look(urlsplit(page.url).path)
    page.goto(f"{shown.url}/sign-in")
    sign_in(page)
    for address in addresses(shown.names):
        look(address)
    assert found == {}
    assert faults == []


def test_the_keyboard_reaches_everything(page: Any, shown: Shown) -> None:
    sign_in(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.locator("#content:focus").wait_for()
    page.goto(f"{shown.url}/versions/{shown.names['wrong']}")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        here = page.evaluate_handle("document.activeElement")
        if here.evaluate("node => node == document.body"):
            break  # once round
        reached.add(here.evaluate("node => node.id || node.textContent.trim()"))
        seen = here.evaluate("node => getComputedStyle(node).outlineStyle != 'none'")
        assert seen, here.evaluate("node => node.outerHTML")
    assert {"file-0", "more", "Check again", "readings.csv"} <= reached


def test_a_table_that_is_chosen_shows_its_columns_and_a_problem_leads_to_its_field(
    page: Any, shown: Shown
) -> None:
    sign_in(page)
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto(f"{shown.url}/versions/{shown.names['wrong']}/edit")
    page.get_by_role("button", name="Add: Tables").click()
    page.fill("[name='/tables/+0/@name']", "second")
    page.select_option("[name='/tables/+0/kind']", "readings")
    page.select_option("[name='/tables/+0/file']", "readings.csv")
    page.locator("[name='/tables/+0/columns/truth']").wait_for()
    assert page.input_value("[name='/tables/+0/@name']") == "second"
    assert asked == []  # nothing is lost, so nobody is warned
    page.evaluate("for (const d of document.querySelectorAll('details')) { d.open = false; }")
    page.locator("[data-problems] a").first.click()
    page.locator("[name^='/tables/']:focus").wait_for()


def test_a_search_answers_as_one_types(page: Any, shown: Shown) -> None:
    sign_in(page)
    page.goto(f"{shown.url}/studies")
    page.type("#q", "faults")
    page.wait_for_url("**/studies?q=faults")
    page.locator("#list tbody tr").nth(1).wait_for(state="detached")
    assert "With faults" in page.locator("#list tbody").inner_text()
    assert page.evaluate("document.activeElement.id") == "q"
    page.fill("#q", "nowhere")
    page.get_by_text("No study has").wait_for()


def test_v14_3_1_a_session_that_ends_leaves_no_open_page(page: Any, shown: Shown) -> None:
    """Of another tab, when one signs out; of any, when nobody has used it for too long, with no server."""
    sign_in(page)
    other = page.context.new_page()
    other.clock.install()
    for tab in (page, other):
        tab.goto(f"{shown.url}/studies/{shown.names['study']}")
        assert "Chest readings" in tab.inner_text("body")
    other.clock.fast_forward("59:00")
    assert "Chest readings" in other.inner_text("body")
    page.reload()  # one is here still
    other.clock.fast_forward("02:00")
    assert "Chest readings" in other.inner_text("body")
    other.context.set_offline(True)
    other.clock.fast_forward("01:01:00")
    other.get_by_text("Your session has ended").wait_for()
    assert "Chest readings" not in other.content()
    other.context.set_offline(False)
    for tab in (page, other):  # one clock for both: the first has ended as well
        tab.goto(f"{shown.url}/studies/{shown.names['study']}")
    page.get_by_role("button", name="Sign out").click()
    other.get_by_text("Your session has ended").wait_for()
    assert "Chest readings" not in other.content()
