"""The manifest as a form: what it shows, what it changes in the YAML, and how it is saved on its page."""

import json
import random
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pages import HTML, Taken, get, post, right
from services import API, Client, only, stored, world

from trustreport.service.core import Core
from trustreport.service.editor import run
from trustreport.service.editor.edit_task import edit, merged
from trustreport.service.editor.field_values import model_of, shape_of
from trustreport.service.editor.form import Control, form_of
from trustreport.service.editor.table_columns import files_of
from trustreport.service.editor.yaml_edits import plain
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.pages.render import PageWords
from trustreport.service.storage.models import Audit, VersionFile
from trustreport.service.version.editor_page import bound_words
from trustreport.service.web.faults import Fault
from trustreport.study.ingest.validation import model_at
from trustreport.study.plan import Plan
from trustreport.vocabulary.errors import UNSEEN
from trustreport.vocabulary.messages import catalogue

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/study.yaml"))
TASK: dict[str, Any] = {"file": "study.yaml", "files": {}, "check": "no"}
NEW = {"number": "0.125", "date": "2031-01-31", "range": "0.25 to 0.75", "map": "a: 0.5\nb: 0.5"}
SMALL = """\
# A study.
report: {kind: certification, title: T} # in one line
device:
  trade_name: "Old"   # the name
  software_version: 2.10
arms:
  - {arm: alone, aided: false}
  - {arm: with, aided: true} # UNCERTAIN: is it so?
datasets:
  - &set
    dataset: first
    role: external
    country: X
  - {<<: *set, dataset: second}
limits: {P05_gap: 0.1}
"""


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Every plain value by its path, a number as typed."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from leaves(one, (*path, key))
    if not isinstance(value, dict | list) or not value:
        yield path, f"{type(value).__name__} {getattr(value, 'text', value)}"


def typed(text: str, texts: dict[str, str], name: str = "study.yaml") -> Any:
    return edit({**TASK, "manifest": text, "file": name, "texts": texts}, Path())


def controls(text: str, folder: Path | None = None) -> list[Control]:
    return list(form_of(plain(text), files_of(folder) if folder else {}).controls())


def changed_text(control: Control) -> str:
    """Another text that the field can hold."""
    if control.choices:
        return next((word for word, _ in control.choices if word != control.text), "other")
    if control.shape.kind == "lines":
        return "0.125\n0.25" if control.shape.numbers else "one, of two\ntwo"
    return NEW.get(control.shape.kind, "Other: text # with 'signs'")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda f: f.parent.name)
def test_every_example_comes_back_byte_for_byte(file: Path) -> None:
    text = file.read_text()
    shown = {c.name: c.text.replace("\n", "\r\n") for c in controls(text, file.parent)}
    assert len(shown) > 100
    assert typed(text, shown)["yaml"] == text


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda f: f.parent.name)
def test_fields_that_are_changed_change_alone(file: Path) -> None:
    text, files = file.read_text(), files_of(file.parent)
    before = plain(text)
    chosen = random.Random(7).sample(list(form_of(before, files).controls()), 8)
    texts = {control.name: changed_text(control) for control in chosen}
    after = plain(edit({**TASK, "manifest": text, "texts": texts, "files": files}, Path())["yaml"])
    one, other = dict(leaves(before)), dict(leaves(after))
    differ = {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}
    assert differ
    for control in chosen:
        assert any(path[: len(control.path)] == control.path for path in differ), control.name
    inside = {path for path in differ for c in chosen if path[: len(c.path)] == c.path}
    assert differ == inside


def test_every_field_of_the_plan_has_a_control_but_those_that_are_known() -> None:
    without: set[str] = set()

    def look(model: Any, path: str) -> None:
        for name, info in model.model_fields.items():
            inner = model_of(info.annotation)[0]
            if inner is not None:
                look(inner, f"{path}{name}.")
            elif shape_of(info.annotation) is None:
                without.add(f"{path}{name}")

    look(Plan, "")
    assert without == {
        "operating_point.fpr_groups",
        "internal_splits.measures",
        "families.transitions",
        "reference_standard.rater_accuracy",
        "reference_standard.verification.share",
        "endpoints.parameters",
        "datasets.parameters",
        "tables.parameters",
        "datasets.columns",  # controls of their own, one for each word
        "datasets.values",
        "datasets.where",
        "datasets.unpivot.columns",
        "datasets.h_accuracy.tau",
        "datasets.h_accuracy.priority",
        "tables.columns",
        "tables.values",
        "tables.where",
        "tables.unpivot.columns",
        "utility.matrices.matrix",
        "utility.matrices.plus_minus",
        "utility.matrices.sd",
        "confusion_tables.table",
        "joint_decisions.by_truth",
    }
    assert model_at(("endpoints", 0)) is not None


def test_comments_and_all_other_lines_are_kept() -> None:
    answer = typed(SMALL, {"/device/trade_name": "New", "/report/title": "Better: a title"})
    assert answer["has_comments"]
    made = answer["yaml"]
    assert "# A study." in made
    assert "# in one line" in made
    assert "software_version: 2.10" in made
    assert plain(made)["report"]["title"] == "Better: a title"
    assert [a for a, b in zip(SMALL.splitlines(), made.splitlines(), strict=True) if a != b] == [
        SMALL.splitlines()[1],
        SMALL.splitlines()[3],
    ]


def test_a_field_that_an_anchor_shares_is_changed_alone() -> None:
    answer = typed(SMALL, {"/datasets/0/country": "Y"})
    first, second = plain(answer["yaml"])["datasets"]
    assert (first["country"], second["country"]) == ("Y", "X")
    assert not answer["has_comments"]
    own = typed(SMALL, {"/datasets/1/country": "Z"})
    first, second = plain(own["yaml"])["datasets"]
    assert (first["country"], second["country"], own["has_comments"]) == ("X", "Z", True)


def test_a_manifest_in_json_becomes_yaml_with_the_same_values() -> None:
    report = '{"kind": "vigilance", "title": "0.80 \\u2028 \\ud83d\\ude00"}'
    text = f'{{"report": {report}, "device": {{"software_version": 1.10}}}}'
    answer = typed(text, {"/device/model": "M"}, "study.json")
    found = plain(answer["yaml"])
    assert found["report"] == plain(text, "study.json")["report"]
    assert found["device"]["software_version"].text == "1.10"
    assert found["device"]["model"] == "M"


def test_rows_are_added_and_removed_and_problems_follow_them(tmp_path: Path) -> None:
    texts = {
        "/arms/0/@removed": "yes",
        "/arms/+0/arm": "third",
        "/arms/+0/aided": "true",
        "/arms/1/aided": "maybe",
        "/tables/+0/file": "readings.csv",
        "/tables/+0/kind": "readings",
        "/endpoints/+0/endpoint": "e",
        "/endpoints/+0/bound_or_margin": "0,8",
    }
    task = {"manifest": SMALL, "file": "study.yaml", "texts": texts, "files": {}, "check": "study"}
    (tmp_path / "study").mkdir()
    answer = edit(task, tmp_path)
    made = plain(answer["yaml"])
    assert [a["arm"] for a in made["arms"]] == ["with", "third"]
    assert made["tables"] == {"readings": {"file": "readings.csv", "kind": "readings"}}
    assert made["arms"][1]["aided"] is True
    at = {p["at"]: p["found"] for p in answer["problems"]}
    assert "maybe" in at["/arms/1/aided"]
    assert "0,8" in at["/endpoints/+0/bound_or_margin"]
    assert "/tables/+0/file" in at


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
@example("A" + chr(0x202E), chr(8))
def test_whatever_is_typed_is_the_value_that_is_read_again(title: str, name: str) -> None:
    texts = {
        "/report/title": title,
        "/arms/+0/arm": name,
        f"/arms/+{'9' * 5000}/arm": "x",
        "/arms/+1x/arm": "y",
    }
    made = plain(typed(SMALL, texts)["yaml"])
    title, name = (re.sub(UNSEEN, "", text).strip() for text in (title, name))
    assert made["report"].get("title", "") == title
    assert made["arms"][2:] == ([{"arm": name}] if name else [])


def test_a_guess_is_shown_at_its_group_until_it_is_changed() -> None:
    answer = typed(SMALL, {})
    assert answer["doubts"] == {"/arms/1": "is it so?"}
    assert "UNCERTAIN" in typed(SMALL, {"/device/model": "M"})["yaml"]
    assert "UNCERTAIN" not in typed(SMALL, {"/arms/1/aided": "false"})["yaml"]


def test_a_criterion_states_on_which_side_of_its_bound_the_interval_must_be(tmp_path: Path) -> None:
    texts = {
        "/endpoints/+0/endpoint": "e",
        "/endpoints/+0/measure": "sensitivity",
        "/endpoints/+0/hypothesis": "performance goal",
        "/endpoints/+0/bound_or_margin": "0.8",
        "/endpoints/+1/endpoint": "f",
        "/endpoints/+1/measure": "error_rate",
        "/endpoints/+1/hypothesis": "performance goal",
        "/endpoints/+1/bound_or_margin": "0.1",
    }
    task = {"manifest": SMALL, "file": "study.yaml", "texts": texts, "files": {}, "check": "manifest"}
    bounds = edit(task, tmp_path)["bounds"]
    said = {key: PageWords(catalogue(key)) for key in ("en", "de")}
    words = {key: [bound_words(one, say) for one in bounds.values()] for key, say in said.items()}
    assert "above 0.8" in words["en"][0]
    assert "below 0.1" in words["en"][1]
    assert "über 0,8" in words["de"][0]  # in the page's language, whatever the report's is
    assert "unter 0,1" in words["de"][1]


def test_columns_are_chosen_among_headers_and_values_are_mapped(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("radiologist,case,diagnosis,call\nR1,C1,malignant,1\nR1,C2,benign,0\n")
    files = files_of(tmp_path)
    assert files["a.csv"]["values"] == {
        "case": ["C1", "C2"],
        "diagnosis": ["benign", "malignant"],
        "radiologist": ["R1"],
    }
    text = SMALL + "tables: {readings: {file: a.csv, columns: {reader: radiologist, truth: diagnosis}}}\n"
    found = {c.name: c for c in form_of(plain(text), files).controls()}
    assert found["/tables/readings/columns/reader"].text == "radiologist"
    assert found["/tables/readings/columns/case"].default == "case"
    assert [h for h, _ in found["/tables/readings/columns/decision"].choices] == files["a.csv"]["headers"]
    assert found["/tables/readings/values/truth/malignant"].text == ""
    texts = {
        "/tables/readings/values/truth/malignant": "1",
        "/tables/readings/values/truth/benign": "missing",
    }
    task = {"manifest": text, "file": "study.yaml", "texts": texts, "files": files, "check": "no"}
    assert plain(edit(task, tmp_path)["yaml"])["tables"]["readings"]["values"] == {
        "truth": {"malignant": 1, "benign": ""}
    }


def test_a_proposal_adds_what_a_manifest_does_not_name() -> None:
    proposal = (
        "report: {kind: certification, title: no}\ndevice: {trade_name: no}\narms: [{arm: other}]\n"
        "tables:\n  scores:\n    file: s.csv\ndatasets:\n  - dataset: first\n    role: local\n"
        "  - dataset: third\n    role: local  # UNCERTAIN: which role?\n    file: t.csv\n"
    )
    text = merged(SMALL, "study.yaml", proposal)
    made = plain(text)
    assert typed(text, {})["doubts"] == {"/arms/1": "is it so?", "/datasets/2": "which role?"}
    before = plain(SMALL)
    assert made["tables"] == {"scores": {"file": "s.csv"}}
    assert [d["dataset"] for d in made["datasets"]] == ["first", "second", "third"]
    assert {k: v for k, v in made.items() if k not in ("tables", "datasets")} == {
        k: v for k, v in before.items() if k != "datasets"
    }


def test_what_cannot_be_read_is_said_with_its_line() -> None:
    assert typed("report: [\n", {})["unreadable"][0]["row"]
    twice = typed("report: {kind: certification}\ndevice: {model: a, model: b}\n", {})
    assert "twice" in twice["unreadable"][0]["found"]


HOSTILE = "</textarea><script>alert(1)</script>\"'{{ 7*7 }}"
CODED = right().replace("truth", "diagnosis").replace("reader", "radiologist")


def begun(core: Core, anna: Client, table: str = CODED) -> str:
    """The form of a new study that one table was uploaded for, its path."""
    files = [("files", ("export.csv", table))]
    steps = post(anna, "/studies/new", "/studies", files, name="Tables").headers["location"]
    assert steps.endswith("/guide/files")
    address = steps.replace("/guide/files", "/edit")
    assert "being checked" in get(anna, address).words
    assert WorkerThread(core, "worker").once("check")
    return str(address)


def send(client: Client, address: str, act: str, files: Any = None, **typed: str) -> Any:
    """Send what was typed into a form; what is not sent stays as it is."""
    sent = {"csrf": client.me["csrf"], **typed, "act": act}
    return client.post(address, data=sent, files=files, headers=HTML, follow_redirects=False)


def test_tables_are_described_in_a_form_and_saved_as_a_version_like_any_other(
    light: Core, anna: Client
) -> None:
    address = begun(light, anna)
    page = get(anna, address)
    chosen = [given["value"] for tag, given in page.tags if tag == "option" and "selected" in given]
    assert {"radiologist", "diagnosis", "export.csv"} <= set(chosen)
    typed = {"/device/trade_name": "Example aid", "/report/title": "From a form"}
    saved = send(anna, address, "save", **typed).headers["location"]
    assert WorkerThread(light, "worker").once("check")
    made = anna.get(f"{API}{saved}").json()
    assert (made["state"], made["facts"]["title"]) == ("valid", "From a form")
    text = anna.get(f"{API}{saved}/files/study.yaml").text
    assert text == send(anna, f"{saved}/edit", "yaml").text
    # The same files, uploaded: the same hash of names and contents, so the same job.
    again = [("files", ("study.yaml", text)), ("files", ("export.csv", CODED))]
    other = anna.post(f"{API}/studies/{made['study']}/versions", files=again).json()
    assert other["digest"] == made["digest"]
    entry = only(light, Audit, action="version.add", subject=made["id"])
    assert entry.actor == anna.me["user"]


def test_what_is_typed_is_checked_with_the_tables_and_nothing_is_stored(light: Core, anna: Client) -> None:
    address = begun(light, anna, CODED.replace("R0,C0,unaided", "R0,,unaided"))
    before = len(stored(light, Audit))
    typed = {"/endpoints/+0/endpoint": "e", "/endpoints/+0/bound_or_margin": "0,8"}
    answer = send(anna, address, "check", **typed)
    assert answer.headers["content-type"] == "application/json"
    found = answer.json()
    (bound,) = found["beside"]["/endpoints/+0/bound_or_margin"]
    assert bound.startswith('found "0,8"')
    (cell,) = found["beside"]["/tables/readings/columns/case"]
    assert cell.startswith("export.csv, row ")
    assert "an empty cell" in cell
    assert found["summary"] == "2 problems to fix."
    assert "endpoint: e" in found["yaml"]
    shown = send(anna, address, "preview", **typed)
    assert shown.status_code == 200
    assert Taken(shown.text).form(address)["/endpoints/+0/bound_or_margin"] == "0,8"
    assert bound in Taken(shown.text).words
    assert len(stored(light, Audit)) == before
    assert not list((light.settings.data / "forms").iterdir())


def test_rows_and_tables_are_added_without_javascript(light: Core, anna: Client) -> None:
    address = begun(light, anna)
    again = Taken(send(anna, address, "add:/arms", **{"/arms/+0/arm": "one"}).text).form(address)
    assert (again["/arms/+0/arm"], again["/arms/+1/arm"]) == ("one", "")
    manifest = send(anna, address, "save", [("files", ("study.yml", "a: 1"))])
    assert (manifest.status_code, "takes tables" in manifest.text) == (422, True)
    scores = "case,truth,score\n" + "\n".join(f"C{i},{i % 2},0.{i + 1}" for i in range(8)) + "\n"
    files = [("files", ("northhaven.csv", scores))]
    added = send(anna, address, "tables", files, **{"/device/model": "M"}).headers["location"]
    assert WorkerThread(light, "worker").once("check")
    page = get(anna, added)
    form = page.form(added)
    assert form["/device/model"] == "M"
    assert "northhaven.csv" in json.dumps(page.tags)
    assert [name for name in form if name.startswith(("/datasets/0/", "/tables/scores/"))]


def test_a_study_begins_without_files(light: Core, anna: Client) -> None:
    steps = post(anna, "/studies/new", "/studies", name="Counts", start="form").headers["location"]
    address = steps.replace("/guide/files", "/edit")
    assert WorkerThread(light, "worker").once("check")
    typed: dict[str, str] = {"/device/trade_name": "Aid"}
    for i, (arm, errors, correct) in enumerate((("unaided", "60", "240"), ("aided", "45", "255"))):
        row = {"set": "chest", "arm": arm, "errors": errors, "correct": correct}
        typed |= {f"/counts/+{i}/{key}": value for key, value in row.items()}
    saved = send(anna, address, "save", **typed).headers["location"]
    assert WorkerThread(light, "worker").once("check")
    assert anna.get(f"{API}{saved}").json()["state"] == "valid"


def test_the_form_keeps_to_roles_and_organisations(
    light: Core, app: FastAPI, anna: Client, bob: Client
) -> None:
    address = f"/versions/{world(light, anna)['version']}/edit"
    viewer = anna.invite("viewer@hospital.test", "viewer")
    sent = {"csrf": bob.me["csrf"], "act": "check"}
    assert bob.get(address, headers=HTML).status_code == 404
    assert bob.post(address, data=sent, headers=HTML).status_code == 404
    assert viewer.get(address, headers=HTML).status_code == 403
    assert viewer.post(address, data={**sent, "csrf": viewer.me["csrf"]}, headers=HTML).status_code == 403
    assert len(stored(light, VersionFile)) == 1


def test_hostile_texts_are_text_and_what_is_no_form_is_refused(light: Core, anna: Client) -> None:
    manifest = {
        "report": {"kind": "certification", "title": HOSTILE},
        "device": {"trade_name": "x"},
        HOSTILE: 1,
    }
    study = anna.study("Hostile")
    address = f"/versions/{anna.version(study, manifest)}/edit"
    assert WorkerThread(light, "worker").once("check")
    page = get(anna, address)
    assert page.form(address)["/report/title"] in ("", HOSTILE)
    assert HOSTILE in page.words
    assert not [
        given for tag, given in page.tags if tag == "script" and not given["src"].startswith("/static/")
    ]
    files = [("files", ("study.yaml", "report: [\n"))]
    broken = anna.post(f"{API}/studies/{study}/versions", files=files).json()["id"]
    assert WorkerThread(light, "worker").once("check")
    refused = anna.get(f"/versions/{broken}/edit", headers=HTML)
    assert (refused.status_code, "study.yaml, line" in refused.text) == (409, True)


def test_only_so_many_forms_are_made_at_a_time(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = begun(light, anna)
    monkeypatch.setattr(run, "_AT_ONCE", threading.BoundedSemaphore(1))
    monkeypatch.setattr(run, "_ADMITTED", threading.BoundedSemaphore(1))
    monkeypatch.setattr(run, "WAIT_SECONDS", 0.01)
    for lock in (run._AT_ONCE, run._ADMITTED):
        with lock:
            answer = anna.get(address, headers=HTML)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    with run._turn(), pytest.raises(Fault), run._turn():
        pass


def test_tables_alone_become_a_study_on_the_page(light: Core, anna: Client) -> None:
    worker = WorkerThread(light, "worker")
    files = [("files", ("readings.csv", right()))]
    steps = post(anna, "/studies/new", "/studies", files, name="Tables").headers["location"]
    version = steps.removesuffix("/guide/files")
    assert worker.once("check")
    page = get(anna, version)
    assert "The tables were recognised." in page.words
    assert "trustreport init" not in page.words
    form = next(f for f in page.forms if "manifest" in f["fields"])
    assert not [name for f in page.forms for name in f["fields"] if name.startswith("name-")]
    proposal = anna.get(f"{API}{version}").json()["facts"]["proposal"]
    assert "readings.csv" in proposal
    assert proposal.splitlines()[3] in page.words
    sent = {"csrf": form["fields"]["csrf"], "manifest": proposal.replace("\n", "\r\n")}
    answer = anna.post(form["action"], data=sent, headers={"Accept": "text/html"}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    added = answer.headers["location"]
    assert worker.once("check")
    names = {f["name"] for f in anna.get(f"{API}{added}/files").json()["items"]}
    assert names == {"readings.csv", "study.yaml"}
    said = anna.get(f"{API}{added}").json()
    assert said["state"] == "valid", anna.get(f"{API}{added}/problems").text
    assert "proposal" not in said["facts"]


def test_what_is_no_file_is_not_offered_for_replacement(light: Core, anna: Client) -> None:
    worker = WorkerThread(light, "worker")
    files = [("files", ("notes.txt", "nothing"))]
    version = post(anna, "/studies/new", "/studies", files, name="Notes").headers["location"]
    assert worker.once("check")
    page = get(anna, version)
    assert not [name for f in page.forms for name in f["fields"] if name.startswith("name-")]
    assert "A manifest for these tables" not in page.words


def test_a_table_of_nothing_known_is_a_problem_and_no_crash(light: Core, anna: Client) -> None:
    worker = WorkerThread(light, "worker")
    for content in (b"", b"\x00\x00", b"a,b\n1\n", b"PK\x03\x04"):
        files = [("files", ("t.csv", content)), ("files", ("t.xlsx", content or b"x"))]
        version = (
            post(anna, "/studies/new", "/studies", files, name="Odd")
            .headers["location"]
            .removesuffix("/guide/files")
        )
        assert worker.once("check")
        assert anna.get(f"{API}{version}").json()["state"] == "invalid"
