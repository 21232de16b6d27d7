"""The lock of the criteria: what it holds, what a change does, what a time stamp says."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from studies import plan

from trustreport import lock
from trustreport.api import assess, lock_criteria, read_study
from trustreport.cli import main
from trustreport.errors import StudyError
from trustreport.study import Study
from trustreport.timestamp import stamp

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
    # printf '{"confidence_level":0.95,"endpoints":[{"bound_or_margin":0.8,"endpoint":"E"}]}' | sha256sum
    expected = "68fd981ae5679e72daed60b3848f38b377a8410fee8016b1527ce6f0435b408a"
    assert (
        lock.fingerprint(lock.criteria(plan(endpoints=[{"endpoint": "E", "bound_or_margin": 0.8}])))
        == expected
    )


@pytest.mark.parametrize(
    "group",
    [
        {"operating_point": {"threshold": 0.4}},
        {"subgroups": [{"name": "sex"}]},
        {"limits": {"P17_days": 3}},
        {"utility": {"thresholds": [0.1]}},
        {"families": [{"family": "F", "rule": "holm"}]},
        {"reading": {"positive_from": 3}},
        {"precision_targets": {"auc": {"target_se": 0.02}}},
        {"vigilance": {"indicators": [{"measure": "auc", "to_detect": 0.8}]}},
    ],
)
def test_every_criterion_is_locked(group: dict[str, Any]) -> None:
    assert lock.criteria(plan(**group)) != lock.criteria(plan())


def test_what_is_no_criterion_is_not_locked() -> None:
    free = plan(device={"trade_name": "X"}, study={"sponsor": "Y"}, documents=[{"id": "D"}])
    assert lock.criteria(free) == lock.criteria(plan())


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
    assert lock.standing(*read_study(folder)).state == "declared"


@pytest.mark.parametrize("locked", [True, False])
def test_criteria_fixed_after_the_data_were_opened_get_no_verdict(folder: Path, locked: bool) -> None:
    declare(folder, study="study: {sap_locked_at: 2026-03-01, data_opened_at: 2026-02-01}")
    if locked:
        lock_criteria(folder)
    assert words(folder)["finds"] == ("not assessable", ("P35",))
    assert fired(folder) == {"P35"}


def test_the_same_day_is_not_later() -> None:
    same = plan(study={"sap_locked_at": "2026-02-01T18:00:00", "data_opened_at": "2026-02-01"})
    assert not lock.standing(Study(), same).late
    hour = plan(study={"sap_locked_at": "2026-02-01T18:00:00", "data_opened_at": "2026-02-01T09:00:00"})
    assert lock.standing(Study(), hour).late


def test_an_undeclared_change_is_named_and_concerns_its_criterion_alone(folder: Path) -> None:
    lock_criteria(declare(folder))
    declare(folder, bound=0.7)
    assert words(folder) == {"finds": ("not assessable", ("P34",)), "spares": ("pass", ())}
    assert fired(folder) == {"P34"}
    (change,) = lock.standing(*read_study(folder)).changes
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
        standing = lock.standing(Study(lock=first), made("b", "a", family=family))
        assert [c.field for c in standing.changes] == fields


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
    entry = lock.Entry(digest, {}, token=token)
    assert lock._stamp(entry) == (stamp(token), False)
    assert stamp(token).time == time
    made = lock.renewed(declared)
    other = lock.Lock((lock.Entry(made.last.sha256, made.last.criteria, token=token),))
    standing = lock.standing(Study(lock=lock.written(other)), declared)
    assert (standing.state, standing.stamp, standing.misplaced) == ("locked", None, True)
    with pytest.raises(ValueError, match="not of the locked criteria"):
        lock.stamped(made, token)
