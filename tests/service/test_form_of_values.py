"""The form of a manifest with measurements, preferences and labels that are wrong at times."""

from pathlib import Path
from typing import Any, get_args

import pytest
from pages import get, post
from services import API, Client

from trustreport.api import read_study
from trustreport.service.core import Core
from trustreport.service.editor.edit_task import edit, merged
from trustreport.service.editor.form import Control, form_of
from trustreport.service.editor.table_columns import files_of
from trustreport.service.editor.yaml_edits import plain
from trustreport.service.engine import label_keys
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.study.ingest.contracts import CONTRACTS
from trustreport.study.plan import Language
from trustreport.study.plan.data import Measurement, ReferenceStandard
from trustreport.vocabulary.kinds import Kind
from trustreport.vocabulary.messages import catalogue

REFERENCE = Path(__file__).parents[1] / "reference" / "endpoints"
BEGUN = 'report:\n  kind: certification\ndevice:\n  trade_name: ""\n'
VALUES = "case,measured,reference_value\n" + "".join(f"{k},{50 + k},{51 + k % 3}\n" for k in range(20))
CHOICES = (REFERENCE / "preferences" / "choices.csv").read_text()
PANOPTICA = "subject_name\tdisc-sq_dsc\tdisc-sq_assd\n" + "".join(
    f"sub-{k}\t0.{80 + k % 15}\t{1 + k / 10}\n" for k in range(20)
)


def typed(text: str, texts: dict[str, str], folder: Path = Path()) -> Any:
    """What the form makes of a manifest with these texts in its controls."""
    task = {"file": "study.yaml", "check": "no", "files": files_of(folder) if folder != Path() else {}}
    return edit({**task, "manifest": text, "texts": texts}, Path())


def controls(text: str, folder: Path) -> dict[str, Control]:
    return {c.name: c for c in form_of(plain(text), files_of(folder)).controls()}


def test_a_measurement_is_declared_in_the_form(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text(VALUES)
    texts = {
        "/measurements/+0/measurement": "EF",
        "/measurements/+0/kind": "number",
        "/measurements/+0/unit": "%",
        "/measurements/+0/acceptable": "5",
        "/measurements/+1/measurement": "quality",
        "/measurements/+1/kind": "ordinal",
        "/measurements/+1/scale": "1 to 5",
        "/measurements/+1/better": "up",
        "/tables/+0/@name": "values",
        "/tables/+0/file": "values.csv",
        "/tables/+0/measurement": "EF",
    }
    made = typed(BEGUN, texts, tmp_path)["yaml"]
    values = plain(made)
    assert values["measurements"] == [
        {"measurement": "EF", "kind": "number", "unit": "%", "acceptable": 5},
        {"measurement": "quality", "kind": "ordinal", "scale": [1, 5], "better": "up"},
    ]
    (tmp_path / "study.yaml").write_text(made)
    study, plan = read_study(tmp_path)
    assert [one.measurement for one in study.values] == ["EF"]
    assert plan.measurements[1].scale == (1, 5)


@pytest.mark.parametrize(("text", "value"), [("95 to 100", [95, 100]), ("0.95", 0.95)])
def test_the_error_of_labels_is_a_share_or_a_count(text: str, value: Any) -> None:
    texts = {f"/reference_standard/{rate}": text for rate in ("sensitivity", "specificity")}
    texts |= {"/reference_standard/kind": "error_prone", "/reference_standard/source": "an audit"}
    made = plain(typed(BEGUN, texts | {"/reference_standard/subset": "100 cases"})["yaml"])
    found = ReferenceStandard.model_validate(made["reference_standard"])
    assert made["reference_standard"]["sensitivity"] == value
    assert (found.kind, found.source, found.subset) == ("error_prone", "an audit", "100 cases")


def test_what_labels_with_error_need_is_shown_at_first(tmp_path: Path) -> None:
    rates = ("sensitivity", "specificity", "source", "subset")
    for kind, shown in (("error_prone", True), ("exact", False)):
        found = controls(BEGUN + f"reference_standard: {{kind: {kind}}}\n", tmp_path)
        assert {found[f"/reference_standard/{rate}"].front for rate in rates} == {shown}


def test_what_a_truth_of_several_tests_needs_is_shown_at_first(tmp_path: Path) -> None:
    shown = {"composite": {"rule"}, "latent_class": {"rule", "conditional_independence", "dependence"}}
    for kind, names in shown.items():
        found = controls(BEGUN + f"reference_standard: {{kind: {kind}}}\n", tmp_path)
        front = {name for name in shown["latent_class"] if found[f"/reference_standard/{name}"].front}
        assert front == names


@pytest.mark.parametrize(("kind", "table"), [("values", VALUES), ("preferences", CHOICES)])
def test_the_columns_of_a_table_are_offered(kind: str, table: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(table)
    text = BEGUN + "measurements: [{measurement: EF}]\n" + f"tables: {{{kind}: {{file: table.csv}}}}\n"
    found = controls(text, tmp_path)
    assert kind in dict(found[f"/tables/{kind}/kind"].choices)
    for word in CONTRACTS[kind].words:
        assert f"/tables/{kind}/columns/{word}" in found
    assert all(found[f"/tables/{kind}/columns/{word}"].front for word in CONTRACTS[kind].required)
    of = found[f"/tables/{kind}/measurement"]
    assert (of.suggest, of.front) == ("measurements", True)


def test_names_of_measurements_are_suggested() -> None:
    offered = typed(BEGUN + "measurements: [{measurement: EF}, {measurement: volume}]\n", {})["suggestions"]
    assert offered["measurements"] == ["EF", "volume"]
    assert {"EF", "volume"} <= set(offered["quantities"])  # an endpoint is `of` one of them


@pytest.mark.parametrize("language", get_args(Language))
def test_every_control_has_its_words_in_each_language(language: str) -> None:
    say, en = catalogue(language), catalogue("en")
    words = {w for kind in ("values", "preferences") for w in CONTRACTS[kind].words}
    keys = {f"editor.column.{word}" for word in words} | {"pages.editor.rate_hint", "pages.editor.scale_hint"}
    assert not [key for key in keys if key not in say]
    choices = {*get_args(Kind), "values", "preferences", "up", "down"}
    choices |= set(get_args(get_args(ReferenceStandard.model_fields["kind"].annotation)[0]))
    assert not [w for w in choices if f"value.{w}" not in say and f"editor.choice.{w}" not in say]
    for model, group in ((Measurement, "measurements"), (ReferenceStandard, "reference_standard")):
        for name in model.model_fields:
            if name != "verification":
                assert any(key in en for key in label_keys(f"{group}.{name}")), name
                assert any(key in say for key in label_keys(f"{group}.{name}")), name


def test_a_proposal_adds_measurements_that_are_not_declared() -> None:
    old = BEGUN + "measurements:\n  - {measurement: EF, kind: number}\n"
    proposal = (
        BEGUN + "measurements:\n  - {measurement: EF, kind: count}\n  - {measurement: DSC, better: up}\n"
    )
    made = plain(merged(old, "study.yaml", proposal))
    assert made["measurements"] == [
        {"measurement": "EF", "kind": "number"},
        {"measurement": "DSC", "better": "up"},
    ]


@pytest.mark.parametrize(
    ("name", "table", "offered"),
    [("panoptica.tsv", PANOPTICA, "sq assd"), ("choices.csv", CHOICES, "Preferred report")],
)
def test_a_table_alone_becomes_a_study_in_the_form(
    name: str, table: str, offered: str, light: Core, anna: Client
) -> None:
    files = [("files", (name, table))]
    steps = post(anna, "/studies/new", "/studies", files, name="Values").headers["location"]
    address = steps.replace("/guide/files", "/edit")
    assert WorkerThread(light, "worker").once("check")
    page = get(anna, address)
    shown = [given.get("value", "") for tag, given in page.tags if tag in ("input", "option")]
    assert offered in shown
    sent = {"csrf": anna.me["csrf"], "/device/trade_name": "Example", "act": "save"}
    saved = anna.post(address, data=sent, headers={"Accept": "text/html"}, follow_redirects=False)
    assert WorkerThread(light, "worker").once("check")
    made = anna.get(f"{API}{saved.headers['location']}").json()
    assert made["state"] == "valid", anna.get(f"{API}{saved.headers['location']}/problems").text
