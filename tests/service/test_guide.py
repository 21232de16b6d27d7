"""A study described in five steps: a draft that is kept, criteria in words, what is missing, page 1."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import HTML, Taken, get, post, right
from scipy.stats import binom
from services import API, Client, stored
from statsmodels.stats.proportion import proportion_confint

from trustreport.service.core import Core
from trustreport.service.editor.draft_facts import chance_of_share
from trustreport.service.editor.edit_task import edit
from trustreport.service.editor.field_values import in_points
from trustreport.service.editor.measures import measure_groups
from trustreport.service.editor.yaml_edits import plain
from trustreport.service.guide.criteria import OF_DEVICE, OF_READERS
from trustreport.service.guide.criteria import stored as stored_bound
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Draft
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.quantities import ROWS, is_named

EXAMPLES = Path(__file__).parents[2] / "examples"
SCORES = "case,truth,score\n" + "".join(f"C{i},{i % 2},0.{i % 9 + 1}\n" for i in range(40))


def begun(core: Core, anna: Client, *files: tuple[str, str]) -> str:
    """The address of the steps of a new study with these tables."""
    sent = [("files", file) for file in files or (("readings.csv", right()),)]
    address = str(post(anna, "/studies/new", "/studies", sent, name="Tables").headers["location"])
    assert WorkerThread(core, "worker").once("check")
    return address.removesuffix("/files")


def send(client: Client, address: str, act: str, language: str = "en", **typed: str) -> Any:
    """Send a step as its page would, with what was typed."""
    headers = {**HTML, "Accept-Language": language}
    page = Taken(client.get(address, headers=headers).text)
    left_out = ("@add/", "@watch/", "@was:", "@kind:", "@plan/")
    hidden = {name: value for name, value in page.form(address).items() if name.startswith("@")}
    fields = {name: value for name, value in hidden.items() if not name.startswith(left_out)}
    sent = {**fields, "csrf": client.me["csrf"], **typed, "act": act}
    return client.post(address, data=sent, headers=headers, follow_redirects=False)


def first_page(client: Client, guide: str, language: str = "en", **typed: str) -> Any:
    """Page 1 as the frame beside the steps asks for it."""
    sent = {"csrf": client.me["csrf"], **typed}
    headers = {**HTML, "Accept-Language": language}
    return client.post(guide.replace("/guide", "/page-1"), data=sent, headers=headers)


def draft(core: Core) -> Any:
    (row,) = stored(core, Draft)
    return plain(row.manifest)


def planned(core: Core, anna: Client) -> str:
    """The address of the steps of a new study without files."""
    address = str(post(anna, "/studies/new", "/studies", name="Plan", start="form").headers["location"])
    assert WorkerThread(core, "worker").once("check")
    return address.removesuffix("/files")


@pytest.mark.parametrize("language", ["en", "de", "fr", "it"])
def test_a_study_without_data_says_what_comes_first(light: Core, anna: Client, language: str) -> None:
    guide, said = planned(light, anna), catalogue(language)
    headers = {**HTML, "Accept-Language": language}
    assert said("guide.plan") in Taken(anna.get(f"{guide}/files", headers=headers).text).words
    send(anna, f"{guide}/files", "to:who", language, **{"@plan/readings": "yes", "@plan/sets": "one, two"})
    made = draft(light)
    assert made["tables"] == {"readings": {"file": "readings.csv"}}
    assert made["arms"] == [{"arm": "unaided", "aided": False}, {"arm": "aided", "aided": True}]
    role = {"role": "external"}
    assert made["datasets"] == [{"dataset": s, "file": f"{s}.csv", **role} for s in ("one", "two")]
    for step in ("files", "who", "arms", "criteria", "device"):
        words = Taken(anna.get(f"{guide}/{step}", headers=headers).text).words
        assert said("guide.no_data_yet") in words
        assert "no data are named" not in words
    files = Taken(anna.get(f"{guide}/files", headers=headers).text)
    assert said("guide.place", file="one.csv") in files.words
    who = Taken(anna.get(f"{guide}/who", headers=headers).text).form(f"{guide}/who")
    assert "/tables/readings/columns/decision" in who  # its header may be named beforehand
    offered = Taken(anna.get(f"{guide}/criteria", headers=headers).text).words
    assert said("guide.template.errors") in offered
    assert said("guide.template.auc") in offered
    first = first_page(anna, guide, language)
    assert (first.status_code, said("guide.no_data_yet") in first.text) == (200, True)


def test_what_was_typed_wrong_is_said_before_there_are_data(light: Core, anna: Client) -> None:
    guide = planned(light, anna)
    send(anna, f"{guide}/files", "to:files", **{"@plan/readings": "yes"})
    send(anna, f"{guide}/arms", "to:arms", **{"/reading/washout_days": "many"})
    words = get(anna, f"{guide}/arms").words
    assert "1 problem to fix" in words
    assert "No data yet" not in words


def test_files_of_announced_test_sets_change_nothing_that_was_fixed(light: Core, anna: Client) -> None:
    work = WorkerThread(light, "worker")
    guide = planned(light, anna)
    send(anna, f"{guide}/files", "to:who", **{"@plan/sets": "one"})
    send(anna, f"{guide}/criteria", "to:device", **{"@add/auc": "yes", "@bound/auc": "0.6"})
    saved = send(anna, f"{guide}/device", "finish", **{"/device/trade_name": "Aid"}).headers["location"]
    assert work.once("check")
    study = anna.get(f"{API}{saved}").json()["study"]
    assert f"/studies/{study}/criteria" in get(anna, saved).links
    assert "Replace study.yaml" not in get(anna, saved).words
    post(anna, f"/studies/{study}/criteria", f"/studies/{study}/criteria")
    tags = get(anna, f"/studies/{study}/criteria").tags
    refreshed = [given["hx-get"] for _, given in tags if "hx-get" in given]
    assert refreshed == [f"/studies/{study}/criteria"]
    assert work.once("check")
    (steps,) = {link for link in get(anna, f"/studies/{study}/criteria").links if "/guide/" in link}
    assert steps in get(anna, steps.removesuffix("/guide/files")).links
    fields = {"csrf": anna.me["csrf"], "name-0": "one.csv", "act": "files"}
    file = {"file-0": ("export 7.csv", SCORES)}
    answer = anna.post(steps, data=fields, files=file, headers=HTML, follow_redirects=False)
    gone = answer.headers["location"]
    assert work.once("check")
    version = gone.removesuffix("/guide/files")
    assert anna.get(f"{API}{version}").json()["state"] == "valid"
    found = anna.get(f"{API}/studies/{study}/criteria").json()
    assert (found["state"], found["withheld"]) == ("locked", [])


def test_criteria_after_the_data_lead_to_the_document_that_fixed_them(light: Core, anna: Client) -> None:
    guide = begun(light, anna)
    page = get(anna, f"{guide}/criteria")
    study = anna.get(f"{API}{guide.removesuffix('/guide')}").json()["study"]
    assert "The data were opened with version 1" in page.words
    assert f"/studies/{study}/criteria#f-document" in page.links


def test_each_step_keeps_a_draft_and_the_last_one_makes_the_version(light: Core, anna: Client) -> None:
    guide = begun(light, anna)
    assert "1. Files" in get(anna, f"{guide}/files").words
    went = send(anna, f"{guide}/files", "to:who", **{"/report/title": "In steps"}).headers["location"]
    assert went == f"{guide}/who"
    assert draft(light)["report"]["title"] == "In steps"
    other = anna.invite("eve@hospital.test", "author")
    assert "In steps" not in other.get(f"{guide}/files", headers=HTML).text
    assert "In steps" in anna.get(f"{guide}/files", headers=HTML).text
    # The form of all fields goes on from there.
    edit_page = get(anna, guide.replace("/guide", "/edit"))
    assert edit_page.form(guide.replace("/guide", "/edit"))["/report/title"] == "In steps"
    saved = send(anna, f"{guide}/device", "finish", **{"/device/trade_name": "Aid"}).headers["location"]
    assert WorkerThread(light, "worker").once("check")
    made = anna.get(f"{API}{saved}").json()
    facts = made["facts"]
    assert (made["state"], facts["title"], facts["trade_name"]) == ("valid", "In steps", "Aid")
    assert stored(light, Draft) == []


def test_a_file_is_made_another_kind_of_table(light: Core, anna: Client) -> None:
    guide = begun(light, anna, ("a.csv", SCORES))
    fields = get(anna, f"{guide}/files").form(f"{guide}/files")
    was = fields["@was:a.csv"]
    changed = {"@was:a.csv": was, "@kind:a.csv": "dataset" if "/tables/" in was else "cases"}
    send(anna, f"{guide}/files", "to:files", **changed)
    made = draft(light)
    if "/tables/" in was:
        (row,) = made["datasets"]
        assert (row["dataset"], row["file"], row["role"]) == ("a", "a.csv", "external")
    else:
        assert made["tables"] == {"cases": {"file": "a.csv", "kind": "cases"}}


def test_what_all_data_sets_share_is_asked_once(light: Core, anna: Client) -> None:
    guide = begun(light, anna, ("one.csv", SCORES), ("two.csv", SCORES))
    page = get(anna, f"{guide}/who")
    assert [tag for tag, given in page.tags if given.get("name") == "/datasets/1/role"] == ["select"]
    assert "C3" in page.words  # the first rows of the files
    send(anna, f"{guide}/who", "to:who", **{"@all/source": "Archive", "@all/sampling": "consecutive"})
    # A page sends every hidden row; the helper sends the last of one name.
    sent = {"csrf": anna.me["csrf"], "@set": ["/datasets/0", "/datasets/1"], "@all/source": "Archive"}
    anna.post(f"{guide}/who", data={**sent, "act": "to:who"}, headers=HTML)
    assert [d.get("source") for d in draft(light)["datasets"]] == ["Archive", "Archive"]


@pytest.mark.parametrize(("language", "typed"), [("en", "82.5"), ("de", "82,5"), ("fr", "82,5 %")])
def test_a_criterion_is_chosen_by_its_sentence_with_the_bound_in_percent(
    light: Core, anna: Client, language: str, typed: str
) -> None:
    guide = begun(light, anna, ("test.csv", SCORES))
    said = catalogue(language)
    page = Taken(anna.get(f"{guide}/criteria", headers={**HTML, "Accept-Language": language}).text)
    assert said("guide.template.sensitivity") in page.words
    chosen = {"@add/sensitivity": "yes", "@bound/sensitivity": typed}
    send(anna, f"{guide}/criteria", "to:criteria", language, **chosen)
    (made,) = draft(light)["endpoints"]
    assert (made["measure"], made["hypothesis"]) == ("advice_accuracy.sensitivity", "performance goal")
    assert (made["bound_or_margin"], made["role"], made["dataset"]) == (0.825, "primary", "test")
    again = Taken(anna.get(f"{guide}/criteria", headers={**HTML, "Accept-Language": language}).text)
    assert again.form(f"{guide}/criteria")["@bound/endpoints/0"] == typed.removesuffix(" %")
    if language == "en":
        # Scores without a threshold give no sensitivity, whatever its bound is.
        assert "No result: no data set has decisions of the device" in again.words


@pytest.mark.parametrize(
    ("template", "typed", "bound"),
    [
        ("auc", "0.80", 0.8),
        ("sensitivity", "80", 0.8),
        ("sensitivity", "0.8", 0.8),
        ("specificity", "75 %", 0.75),
    ],
)
def test_a_bound_is_the_number_that_its_sentence_shows(
    light: Core, anna: Client, template: str, typed: str, bound: float
) -> None:
    guide = begun(light, anna, ("test.csv", SCORES))
    send(
        anna, f"{guide}/criteria", "to:criteria", **{f"@add/{template}": "yes", f"@bound/{template}": typed}
    )
    assert draft(light)["endpoints"][0]["bound_or_margin"] == bound
    page = get(anna, f"{guide}/criteria")
    sent = page.form(f"{guide}/criteria")
    shown = {name: value for name, value in sent.items() if name.startswith(("@bound/endpoints", "@unit"))}
    assert float(shown["@bound/endpoints/0"]) == (bound if template == "auc" else 100 * bound)
    assert ("@unit/endpoints/0" in shown) == (template != "auc")
    send(anna, f"{guide}/criteria", "to:device", **shown)
    assert draft(light)["endpoints"][0]["bound_or_margin"] == bound


def test_every_template_keeps_the_bound_that_it_offers() -> None:
    kept = {t.key: stored_bound(t.bound, t.unit, comma=False) for t in (*OF_READERS, *OF_DEVICE)}
    assert kept == {
        "errors": "0",
        "sensitivity_kept": "0.05",
        "specificity_kept": "0.05",
        "sensitivity": "0.8",
        "specificity": "0.8",
        "auc": "0.80",
    }


def test_the_power_at_this_size_is_that_of_planning(light: Core, anna: Client) -> None:
    table = "case,truth,decision\n" + "".join(f"C{i},{i % 2},{(i + i // 7) % 2}\n" for i in range(200))
    guide = begun(light, anna, ("test.csv", table))
    send(anna, f"{guide}/criteria", "to:criteria", **{"@add/sensitivity": "yes", "@bound/sensitivity": "80"})
    words = get(anna, f"{guide}/criteria").words
    chance = f"{chance_of_share(100, 0.8, 0.9):.0%}"
    said = "a true value of 90% would meet this with a probability of"
    assert f"With 100 cases that have the condition, {said} {chance}" in " ".join(words.split())
    assert chance_of_share(100, 0.8, 0.9) == pytest.approx(0.8018, abs=0.0001)  # at least 88 of 100


@pytest.mark.parametrize(("n", "low", "true"), [(100, 0.8, 0.9), (91, 0.85, 0.92), (1, 0.5, 0.9)])
def test_the_chance_of_a_share_is_the_sum_over_every_count(n: int, low: float, true: float) -> None:
    counts = np.arange(n + 1)
    lows = proportion_confint(counts, n, method="wilson")[0]
    assert chance_of_share(n, low, true) == pytest.approx(binom.pmf(counts, n, true)[lows > low].sum())


def test_missing_declarations_are_counted_and_listed_as_the_report_prints_them(
    light: Core, anna: Client
) -> None:
    guide = begun(light, anna)
    saved = send(anna, f"{guide}/device", "finish", **{"/device/trade_name": "Aid"}).headers["location"]
    assert WorkerThread(light, "worker").once("check")
    facts = anna.get(f"{API}{saved}").json()["facts"]
    n = sum(count for _, count in facts["not_declared"])
    assert n > 20
    sentence = f"{n} declarations are missing; the report will print NOT DECLARED for them."
    page = get(anna, saved)
    assert f"No problems found in these files. {sentence}" in " ".join(page.words.split())
    assert f"{saved}/edit#w/device/manufacturer" in page.links
    form = get(anna, f"{saved}/edit")
    assert form.words.count(f"No problems found. {sentence}") == 2  # the check and the save bar
    places = {given["id"] for _, given in form.tags if "id" in given}
    assert {link[1:] for link in form.links if link.startswith("#w")} <= places
    # The list and the form of one version say the same of it.
    row = get(anna, "/studies").words
    assert "to be described" not in row
    study = anna.get(f"{API}{saved}").json()["study"]
    assert "to be described" in get(anna, f"/studies/{study}").words


def test_tables_without_a_description_are_no_problem_in_the_list_and_none_in_the_form(
    light: Core, anna: Client
) -> None:
    guide = begun(light, anna)
    assert "problem" not in get(anna, "/studies").words.replace("No problems", "")
    assert "to be described" in get(anna, "/studies").words
    assert "No problems found" in get(anna, guide.replace("/guide", "/edit")).words
    assert "must be fixed" not in get(anna, guide.removesuffix("/guide")).words


def test_tables_that_answer_nothing_are_not_without_problems(light: Core, anna: Client) -> None:
    words = ("pT1", "pT2", "pT3", "no tumour")
    table = "case,histology,score\n" + "".join(f"C{i},{words[i % 4]},0.{i % 9 + 1}\n" for i in range(40))
    guide = begun(light, anna, ("export.csv", table))
    assert "No problems found" not in get(anna, guide.replace("/guide", "/edit")).words
    saved = send(anna, f"{guide}/device", "finish", **{"/device/trade_name": "Aid"}).headers["location"]
    assert WorkerThread(light, "worker").once("check")
    assert "No problems found" not in get(anna, saved).words


def test_page_one_is_that_of_the_draft_with_what_is_typed_and_runs_nothing(light: Core, anna: Client) -> None:
    guide = begun(light, anna)
    send(anna, f"{guide}/files", "to:files", **{"/report/title": "Page one of a draft"})
    shown = first_page(anna, guide)
    assert shown.status_code == 200
    assert "Page one of a draft" in shown.text
    assert "<script" not in shown.text
    assert shown.headers["content-security-policy"].startswith("sandbox;")
    assert "Typed since" in first_page(anna, guide, **{"/report/title": "Typed since"}).text
    assert draft(light)["report"]["title"] == "Page one of a draft"
    (button,) = [given for tag, given in get(anna, f"{guide}/files").tags if "formtarget" in given]
    assert button["formaction"] == guide.replace("/guide", "/page-1")
    refused = first_page(anna, guide, **{"/reading/washout_days": "many"})
    assert "There is no page 1 yet" in refused.text
    assert list((light.settings.data / "forms").iterdir()) == []


def test_measures_are_chosen_by_name_in_the_chapters_of_the_report() -> None:
    groups = measure_groups(["advice_accuracy.sensitivity", "own_share"])
    listed = [name for names in groups.values() for name in names]
    assert {row.id for row in ROWS} <= set(listed)
    assert groups[""] == ["own_share"]
    assert groups["reliance"][0] == "rair"
    assert all(is_named(name) for name in listed if name != "own_share")
    for language in ("en", "de", "fr", "it"):
        words = catalogue(language)
        assert all(f"{chapter}.title" in words for chapter in groups if chapter)


def test_data_sets_and_charts_are_chosen_among_those_that_exist(tmp_path: Path) -> None:
    text = (EXAMPLES / "vigilance-audit" / "study.yaml").read_text()
    task = {"manifest": text, "file": "study.yaml", "texts": {}, "files": {}, "check": "no"}
    form = edit(task, tmp_path)["form"]
    (vigilance,) = [s for s in form["sections"] if s["name"] == "/vigilance"]
    controls = {c["name"]: c for row in vigilance["rows"] for c in row["controls"]}
    assert ["baseline", "baseline"] in [list(c) for c in controls["/vigilance/baseline_dataset"]["choices"]]
    (indicators,) = [p for p in vigilance["rows"][0]["parts"] if p["name"].endswith("/indicators")]
    chart = next(c for c in indicators["rows"][0]["controls"] if c["name"].endswith("/chart"))
    assert [word for word, _ in chart["choices"]] == ["cusum", "sprt", "cusum and sprt"]


@pytest.mark.parametrize(
    ("text", "comma", "read"),
    [
        ("0,8", True, "0.8"),
        ("0,8", False, "0,8"),
        ("80 %", False, "0.8"),
        ("82,5\N{NARROW NO-BREAK SPACE}%", True, "0.825"),
        ("0,75 to 0,9", True, "0.75 to 0.9"),
        ("-0.05", False, "-0.05"),
        ("", True, ""),
    ],
)
def test_numbers_are_read_as_the_language_writes_them(text: str, comma: bool, read: str) -> None:
    assert in_points(text, comma=comma) == read


def test_a_decimal_comma_is_a_number_where_the_page_writes_it_so(light: Core, anna: Client) -> None:
    address = begun(light, anna).replace("/guide", "/edit")
    typed = {"/endpoints/+0/endpoint": "e", "/endpoints/+0/bound_or_margin": "0,8", "csrf": anna.me["csrf"]}
    for language, refused in (("en", True), ("de", False), ("fr", False), ("it", False)):
        headers = {**HTML, "Accept-Language": language}
        found = anna.post(address, data={**typed, "act": "check"}, headers=headers).json()
        assert ("/endpoints/+0/bound_or_margin" in found["beside"]) is refused
        assert ("bound_or_margin: 0.8" in found["yaml"]) is not refused


def test_a_proposal_that_would_answer_nothing_is_made_another_way(light: Core, anna: Client) -> None:
    """Beside another file the table would be one of cases, of which no row is used."""
    vendor = "case,truth,AI Score,AI Flag\n"
    vendor += "".join(f"c{i},{i % 2},{i / 20},{'POS' if i > 8 else 'NEG'}\n" for i in range(20))
    guide = begun(light, anna, ("vendor.csv", vendor), ("menu.csv", "dish,price\nsoup,3\n"))
    proposal = anna.get(f"{API}{guide.removesuffix('/guide')}").json()["facts"]["proposal"]
    assert "columns: {score: AI Score, decision: AI Flag}" in proposal
    assert "No problems found." in get(anna, f"{guide}/files").words


def test_the_draft_of_a_study_that_is_removed_goes_with_it(light: Core, anna: Client) -> None:
    guide = begun(light, anna)
    send(anna, f"{guide}/files", "to:who", **{"/report/title": "Short"})
    study = anna.get(f"{API}{guide.removesuffix('/guide')}").json()["study"]
    assert anna.delete(f"{API}/studies/{study}").status_code == 204
    assert stored(light, Draft) == []
