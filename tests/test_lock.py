"""The lock of the criteria: what it holds, what a change does, what a time stamp says."""

import datetime as dt
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from studies import plan

from trustreport.api import assess, lock_criteria, read_study
from trustreport.commands.cli import main
from trustreport.report.document import document
from trustreport.study import lock
from trustreport.study.lock.moments import stamp
from trustreport.study.plan import Confusion, Plan
from trustreport.study.study import Study
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue

STAMPS = Path(__file__).resolve().parent / "reference" / "timestamp"
MANIFEST = """\
report: {kind: certification}
device: {trade_name: Example}
STUDY
endpoints:
  - {endpoint: finds, measure: sensitivity, hypothesis: performance goal, bound_or_margin: BOUND}
  - {endpoint: spares, measure: specificity, hypothesis: performance goal, bound_or_margin: 0.8}
AMENDMENTS
confusion:
  - {set: main, tp: 90, fn: 10, fp: 20, tn: 180}
"""
DATES = "study: {sap_locked_at: 2026-01-01, data_opened_at: 2026-02-01}"
CHANGED = "endpoints[finds].bound_or_margin"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study").mkdir()
    return tmp_path / "study"


def declare(folder: Path, bound: float = 0.8, study: str = "", amendments: str = "") -> Path:
    text = MANIFEST.replace("BOUND", str(bound)).replace("STUDY", study).replace("AMENDMENTS", amendments)
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return folder


def words(folder: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    found = assess(*read_study(folder)).verdicts
    return {v.criterion.endpoint: (v.word, v.checks) for v in found}


def fired(folder: Path) -> set[str]:
    return {o.check for o in assess(*read_study(folder)).checks if o.status == "fired"} & {"P34", "P35"}


# ---------------------------------------------------------------- what is locked


def test_the_hash_is_of_the_meaning_and_not_of_the_text() -> None:
    one = plan(endpoints=[{"endpoint": "E", "bound_or_margin": 0.80}], limits={"P17_days": 42})
    same = plan(limits={"P17_days": 42.0}, endpoints=[{"endpoint_id": "E", "bound_or_margin": 0.8}])
    other = plan(endpoints=[{"endpoint": "E", "bound_or_margin": 0.81}], limits={"P17_days": 42})
    prints = [lock.fingerprint(lock.criteria(p)) for p in (one, same, other)]
    assert prints[0] == prints[1] != prints[2]


def test_the_hash_is_the_sha256_of_the_canonical_form() -> None:
    # printf '{"endpoints":[{"bound_or_margin":0.8,"endpoint":"E"}]}' | sha256sum
    expected = "735fb7a740a214369f1b2241b473e171036a6e8a130a705c1caa32f2af2e8a94"
    assert (
        lock.fingerprint(lock.criteria(plan(endpoints=[{"endpoint": "E", "bound_or_margin": 0.8}])))
        == expected
    )


def test_a_lock_file_is_read_as_it_was_written() -> None:
    made = lock.renewed(plan(endpoints=[{"endpoint": "E"}]))
    assert lock.read(lock.written(made)) == made


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"form": "other", "locked": []}', b"\xff\xfe", b'{"form": 1}']
)
def test_what_is_no_lock_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="it"):
        lock.read(data)


def test_an_edited_lock_is_found_out(folder: Path) -> None:
    lock_criteria(declare(folder))
    file = folder / lock.FILE
    file.write_text(file.read_text().replace("0.8", "0.7"))
    with pytest.raises(StudyError) as raised:
        read_study(folder)
    assert f"{lock.FILE}: its criteria and their hash" in str(raised.value)


# ---------------------------------------------------------------- how the criteria stand


def test_without_lock_and_dates_results_are_exploratory(folder: Path) -> None:
    declare(folder)
    assert words(folder) == dict.fromkeys(("finds", "spares"), ("not assessable", ("P35",)))
    assert fired(folder) == {"P35"}


def test_a_lock_makes_verdicts(folder: Path) -> None:
    lock_criteria(declare(folder))
    assert words(folder) == {"finds": ("pass", ()), "spares": ("pass", ())}
    assert not fired(folder)
    study, _ = read_study(folder)
    assert study.sources[-1].file == lock.FILE


def test_dates_of_the_manifest_make_verdicts_too(folder: Path) -> None:
    declare(folder, study=DATES)
    assert words(folder)["finds"] == ("pass", ())
    assert lock.lock_status(*read_study(folder)).state == "declared"


@pytest.mark.parametrize("locked", [True, False])
def test_criteria_fixed_after_the_data_were_opened_get_no_verdict(folder: Path, locked: bool) -> None:
    declare(folder, study="study: {sap_locked_at: 2026-03-01, data_opened_at: 2026-02-01}")
    if locked:
        lock_criteria(folder)
    assert words(folder)["finds"] == ("not assessable", ("P35",))
    assert fired(folder) == {"P35"}


def test_the_same_day_is_not_later() -> None:
    same = plan(study={"sap_locked_at": "2026-02-01T18:00:00", "data_opened_at": "2026-02-01"})
    assert not lock.lock_status(Study(), same).late
    hour = plan(study={"sap_locked_at": "2026-02-01T18:00:00", "data_opened_at": "2026-02-01T09:00:00"})
    assert lock.lock_status(Study(), hour).late


def test_an_undeclared_change_is_named_and_concerns_its_criterion_alone(folder: Path) -> None:
    lock_criteria(declare(folder))
    declare(folder, bound=0.7)
    assert words(folder) == {"finds": ("not assessable", ("P34",)), "spares": ("pass", ())}
    assert fired(folder) == {"P34"}
    (change,) = lock.lock_status(*read_study(folder)).changes
    assert (change.field, change.old, change.new, change.how) == (CHANGED, 0.8, 0.7, "undeclared")


@pytest.mark.parametrize(
    "field", [CHANGED, "endpoints.finds.bound_or_margin", "finds", "endpoints[0].bound_or_margin"]
)
@pytest.mark.parametrize("before, word", [("true", ("pass", ())), ("false", ("not assessable", ("P35",)))])
def test_an_amendment_counts_if_the_data_were_closed(
    folder: Path, field: str, before: str, word: tuple[str, tuple[str, ...]]
) -> None:
    lock_criteria(declare(folder))
    amendment = (
        f'amendments: [{{field: "{field}", new: 0.7, reason: Typing error, before_data_opened: {before}}}]'
    )
    declare(folder, bound=0.7, amendments=amendment)
    assert words(folder)["finds"] == word


@pytest.mark.parametrize("locked", [True, False])
@pytest.mark.parametrize(
    "date, why",
    [
        ("date: 2026-01-31, ", "before"),
        ("date: 2026-01, ", "before"),  # its last day
        ("date: 2026-02-01, ", "dated"),
        ("date: 2026-03-10, ", "dated"),
        ("date: 2026-02, ", "dated"),
        ("date: after the pilot, ", "undated"),
        ("", "undated"),
    ],
)
def test_the_date_of_an_amendment_has_to_bear_out_that_it_was_made_before(
    folder: Path, date: str, why: str, locked: bool
) -> None:
    declare(folder, study=DATES)
    if locked:
        lock_criteria(folder)
    said = f"{{{date}field: '{CHANGED}', old: 0.8, new: 0.7, before_data_opened: true}}"
    declare(folder, bound=0.7, amendments=f"amendments: [{said}]", study=DATES)
    exploratory = ("not assessable", ("P35",))
    assert words(folder) == {
        "finds": ("pass", ()) if why == "before" else exploratory,
        "spares": ("pass", ()),
    }
    changes = lock.lock_status(*read_study(folder)).changes
    assert [c.why for c in changes] == ([] if why == "before" and not locked else [why])
    study, made = read_study(folder)
    (reason,) = [
        catalogue("en")(v.reason) for v in assess(study, made).verdicts if v.criterion.endpoint == "finds"
    ]
    told = {"dated": "dated on or after the day", "undated": "without a date that shows it"}
    assert told.get(why, "above") in reason


@pytest.mark.parametrize(
    "amendment, withheld",
    [
        ("field: 'endpoints[finds]', before_data_opened: false", {"finds"}),
        ("field: finds, date: 2026-03-01", {"finds"}),
        ("field: finds, date: 2025-12-01", set()),  # part of what was fixed
        ("field: the margin of the first endpoint, date: 2026-03-01", {"finds", "spares"}),
        ("field: operating_point.threshold, date: 2026-03-01", {"finds", "spares"}),
        ("field: study.sponsor, before_data_opened: false", set()),  # without effect
        ("field: 'arms[aided].label', before_data_opened: false", set()),
    ],
)
def test_without_a_lock_an_amendment_made_later_bears_on_what_it_names(
    folder: Path, amendment: str, withheld: set[str]
) -> None:
    declare(folder, study=DATES, amendments=f"amendments: [{{{amendment}}}]")
    assert {name for name, (word, _) in words(folder).items() if word == "not assessable"} == withheld
    assert fired(folder) == ({"P35"} if withheld else set())


@pytest.mark.parametrize("by_service, word", [(True, "not assessable"), (False, "pass")])
def test_a_lock_of_a_service_has_the_amendments_that_were_made_in_time(
    folder: Path, by_service: bool, word: str
) -> None:
    file, made = lock_criteria(declare(folder))
    if by_service:
        first = replace(made.first, fixed_at="2026-01-12T10:00:00+00:00")
        file.write_bytes(lock.written(lock.Lock((first,))))
    said = f"amendments: [{{field: '{CHANGED}', new: 0.7, date: 2025-01-01, before_data_opened: true}}]"
    declare(folder, bound=0.7, amendments=said)
    assert words(folder)["finds"][0] == word
    lock_criteria(folder, amend=True, reason="Typing error")
    assert words(folder)["finds"][0] == "pass"


def test_a_lock_of_a_service_that_was_made_after_the_opening_is_late(folder: Path) -> None:
    file, made = lock_criteria(declare(folder, study="study: {data_opened_at: 2026-01-11}"))
    for day, checks in (("2026-01-10", ()), ("2026-01-12", ("P35",))):
        clocked = lock.Lock((replace(made.first, fixed_at=f"{day}T10:00:00+00:00"),))
        file.write_bytes(lock.written(clocked))
        assert lock.read(file.read_bytes()) == clocked
        assert words(folder)["finds"][1] == checks


def test_an_amendment_to_another_value_does_not_cover_a_change(folder: Path) -> None:
    lock_criteria(declare(folder))
    declare(
        folder,
        bound=0.6,
        amendments=f"amendments: [{{field: '{CHANGED}', new: 0.7, before_data_opened: true}}]",
    )
    assert words(folder)["finds"] == ("not assessable", ("P34",))


def test_amending_the_lock_does_not_launder_a_change(folder: Path) -> None:
    lock_criteria(declare(folder))
    declare(folder, bound=0.7)
    lock_criteria(folder, amend=True, reason="second thoughts")
    assert words(folder)["finds"] == ("not assessable", ("P34",))
    kept = lock.read((folder / lock.FILE).read_bytes())
    assert [e.reason for e in kept.entries] == ["", "second thoughts"]


def test_a_criterion_taken_away_stays_in_the_table(folder: Path) -> None:
    lock_criteria(declare(folder))
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text("\n".join(line for line in text.splitlines() if "spares" not in line))
    assert words(folder) == {"finds": ("pass", ()), "spares": ("not assessable", ("P34",))}
    assert fired(folder) == {"P34"}


def test_a_criterion_added_later_is_exploratory(folder: Path) -> None:
    lock_criteria(declare(folder))
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text.replace("endpoint: spares", "endpoint: other"))
    found = words(folder)
    assert found["other"] == ("not assessable", ("P34",))
    assert found["finds"] == ("pass", ())


def test_the_order_counts_in_a_fixed_sequence_only() -> None:
    def made(*names: str, family: str) -> Any:
        return plan(
            endpoints=[
                {"endpoint": n, "hypothesis": "superiority", "multiplicity_family": family} for n in names
            ]
        )

    for family, fields in (("fixed sequence", [lock.ORDER]), ("holm", [])):
        first = lock.written(lock.renewed(made("a", "b", family=family)))
        status = lock.lock_status(Study(lock=first), made("b", "a", family=family))
        assert [c.field for c in status.changes] == fields


# ---------------------------------------------------------------- the verdict under what was locked


def bound_amended(how: str) -> str:
    return f"amendments: [{{field: finds.bound_or_margin, new: 0.8, before_data_opened: {how}}}]"


def under_lock(folder: Path) -> dict[str, Any]:
    study, made = read_study(folder)
    found = document(assess(study, made), {}, catalogue("en"))["verdicts"]
    return {v["endpoint"]: (v["verdict"], v["locked"]) for v in found}


@pytest.mark.parametrize(
    "amendments, word",
    [(bound_amended("true"), "pass"), (bound_amended("false"), "not assessable"), ("", "not assessable")],
)
def test_a_changed_bound_shows_the_verdict_under_the_locked_one(
    folder: Path, amendments: str, word: str
) -> None:
    # 90 of 100: Wilson's interval is 0.826 to 0.945.
    lock_criteria(declare(folder, bound=0.85))
    assert under_lock(folder) == {"finds": ("inconclusive", None), "spares": ("pass", None)}
    declare(folder, bound=0.8, amendments=amendments)
    locked = {"bound": 0.85, "verdict": "inconclusive", "alpha": 0.025, "level": 0.95}
    assert under_lock(folder) == {"finds": (word, locked), "spares": ("pass", None)}


def test_a_criterion_taken_away_shows_the_verdict_that_it_would_have_had(folder: Path) -> None:
    lock_criteria(declare(folder, bound=0.96))
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text("\n".join(line for line in text.splitlines() if "finds" not in line))
    word, locked = under_lock(folder)["finds"]
    assert (word, locked["bound"], locked["verdict"]) == ("not assessable", 0.96, "fail")


def test_the_locked_alpha_is_that_of_the_locked_family() -> None:
    """One of three criteria left its family: the others had a third of alpha, and have half."""

    def made(*in_family: str) -> Plan:
        said = {
            "measure": "sensitivity",
            "hypothesis": "performance goal",
            "bound_or_margin": 0.8,
            "alpha": 0.03,
        }
        return plan(
            study={"data_opened_at": "2026-02-01"},
            endpoints=[
                {"endpoint": n, **said, "multiplicity_family": "F, Bonferroni" if n in in_family else "none"}
                for n in "abc"
            ],
            amendments=[{"field": "c", "before_data_opened": True}],
        )

    confusion = (Confusion(set="main", tp=90, fn=10, fp=20, tn=180),)
    study = Study(confusion=confusion, lock=lock.written(lock.renewed(made("a", "b", "c"))))
    found = {v.criterion.endpoint: v for v in assess(study, made("a", "b")).verdicts}
    assert {name: v.alpha for name, v in found.items()} == {"a": 0.015, "b": 0.015, "c": 0.03}
    assert {name: v.locked and v.locked.alpha for name, v in found.items()} == dict.fromkeys("abc", 0.01)


def test_what_was_changed_elsewhere_withholds_the_verdict_under_the_locked_bound_too(folder: Path) -> None:
    lock_criteria(declare(folder, bound=0.85))
    declare(folder, bound=0.8, amendments=bound_amended("true"), study="similarity: {seed: 7}")
    word, locked = under_lock(folder)["finds"]
    assert (word, locked["verdict"]) == ("not assessable", "not assessable")


# ---------------------------------------------------------------- data sets, tables and settings

CASES = "case,patient,truth,score,other\n" + "".join(
    f"C{i},P{i // 4},{i % 2},{(i * 37 % 100) / 100},{(i * 61 % 100) / 100}\n" for i in range(80)
)
SET = """\
report: {kind: certification}
device: {trade_name: Example}
operating_point: {threshold: 0.5, threshold_origin: tuned on development data, threshold_fixed_on: 2025-01-01}
datasets:
  - {dataset: ext, role: external, file: e.csv, cluster_keys: [patient]}
endpoints:
  - {endpoint: finds, measure: advice_accuracy.sensitivity, dataset: ext, hypothesis: performance goal,
     bound_or_margin: 0.1, alpha: 0.025}
"""


@pytest.mark.parametrize(
    "old, new, field",
    [
        (", cluster_keys: [patient]", "", "datasets[ext].cluster_keys"),
        ("file: e.csv", "file: e.csv, columns: {score: other}", "datasets[ext].columns.score"),
        ("endpoints:", "similarity: {permutations: 99}\nendpoints:", "similarity.permutations"),
        (
            "endpoints:",
            "reference_standard: {maturity_days: 9}\nendpoints:",
            "reference_standard.maturity_days",
        ),
        (
            "endpoints:",
            "intended_use: {prevalence_expected: 0.3}\nendpoints:",
            "intended_use.prevalence_expected",
        ),
    ],
)
def test_what_a_verdict_rests_on_is_locked(folder: Path, old: str, new: str, field: str) -> None:
    (folder / "e.csv").write_text(CASES)
    (folder / "study.yaml").write_text(SET)
    lock_criteria(folder)
    assert words(folder) == {"finds": ("pass", ())}
    (folder / "study.yaml").write_text(SET.replace(old, new))
    assert words(folder) == {"finds": ("not assessable", ("P34",))}
    assert fired(folder) == {"P34"}
    status = lock.lock_status(*read_study(folder))
    assert (status.state, [c.field for c in status.changes]) == ("changed", [field])
    (verdict,) = assess(*read_study(folder)).verdicts
    assert field in catalogue("en")(verdict.reason)


def test_titles_and_names_may_change(folder: Path) -> None:
    (folder / "e.csv").write_text(CASES)
    (folder / "study.yaml").write_text(SET)
    lock_criteria(folder)
    told = SET.replace("certification}", "certification, title: Other, notice: Draft}")
    (folder / "study.yaml").write_text(told + "approvals: [{name: A, role: author, meaning: approval}]\n")
    assert words(folder) == {"finds": ("pass", ())}
    assert lock.lock_status(*read_study(folder)).state == "locked"


def test_a_public_report_compares_the_names_that_it_hides(folder: Path) -> None:
    """Sites have pseudonyms in a public report: the lock is of their names, and is not printed with them."""
    rows = [line.split(",") for line in CASES.splitlines()]
    rows = [[*row[:4], "site" if i == 0 else ("Harbour", "Millbrook")[i % 2]] for i, row in enumerate(rows)]
    (folder / "e.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    manifest = SET.replace("certification}", "certification, release: public}").replace(
        "dataset: ext", "dataset: Harbour"
    )
    manifest = manifest.replace("role: external,", "role: external, sites: [Harbour, Millbrook],")
    (folder / "study.yaml").write_text(manifest)
    lock_criteria(folder)
    assert words(folder) == {"finds": ("pass", ())}
    (folder / "study.yaml").write_text(
        manifest.replace("[Harbour, Millbrook]", "[Harbour, Oldtown, Millbrook]")
    )
    made = document(assess(*read_study(folder)), {}, catalogue("en"))
    assert [v["verdict"] for v in made["verdicts"]] == ["not assessable"]
    (change,) = made["criteria"]["changes"]
    assert change["field"].startswith("datasets[S-")
    assert change["criteria"] == ["finds"]
    assert not any(name in json.dumps(made) for name in ("Harbour", "Millbrook", "Oldtown"))


# ---------------------------------------------------------------- the older form

# printf '{"confidence_level":0.95,"endpoints":[{"bound_or_margin":0.8,"endpoint":"E"}]}' | sha256sum
OLDER = {
    "form": "trustreport criteria lock 1",
    "locked": [
        {
            "sha256": "68fd981ae5679e72daed60b3848f38b377a8410fee8016b1527ce6f0435b408a",
            "criteria": {"confidence_level": 0.95, "endpoints": [{"bound_or_margin": 0.8, "endpoint": "E"}]},
        }
    ],
}


def against_older(**groups: Any) -> lock.LockStatus:
    return lock.lock_status(Study(lock=json.dumps(OLDER).encode()), plan(**groups))


@pytest.mark.parametrize(
    "groups, fields",
    [
        ({}, []),
        ({"datasets": [{"dataset": "x", "role": "external"}], "similarity": {"seed": 3}}, []),  # never locked
        ({"limits": {"P17_days": 3}}, ["limits.P17_days"]),
        ({"reading": {"positive_from": 3}}, ["positive_from"]),
        ({"report": {"kind": "certification", "confidence_level": 0.9}}, ["confidence_level"]),
        ({"vigilance": {"indicators": [{"measure": "auc"}]}}, ["indicators[auc]"]),
        ({"endpoints": [{"endpoint": "E", "bound_or_margin": 0.7}]}, ["endpoints[E].bound_or_margin"]),
    ],
)
def test_a_lock_of_the_older_form_is_compared_on_what_it_covers(
    groups: dict[str, Any], fields: list[str]
) -> None:
    status = against_older(**{"endpoints": [{"endpoint": "E", "bound_or_margin": 0.8}], **groups})
    assert status.older
    assert [c.field for c in status.changes] == fields
    assert status.state == ("changed" if fields else "locked")
    assert (status.sha256 == OLDER["locked"][0]["sha256"]) != bool(fields)


@pytest.mark.parametrize("field", ["positive_from", "reading.positive_from"])
def test_an_amendment_may_use_the_path_of_either_form(field: str) -> None:
    amendments = [{"field": field, "before_data_opened": True}]
    groups = {"endpoints": [{"endpoint": "E", "bound_or_margin": 0.8}], "reading": {"positive_from": 3}}
    assert against_older(**groups, amendments=amendments).state == "amended"
    first = lock.renewed(plan(endpoints=groups["endpoints"]))
    now = plan(**groups, amendments=amendments)
    assert lock.lock_status(Study(lock=lock.written(first)), now).state == "amended"


def test_the_register_says_that_an_older_lock_covers_the_criteria_alone(folder: Path) -> None:
    text = "report: {kind: certification}\ndevice: {}\nendpoints: [{endpoint: E, bound_or_margin: 0.8}]\n"
    text += "confusion: [{set: main, tp: 90, fn: 10, fp: 20, tn: 180}]\n"
    (folder / "study.yaml").write_text(text)
    (folder / lock.FILE).write_text(json.dumps(OLDER))
    assessed = assess(*read_study(folder))
    said = [(o.severity, o.message.key) for o in assessed.checks if o.check == "P34" and o.status == "fired"]
    assert said == [("W", "checks.P34.older")]
    assert document(assessed, {}, catalogue("en"))["criteria"]["covers"] == "criteria"
    assert run(folder).exit_code == 0  # nothing of it is changed
    assert "older form" in run(folder).stderr
    assert json.loads((folder / lock.FILE).read_text()) == OLDER
    assert run(folder, "--amend", "--reason", "all of it").exit_code == 0
    kept = lock.read((folder / lock.FILE).read_bytes())
    assert [e.older for e in kept.entries] == [True, False]
    assert lock.lock_status(*read_study(folder)).older  # what counts is the first


# ---------------------------------------------------------------- the command


def run(*words_: Any) -> Any:
    return CliRunner().invoke(main, ["lock", *map(str, words_)])


def test_the_command_writes_once_and_refuses_to_overwrite(folder: Path) -> None:
    declare(folder)
    first = run(folder)
    assert first.exit_code == 0
    assert first.stdout.strip() == str(folder / lock.FILE)
    assert lock.fingerprint(lock.criteria(read_study(folder)[1])) in first.stderr
    data = (folder / lock.FILE).read_bytes()
    assert run(folder).exit_code == 0
    assert (folder / lock.FILE).read_bytes() == data
    declare(folder, bound=0.7)
    refused = run(folder)
    assert refused.exit_code == 1
    assert CHANGED in refused.stderr
    assert "--amend" in refused.stderr
    assert (folder / lock.FILE).read_bytes() == data
    assert run(folder, "--amend", "--reason", "typing error").exit_code == 0
    assert json.loads((folder / lock.FILE).read_text())["locked"][1]["reason"] == "typing error"


def test_the_tables_need_not_be_there(folder: Path) -> None:
    text = "report: {kind: procurement}\ndevice: {}\nendpoints: [{endpoint: E}]\n"
    text += "tables: {scores: {file: later.csv}}\n"
    (folder / "study.yaml").write_text(text)
    assert run(folder).exit_code == 0


def test_nothing_to_lock_is_said(folder: Path) -> None:
    (folder / "study.yaml").write_text("report: {kind: procurement}\ndevice: {}\n")
    told = run(folder)
    assert told.exit_code == 1
    assert "no criteria are declared" in told.stderr
    assert not (folder / lock.FILE).exists()


# ---------------------------------------------------------------- time stamps


def stamped() -> dict[str, tuple[str, dt.datetime]]:
    found = {}
    for line in (STAMPS / "hashes.txt").read_text().splitlines():
        name, digest, when = line.split(" ", 2)
        time = dt.datetime.strptime(when, "%b %d %H:%M:%S %Y GMT").replace(tzinfo=dt.UTC)
        found[name] = (digest, time)
    return found


@pytest.mark.parametrize("file", ["one.tsr", "other.tsr", "one.token"])
def test_a_time_stamp_of_openssl_is_read_as_openssl_reads_it(file: str) -> None:
    found = stamp((STAMPS / file).read_bytes())
    assert (found.imprint, found.time) == stamped()[file.partition(".")[0]]
    assert found.algorithm == "sha256"


def test_what_is_no_time_stamp_is_refused() -> None:
    data = (STAMPS / "one.tsr").read_bytes()
    for broken in (b"", b"hello", data[:200], data[1:], bytes([0x30, 0x80]), data[:-1]):
        with pytest.raises(ValueError, match="no time stamp"):
            stamp(broken)


def test_a_stamp_of_something_else_is_not_kept(folder: Path) -> None:
    declare(folder)
    told = run(folder, "--token", STAMPS / "one.tsr")
    assert told.exit_code == 1
    assert "not of the locked criteria" in told.stderr


def test_a_stamp_of_the_first_lock_says_when() -> None:
    digest, time = stamped()["one"]
    declared = plan(endpoints=[{"endpoint": "E"}])
    token = (STAMPS / "one.tsr").read_bytes()
    entry = lock.LockEntry(digest, {}, token=token)
    assert lock.stamp_of(entry) == (stamp(token), False)
    assert stamp(token).time == time
    made = lock.renewed(declared)
    other = lock.Lock((lock.LockEntry(made.last.sha256, made.last.criteria, token=token),))
    status = lock.lock_status(Study(lock=lock.written(other)), declared)
    assert (status.state, status.stamp, status.misplaced) == ("locked", None, True)
    with pytest.raises(ValueError, match="not of the locked criteria"):
        lock.stamped(made, token)
