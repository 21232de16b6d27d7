"""What the page lets a reader explore: as printed where nothing is changed, and marked where something is."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trustreport.vocabulary.messages import catalogue

pytestmark = pytest.mark.slow
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
EXAMPLES = ("certification-dossier", "procurement-triage")
SHARES = ("sensitivity", "specificity", "ppv", "npv")


@pytest.fixture(params=[(name, size) for name in EXAMPLES for size in SIZES], ids="-".join)
def shown(request: pytest.FixtureRequest, browser: Any, example: Callable[[str], Path]) -> Iterator[Any]:
    name, size = request.param
    folder = example(name)
    page = browser.new_page(viewport=SIZES[size])
    page.goto((folder / "report.html").as_uri())
    yield page, folder
    page.close()


def results_of(folder: Path, **scope: Any) -> dict[str, dict[str, Any]]:
    """The primary results of the accuracy of one data set and candidate, by quantity."""
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return {
        r["quantity"]: r
        for r in data["results"]
        if r["primary"]
        and r["id"].startswith("advice_accuracy.")
        and {k: v for k, v in r["scope"].items() if k != "analysis"} == scope
    }


def written(r: dict[str, Any], n: float) -> str:
    """An estimate as the tables of a report print it."""
    places = 1 if n >= 100 else 0
    value, low, high = (catalogue().numbers.percent(r[key], places) for key in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def cells(page: Any, name: str) -> list[str]:
    found: list[str] = page.locator(f"[data-row={name}] td").all_inner_texts()
    return found


def scopes(page: Any) -> list[dict[str, str]]:
    names = page.locator("#explore option").all_inner_texts()
    keys = ("dataset", "candidate")
    return [dict(zip(keys, name.split(", "))) for name in names]


def test_unchanged_it_shows_what_was_tested(shown: Any) -> None:
    page, folder = shown
    for i, scope in enumerate(scopes(page)):
        page.locator("#explore select").select_option(index=i)
        results = results_of(folder, **scope)
        for name in SHARES:
            said = written(results[name], results[name]["n"])
            assert cells(page, name) == [said, said], (scope, name)
        assert page.locator(".explored-state").inner_text().startswith("Nothing is changed")


def test_at_the_declared_prevalence_it_shows_the_printed_predictive_values(shown: Any) -> None:
    page, folder = shown
    for i, scope in enumerate(scopes(page)):
        page.locator("#explore select").select_option(index=i)
        page.locator("#explore button[value]").click()
        share = float(page.locator("#explore button[value]").get_attribute("value"))
        results = results_of(folder, **scope, parameters={"prevalence": share})
        for name in ("ppv", "npv"):
            assert cells(page, name)[1] == written(results[name], results[name]["n"]), (scope, name)
        assert "not part of the verdicts" in page.locator(".explored-state").inner_text()
        page.locator("#explore button[type=reset]").click()
        assert page.locator(".changed").count() == 0


def test_the_counts_and_the_worth_follow_from_the_shares(shown: Any) -> None:
    page, folder = shown
    (scope, *_) = scopes(page)
    results = results_of(folder, **scope)
    sensitivity, specificity = results["sensitivity"]["value"], results["specificity"]["value"]
    page.locator("[name=prevalence]").fill("10")
    alarms, missed = (float(cells(page, name)[1].split(" ")[0]) for name in ("alarms", "missed"))
    assert alarms == round(100 * sensitivity + 900 * (1 - specificity))
    assert missed == round(100 * (1 - sensitivity))
    if folder.name.endswith("certification-dossier"):
        odds = 0.2 / 0.8
        worth = 0.1 * sensitivity - odds * 0.9 * (1 - specificity)
        assert cells(page, "net_benefit")[1].startswith(f"{worth:.3f} (")
        page.locator("#explore button[value]").click()  # 27%
        assert cells(page, "change")[1] == "4.6 (0.9 to 8.2)"
        assert cells(page, "nnd")[1] == "22 (12 to 106)"


def test_the_net_benefit_as_tested_has_the_interval_of_the_report(shown: Any) -> None:
    page, folder = shown
    for i, scope in enumerate(scopes(page)):
        page.locator("#explore select").select_option(index=i)
        found = results_of(folder, **scope, threshold=0.2).get("net_benefit")
        if found is None:  # no probabilities, no net benefit
            assert not page.locator("[data-row=net_benefit]").is_visible()
            continue
        value, low, high = (f"{found[key]:.3f}" for key in ("value", "low", "high"))
        assert cells(page, "net_benefit") == [f"{value} ({low} to {high})"] * 2


def test_the_sliders_have_names_and_say_their_values(shown: Any) -> None:
    page, _ = shown
    prevalence = page.get_by_role("slider", name="Prevalence")
    prevalence.fill("12")
    assert page.locator("#explore output").last.inner_text() == "12.0%"
    threshold = page.get_by_role("slider", name="Threshold", include_hidden=True)
    assert threshold.count() == 1
    if threshold.is_visible():
        threshold.press("ArrowRight")
        said = page.locator("#explore output").first.inner_text()
        assert threshold.get_attribute("aria-valuetext") == said != "0.2"


def test_another_threshold_changes_no_verdict(browser: Any, example: Callable[[str], Path]) -> None:
    page = browser.new_page(viewport=SIZES["desktop"])
    page.goto((example("certification-dossier") / "report.html").as_uri())
    verdicts = page.locator("main > :not(.explore) .verdict").all_inner_texts()
    before = cells(page, "sensitivity")
    slider = page.locator("[name=threshold]")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    after = cells(page, "sensitivity")
    assert after[0] == before[0]
    as_tested, moved = (float(text.split("%")[0]) for text in after)
    assert moved < as_tested
    as_tested, moved = (float(text.split("%")[0]) for text in cells(page, "specificity"))
    assert moved > as_tested
    assert page.locator("main > :not(.explore) .verdict").all_inner_texts() == verdicts
    page.locator("#explore select").select_option(index=1)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.locator("[name=prevalence]").fill("5")
    page.wait_for_url(lambda url: "prevalence=0.05" in url)  # the browser tells of it a moment later
    state, said = page.url, page.locator("#explore-table").inner_text()
    page.locator(".here").first.click()
    # A place of the page keeps what is explored.
    page.wait_for_url(lambda url: "prevalence=0.05" in url and "answer-title" in url)
    page.close()
    page = browser.new_page(viewport=SIZES["phone"])
    page.goto(state)
    assert page.locator("#explore-table").inner_text() == said
    page.locator("#explore button[type=reset]").click()
    assert "prevalence" not in page.url
    assert "threshold" not in page.url
    page.close()


def test_only_one_set_is_shown_where_rows_name_one(shown: Any) -> None:
    page, _ = shown
    chosen = page.locator(".tools [name=only]")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    kind = chosen.locator("optgroup").last
    names = kind.locator("option").all_text_contents()
    value = names[0]
    first = "row => [...row.cells].map(cell => cell.innerText.split('\\n')[0].trim())"
    chosen.evaluate("(one, value) => { one.value = value; one.dispatchEvent(new Event('change')) }", value)
    rows = page.locator("main tbody tr:visible").evaluate_all(f"rows => rows.map({first})")
    for row in rows:
        assert value in row or not set(names[1:]) & set(row[:1]), row
    assert page.locator(".elsewhere").count() > 0
    assert value in page.locator(".tools output").last.text_content()
    assert f"only={value.split(':')[0]}" in page.url
    state = page.url
    page.goto("about:blank")
    page.goto(state)
    assert page.locator(".elsewhere").count() > 0
    chosen.evaluate("one => { one.value = ''; one.dispatchEvent(new Event('change')) }")
    assert page.locator(".elsewhere").count() == 0


def test_no_other_group_is_left_where_one_is_chosen(shown: Any) -> None:
    page, _ = shown
    chosen = page.locator(".tools [name=only]")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    groups = chosen.locator("optgroup[label=Groups] option").all_text_contents()
    assert any(name.startswith("age group: ") for name in groups)
    heads = """rows => rows.filter(row => row.checkVisibility())
        .map(row => [...row.cells].slice(0, 2).map(cell => cell.textContent.replaceAll('_', ' ').trim()))"""
    rows = page.locator("main tbody tr").evaluate_all(heads)
    assert any(set(groups) & set(row) for row in rows)
    for value in groups:
        choose = "(one, value) => { one.value = value; one.dispatchEvent(new Event('change')) }"
        chosen.evaluate(choose, value)
        left = page.locator("main tbody tr").evaluate_all(heads)
        assert {name for row in left if value not in row for name in row} & set(groups) == set(), value
        assert any(value in row for row in left), value
