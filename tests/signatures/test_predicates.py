"""Statements of in-toto on a lock and on verdicts: another library verifies them, wrong ones are refused."""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

from trustreport.commands.cli import main
from trustreport.report.signatures.bundle import HASHES, hashes, lock_envelope
from trustreport.report.signatures.predicates import EVALUATED, PREREGISTERED
from trustreport.report.signatures.signing import PREDICATE, Signer, enveloped, files_statement
from trustreport.study.lock.file import FILE, read

ROOT = Path(__file__).resolve().parents[2]
ADA = "Ada Lovelace <ada@example.org>"
STATEMENT = lock_envelope(1)
NUMBERS = {"value": 0.9, "low": 0.79, "high": 0.94, "above": 0.8}
VERDICT = {"endpoint": "auc", "verdict": "inconclusive", **NUMBERS}
MANIFEST = """
report: {kind: certification, title: Locked}
device: {trade_name: Aid, software_version: "1", manufacturer: Maker}
endpoints:
  - endpoint: sensitivity
    role: primary
    measure: advice_accuracy.sensitivity
    hypothesis: performance goal
    bound_or_margin: 0.85
    dataset: test
datasets: [{dataset: test, role: external}]
"""


def signer_in(folder: Path) -> Signer:
    """A key, also as the file that the commands take, and its public half as a file of signers."""
    folder.mkdir(exist_ok=True)
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "key.pem").write_bytes(private)
    (folder / "signers.pem").write_text("# Ada\n" + Signer(key).public_pem)
    return Signer(key)


def run(*arguments: object) -> tuple[int, str]:
    """Exit status and all output of a command."""
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.fixture
def ada(tmp_path: Path) -> Signer:
    return signer_in(tmp_path / "ada")


@pytest.fixture
def study(tmp_path: Path, ada: Signer) -> Path:
    """A study whose lock is signed."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.yaml").write_text(MANIFEST, encoding="utf-8")
    status, said = run("lock", folder, "--key", tmp_path / "ada" / "key.pem", "--signer", ADA)
    assert status == 0, said
    assert STATEMENT in said
    return folder


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report with one verdict."""
    folder = tmp_path / "report"
    folder.mkdir()
    results = {"verdicts": [VERDICT], "criteria": {"locked_sha256": "ab" * 32}, "study": {"title": "Small"}}
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    (folder / HASHES).write_bytes(hashes(folder))
    return folder


def statements(study: Path, signers: dict[bytes, str] | None = None) -> list[tuple[str, str]]:
    """What is found of the statements on a lock."""
    from trustreport.commands.signing import lock_statements

    return [(one.status, one.said) for one in lock_statements(study, signers)]


def test_another_library_verifies_the_statement_on_a_lock(study: Path, ada: Signer) -> None:
    envelope = Envelope.from_dict(json.loads((study / STATEMENT).read_bytes()))
    assert envelope.payload_type == "application/vnd.in-toto+json"
    assert envelope.verify([SSlibKey.from_crypto(ada.key.public_key(), keyid=ada.name)], 1)
    said = json.loads(envelope.payload)
    locked = read((study / FILE).read_bytes()).last.sha256
    assert (said["_type"], said["predicateType"]) == ("https://in-toto.io/Statement/v1", PREREGISTERED)
    assert [one["digest"] for one in said["subject"]] == [{"sha256": locked}]
    (criterion,) = said["predicate"]["criteria"]
    assert criterion == {
        "criterion": "sensitivity",
        "metric": "advice_accuracy.sensitivity",
        "hypothesis": "performance goal",
        "threshold": ["0.85"],
    }
    kept = ROOT / "schemas" / "pre-registered-criteria.schema.json"
    schema = json.loads(kept.read_text(encoding="utf-8"))
    assert schema["$id"] == PREREGISTERED
    jsonschema.validate(said["predicate"], schema)


def test_the_statement_on_a_lock_is_verified_by_whom_and_of_what(study: Path, ada: Signer) -> None:
    ((status, said),) = statements(study)
    assert status == "signed"
    assert "criteria fixed by Ada Lovelace" in said
    assert "signer unknown" in said
    assert statements(study, {ada.public: "Ada"})[0][1].endswith("the signature is valid, by Ada")
    stranger = Signer(Ed25519PrivateKey.generate()).public
    assert statements(study, {stranger: "Eve"})[0][0] == "wrong"


def test_an_amended_lock_has_a_second_statement_and_the_first_one_stays(
    study: Path, ada: Signer, tmp_path: Path
) -> None:
    first = (study / STATEMENT).read_bytes()
    (study / "study.yaml").write_text(MANIFEST.replace("0.85", "0.8"), encoding="utf-8")
    key = ("--key", tmp_path / "ada" / "key.pem", "--signer", ADA)
    assert run("lock", study, "--amend", "--reason", "Too strict.", *key)[0] == 0
    assert (study / STATEMENT).read_bytes() == first
    assert [status for status, _ in statements(study, {ada.public: "Ada"})] == ["signed", "signed"]
    status, said = run("lock", study, *key)
    assert (status, "there already; a signature is not overwritten" in said) == (1, True)
    shutil.copy(study / STATEMENT, study / lock_envelope(2))
    (study / FILE).unlink()
    assert statements(study)[0][0] == "wrong"


def test_the_signer_of_a_lock_is_named(study: Path, tmp_path: Path) -> None:
    status, said = run("lock", study, "--key", tmp_path / "ada" / "key.pem")
    assert (status, "--key and --signer go together" in said) == (2, True)


def altered(envelope: bytes, change: Callable[[dict[str, Any]], None], signer: Signer | None = None) -> bytes:
    """An envelope with another statement in it, under the old signature or signed again."""
    said = json.loads(envelope)
    statement = json.loads(base64.b64decode(said["payload"]))
    change(statement)
    payload = json.dumps(statement).encode()
    if signer is not None:
        return enveloped(payload, signer)
    return json.dumps(said | {"payload": base64.b64encode(payload).decode()}).encode()


def test_a_statement_on_a_lock_that_is_not_what_was_signed_is_wrong(study: Path, ada: Signer) -> None:
    file, whole = study / STATEMENT, (study / STATEMENT).read_bytes()
    wrong = {
        "is not what was signed": altered(whole, lambda said: said["predicate"].update(createdAt="2020")),
        "is no statement on a lock": altered(whole, lambda said: said.update(predicateType=PREDICATE), ada),
        "is of other criteria": altered(whole, lambda said: said["predicate"].update(version=2), ada),
        "its version is not as": altered(whole, lambda said: said["predicate"].update(version="1"), ada),
        "its predicate is not as": altered(whole, lambda said: said.update(predicate=[]), ada),
        "no envelope of DSSE": b"[]",
    }
    for reason, data in wrong.items():
        file.write_bytes(data)
        ((status, said),) = statements(study, {ada.public: "Ada"})
        assert (status, reason in said) == ("wrong", True), said
    other = altered(whole, lambda said: said["subject"][0]["digest"].update(sha256="cd" * 32), ada)
    file.write_bytes(other)
    assert "is of other criteria" in statements(study)[0][1]


def test_a_statement_of_easier_criteria_than_those_locked_is_wrong(study: Path, ada: Signer) -> None:
    easier = [{"criterion": "sensitivity", "metric": None, "hypothesis": None, "threshold": ["0.5"]}]
    whole = (study / STATEMENT).read_bytes()
    (study / STATEMENT).write_bytes(
        altered(whole, lambda said: said["predicate"].update(criteria=easier), ada)
    )
    ((status, said),) = statements(study, {ada.public: "Ada"})
    assert (status, "other criteria" in said) == ("wrong", True)


def envelope_on(report: Path, kind: str, predicate: dict[str, Any], signer: Signer) -> Path:
    """An envelope beside a report, on its files."""
    from trustreport.report.signatures.bundle import digest

    subjects = {file.name: digest(file) for file in report.iterdir() if ".dsse." not in file.name}
    target = report / "approval.dsse.json"
    target.write_bytes(enveloped(files_statement(subjects, predicate, kind), signer))
    return target


def test_an_envelope_of_the_earlier_type_still_verifies(report: Path, ada: Signer, tmp_path: Path) -> None:
    public = base64.b64encode(ada.public).decode()
    before = {"act": "approval", "meaning": "Approved.", "public_key": public, "verdicts": [VERDICT]}
    envelope_on(report, PREDICATE, before, ada)
    status, said = run("verify", report, "--signers", tmp_path / "ada" / "signers.pem")
    assert (status, "states: approval, Approved.; the signature is valid, by Ada" in said) == (0, True)


def test_an_envelope_of_another_type_or_form_is_wrong(report: Path, ada: Signer) -> None:
    envelope_on(report, "https://example.org/else/v1", {"act": "approval"}, ada)
    assert "is no statement on a report, but of type https://example.org/else/v1" in run("verify", report)[1]
    envelope_on(report, EVALUATED, {"act": "approval", "meaning": "m", "claims": "all passed"}, ada)
    status, said = run("verify", report)
    assert (status, f"is not as {EVALUATED} has it" in said) == (1, True)


def test_an_inconclusive_verdict_has_not_passed(report: Path, tmp_path: Path, ada: Signer) -> None:
    key = tmp_path / "ada" / "key.pem"
    assert run("sign", report, "--key", key, "--signer", ADA, "--meaning", "Read.")[0] == 0
    envelope = Envelope.from_dict(json.loads((report / "approval.dsse.json").read_bytes()))
    assert envelope.verify([SSlibKey.from_crypto(ada.key.public_key(), keyid=ada.name)], 1)
    (claim,) = json.loads(envelope.payload)["predicate"]["claims"]
    assert (claim["passed"], claim["verdict"]) == (False, "inconclusive")
    assert run("verify", report, "--signers", tmp_path / "ada" / "signers.pem")[0] == 0


def test_a_second_signature_counts_for_who_made_it_and_for_nobody_else(
    report: Path, tmp_path: Path, ada: Signer
) -> None:
    who = ("--key", tmp_path / "ada" / "key.pem", "--signer", ADA)
    assert run("sign", report, *who, "--meaning", "Read.", "--form", "in-toto")[0] == 0
    file, eve = report / "approval.dsse.json", signer_in(tmp_path / "eve")
    said = json.loads(file.read_bytes())
    other = json.loads(enveloped(base64.b64decode(said["payload"]), eve))["signatures"]
    forged = [{"keyid": eve.name, "sig": base64.b64encode(bytes(64)).decode()}]
    ours = said["signatures"]
    (tmp_path / "eve" / "signers.pem").write_text("# Eve\n" + eve.public_pem)
    for signatures, signers, status in (
        ([*ours, *other], "ada", 0),
        ([*other, *ours], "eve", 0),
        ([*forged, *ours], "ada", 0),
        ([*forged, *ours], "eve", 1),
        (other, "ada", 1),
    ):
        file.write_text(json.dumps(said | {"signatures": signatures}))
        found = run("verify", report, "--signers", tmp_path / signers / "signers.pem")
        assert found[0] == status, found[1]


def test_two_subjects_of_one_name_are_refused(report: Path, ada: Signer) -> None:
    file = envelope_on(report, PREDICATE, {"act": "approval"}, ada)
    said = file.read_bytes()
    file.write_bytes(altered(said, lambda one: one["subject"].append(one["subject"][0]), ada))
    assert "no envelope of DSSE with a statement of in-toto" in run("verify", report)[1]
