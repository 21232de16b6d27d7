"""Sign a report on the command line in each form, and what `verify` says of it, also once it is changed."""

import builtins
import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import page as conformance
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

from tests.signatures.authority import NOW, Certified, StampAuthority, certified
from trustreport.api import lock_criteria
from trustreport.commands.cli import main
from trustreport.report import pdf
from trustreport.report.signatures.bundle import HASHES, hashes
from trustreport.report.signatures.predicates import EVALUATED
from trustreport.study.lock.file import FILE, read, stamped, written

ADA = "Ada Lovelace <ada@example.org>"
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def run(*arguments: object) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A key with its certificate below a root, as files, and the root."""
    folder = tmp_path_factory.mktemp("identity")
    root = certified("Root of the institute", authority=True)
    own = certified("Ada Lovelace", root, key=Ed25519PrivateKey.generate())
    (folder / "key.pem").write_bytes(own.key_pem)
    (folder / "chain.pem").write_bytes(own.pem + root.pem)
    public = own.key.public_key()
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "signers.pem").write_bytes(b"# Ada of the institute\n" + pem)
    return {"folder": folder, "root": root, "own": own, "public": public}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report: a page, results, and their hashes."""
    folder = tmp_path_factory.mktemp("small") / "report"
    folder.mkdir()
    page = pdf.packaged_page(
        "report/sizing.html.j2",
        "ab" * 32,
        [("results.json", b"{}", "Results")],
        title="Small",
        parts=[],
        foot="",
    )
    (folder / "report.pdf").write_bytes(page)
    results = {
        "verdicts": [
            {"endpoint": "auc", "verdict": "pass", "value": 0.9, "low": 0.85, "high": 0.94, "above": 0.8}
        ],
        "criteria": {"locked_sha256": "ab" * 32},
        "study": {"title": "Small"},
    }
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    (folder / HASHES).write_bytes(hashes(folder))
    return folder


@pytest.fixture
def report(small: Path, tmp_path: Path) -> Path:
    """A copy that a test may sign and change."""
    return Path(shutil.copytree(small, tmp_path / "report"))


def signed(report: Path, identity: dict[str, Any], *more: object) -> tuple[int, str, str]:
    key = identity["folder"] / "key.pem"
    return run("sign", report, "--key", key, "--signer", ADA, "--meaning", "Approved for use.", *more)


def roots(identity: dict[str, Any], *others: Certified) -> Path:
    file: Path = identity["folder"] / f"roots-{len(others)}.pem"
    file.write_bytes(b"".join(one.pem for one in (identity["root"], *others)))
    return file


@pytest.mark.pdf
def test_each_form_is_written_beside_the_report_and_verified(
    report: Path, identity: dict[str, Any], authority: StampAuthority
) -> None:
    before = {p.name: p.read_bytes() for p in report.iterdir()}
    forms = ("--form", "statement", "--form", "in-toto", "--form", "pdf")
    with authority.served() as address:
        chain = identity["folder"] / "chain.pem"
        status, out, err = signed(report, identity, *forms, "--certificate", chain, "--tsa", address)
    assert status == 0, err
    made = {Path(line).name for line in out.splitlines()}
    assert made == {
        "approval.json",
        "approval.json.sig",
        "approval.json.sig.tsr",
        "approval.dsse.json",
        "approval.dsse.json.tsr",
        "report.signed.pdf",
    }
    assert {name: (report / name).read_bytes() for name in before} == before
    trusted = roots(identity, authority.root)
    status, out, err = run(
        "verify", report, "--signers", identity["folder"] / "signers.pem", "--roots", trusted
    )
    assert status == 0, err
    assert out.count("the signature is valid, by Ada of the institute") == 2
    assert out.count("its certificate leads to a trusted root") == 3
    assert f"time stamp of {NOW:%Y-%m-%d %H:%M} UTC" in out
    assert "not changed since" in out
    assert "2 unchanged, 0 changed or missing" in out


@pytest.mark.pdf
@pytest.mark.parametrize("profile", ["3a", "ua1"])
def test_a_signed_copy_is_as_conforming_as_the_report(
    report: Path, identity: dict[str, Any], profile: str
) -> None:
    chain = identity["folder"] / "chain.pem"
    assert signed(report, identity, "--form", "pdf", "--certificate", chain)[0] == 0
    copy = (report / "report.signed.pdf").read_bytes()
    assert copy.startswith((report / "report.pdf").read_bytes())
    found = conformance.validate_pdf_bytes(copy, profile=profile)
    assert [(f.rule_id, f.message) for f in found.failures] == []


@pytest.mark.pdf
def test_a_signed_copy_that_changed_or_is_of_a_stranger_is_wrong(
    report: Path, identity: dict[str, Any], authority: StampAuthority, tmp_path: Path
) -> None:
    chain = identity["folder"] / "chain.pem"
    assert signed(report, identity, "--form", "pdf", "--certificate", chain)[0] == 0
    copy = report / "report.signed.pdf"
    status, out, _ = run("verify", report)
    assert status == 0
    assert "its certificate is not checked (name trusted roots by --roots)" in out
    stranger = tmp_path / "stranger.pem"
    stranger.write_bytes(authority.root.pem)
    status, _, err = run("verify", report, "--roots", stranger)
    assert status == 1
    assert "its certificate does not lead to a trusted root" in err
    content = copy.read_bytes()
    copy.write_bytes(content + b"\n% added")
    assert "something was added since" in run("verify", report)[2]
    draw = np.random.default_rng(1)
    for place in draw.integers(len(content), size=12):  # of the report or of what was appended
        other = bytearray(content)
        other[place] ^= 0xFF
        copy.write_bytes(bytes(other))
        status, _, err = run("verify", report)
        assert status == 1
        assert err.startswith("report.signed.pdf ")
    copy.write_bytes((report / "report.pdf").read_bytes())
    assert "report.signed.pdf has no signature" in run("verify", report)[2]


def test_the_envelope_is_verified_by_another_implementation_and_states_the_verdicts(
    report: Path, identity: dict[str, Any]
) -> None:
    assert signed(report, identity, "--form", "in-toto")[0] == 0
    said = json.loads((report / "approval.dsse.json").read_bytes())
    envelope = Envelope.from_dict(said)
    key = SSlibKey.from_crypto(identity["public"], keyid="ada")
    (keyid,) = envelope.signatures
    key.keyid = keyid
    assert envelope.verify([key], 1)
    statement = json.loads(envelope.payload)
    assert {one["name"] for one in statement["subject"]} == {"report.pdf", "results.json", HASHES}
    assert statement["predicateType"] == EVALUATED
    (claim,) = statement["predicate"]["claims"]
    assert (claim["verdict"], claim["passed"], claim["low"]) == ("pass", True, 0.85)
    assert claim["bounds"] == [{"comparator": ">", "threshold": "0.8"}]
    assert statement["predicate"]["preRegistration"] == {"alg": "sha256", "value": "ab" * 32}
    schema = json.loads((ROOT / "schemas" / "eval-result.schema.json").read_text(encoding="utf-8"))
    assert schema["$id"] == EVALUATED
    jsonschema.validate(statement["predicate"], schema)
    assert statement["predicate"]["meaning"] == "Approved for use."


def test_an_envelope_on_other_files_or_by_a_stranger_is_wrong(
    report: Path, identity: dict[str, Any], tmp_path: Path
) -> None:
    assert signed(report, identity, "--form", "in-toto")[0] == 0
    assert "signer unknown" in run("verify", report)[1]
    stranger = Ed25519PrivateKey.generate()
    from trustreport.report.signatures.signing import Signer

    (tmp_path / "other.pem").write_text(Signer(stranger).public_pem)
    status, _, err = run("verify", report, "--signers", tmp_path / "other.pem")
    assert status == 1
    assert "by none of the given signers" in err
    (report / "report.pdf").write_bytes(b"%PDF")
    assert "of other files than these: report.pdf is another one" in run("verify", report)[2]


def test_a_stamp_of_something_else_is_wrong(
    report: Path, identity: dict[str, Any], authority: StampAuthority
) -> None:
    with authority.served() as address:
        assert signed(report, identity, "--tsa", address)[0] == 0
    assert "its certificate is not checked" in run("verify", report)[1]
    status, _, err = run("verify", report, "--roots", roots(identity))
    assert status == 1
    assert "approval.json.sig.tsr cannot be verified: its authority is not verified" in err
    (report / "approval.json.sig.tsr").write_bytes(authority.stamp("ab" * 32))
    assert "is a time stamp of something other than approval.json.sig" in run("verify", report)[2]


def test_nothing_is_written_where_the_authority_is_not_there(report: Path, identity: dict[str, Any]) -> None:
    before = sorted(report.iterdir())
    status, _, err = signed(report, identity, "--form", "statement", "--tsa", "http://127.0.0.1:9/")
    assert status == 1
    assert "nothing was signed: http://127.0.0.1:9/: no answer" in err
    assert sorted(report.iterdir()) == before


def test_a_changed_report_is_not_signed_and_a_signature_not_overwritten(
    report: Path, identity: dict[str, Any]
) -> None:
    assert signed(report, identity)[0] == 0
    again = "approval.json, approval.json.sig, approval.dsse.json: there already"
    assert again in signed(report, identity)[2]
    assert signed(report, identity, "--act", "review")[0] == 0
    assert run("verify", report)[0] == 0
    (report / "results.json").write_text("{}")
    status, _, err = signed(report, identity, "--act", "second")
    assert status == 1
    assert "not signed: results.json changed or missing" in err


@pytest.mark.parametrize(
    "given, said",
    [
        (["--form", "pdf"], "--form pdf goes with --certificate"),
        (["--signer", "Ada"], "whoever signs is named as 'Name <address>'"),
        (["--act", "../x"], "write one word"),
        (["--key", "chain.pem"], "expected a private Ed25519 key in PEM"),
    ],
)
def test_wrong_use_is_refused(report: Path, identity: dict[str, Any], given: list[str], said: str) -> None:
    more = [identity["folder"] / one if one.endswith(".pem") else one for one in given]
    status, _, err = signed(report, identity, *more)
    assert status == 2
    assert said in err
    assert len(list(report.iterdir())) == 3


def test_a_certificate_of_another_key_signs_nothing(
    report: Path, identity: dict[str, Any], authority: StampAuthority, tmp_path: Path
) -> None:
    (tmp_path / "other.pem").write_bytes(authority.root.pem)
    status, _, err = signed(report, identity, "--form", "pdf", "--certificate", tmp_path / "other.pem")
    assert status == 1
    assert "the first certificate is not that of the key" in err


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the extra."""
    original = builtins.__import__

    def without(name: str, *given: Any, **more: Any) -> Any:
        if name.split(".")[0] in ("pyhanko", "rfc3161_client"):
            raise ModuleNotFoundError(f"No module named '{name}'")
        return original(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)


def test_without_the_extra_one_message_names_it(
    report: Path, identity: dict[str, Any], authority: StampAuthority, bare: None
) -> None:
    chain = identity["folder"] / "chain.pem"
    status, _, err = signed(report, identity, "--form", "pdf", "--certificate", chain)
    assert status == 1
    assert err.count("pip install 'trustreport[sign]'") == 1
    (report / "report.pdf.tsr").write_bytes(b"x")
    (report / "report.signed.pdf").write_bytes(b"x")
    _, _, err = run("verify", report, "--roots", roots(identity))
    assert "report.signed.pdf cannot be checked here: pip install 'trustreport[sign]'" in err


def test_the_time_stamps_of_a_lock_are_verified_with_the_study(
    tmp_path: Path, identity: dict[str, Any], authority: StampAuthority
) -> None:
    from trustreport.commands.signing import lock_stamps

    study = Path(shutil.copytree(EXAMPLES / "certification-dossier", tmp_path / "study"))
    (study / FILE).unlink(missing_ok=True)
    file, lock = lock_criteria(study)
    assert lock_stamps(study) == []
    file.write_bytes(written(stamped(lock, authority.stamp(lock.last.sha256))))
    assert read(file.read_bytes()).last.token
    (one,) = lock_stamps(study)
    assert (one.status, "not checked" in one.said) == ("signed", True)
    (one,) = lock_stamps(study, [authority.root.certificate])
    assert "leads to a trusted root" in one.said
    (one,) = lock_stamps(study / "study.yaml", [identity["root"].certificate])
    assert (one.status, "its authority is not verified" in one.said) == ("wrong", True)
