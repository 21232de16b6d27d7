"""Statements beside a report: signatures by whom, over which files; what forged ones look like."""

import base64
import json
import shutil
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("cryptography")

from trustreport.api import Assessed, write_report
from trustreport.commands.cli import main
from trustreport.report.signatures.bundle import files
from trustreport.report.signatures.signing import Signer, is_signed, read_signers

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "knee-mri"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, assessed_study: Callable[[Path], Assessed]) -> Path:
    out = tmp_path_factory.mktemp("attested") / "out"
    write_report(assessed_study(EXAMPLE), out, formats=("json", "csv"))
    return out


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer.open(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def out(made: Path, signer: Signer, tmp_path: Path) -> Path:
    """A report with an approval beside it, as the service gives both."""
    folder = Path(shutil.copytree(made, tmp_path / "out"))
    put(folder, signer, statement(folder, signer))
    return folder


def statement(folder: Path, signer: Signer, **other: Any) -> bytes:
    said = {
        "format": "trustreport attestation 1",
        "act": "approval",
        "meaning": "Suitable for the dossier",
        "signer": {"name": "Carl", "email": "carl@h.test"},
        "at": 1_760_000_000_000,
        "report": {"files": {n: sha256((folder / n).read_bytes()).hexdigest() for n in files(folder)}},
        "key": signer.name,
        "public_key": base64.b64encode(signer.public).decode(),
    }
    return json.dumps(said | other).encode()


def put(folder: Path, signer: Signer, text: bytes) -> None:
    (folder / "approval.json").write_bytes(text)
    (folder / "approval.json.sig").write_bytes(base64.b64decode(signer.sign(text)))


def verify(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, ["verify", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def trusted(signer: Signer, tmp_path: Path) -> Path:
    file = tmp_path / "signers.pem"
    file.write_text(f"# Example hospital\n{signer.public_pem}")
    return file


def test_a_statement_is_valid_and_its_signer_known_by_the_file_alone(out: Path, trusted: Path) -> None:
    status, said, err = verify(out)
    assert (status, err) == (0, "")
    told = (
        "approval.json says: approval by Carl <carl@h.test>, 2025-10-09 08:53 UTC: Suitable for the dossier"
    )
    assert f"{told}; the signature is valid, signer unknown (name them by --signers)." in said
    assert "no file of the report" not in said
    status, said, err = verify(out, "--signers", trusted)
    assert (status, err) == (0, "")
    assert f"{told}; the signature is valid, by Example hospital." in said


def test_openssl_made_the_signature(made: Path, tmp_path: Path) -> None:
    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=tmp_path, check=True, capture_output=True)

    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine")
    openssl("genpkey", "-algorithm", "ed25519", "-out", "signing.pem")
    openssl("pkey", "-in", "signing.pem", "-pubout", "-out", "public.pem")
    folder, key = Path(shutil.copytree(made, tmp_path / "out")), Signer.open(tmp_path)
    (folder / "approval.json").write_bytes(statement(folder, key))
    sign = "pkeyutl -sign -inkey signing.pem -rawin -in out/approval.json -out out/approval.json.sig"
    openssl(*sign.split())
    status, said, _ = verify(folder, "--signers", tmp_path / "public.pem")
    assert status == 0
    assert f"by key {key.name[:16]}." in said


FORGED: dict[str, tuple[Callable[[Path, Signer], object], str]] = {
    "statement changed": (
        lambda out, _: (out / "approval.json").write_bytes(
            (out / "approval.json").read_bytes().replace(b"Carl", b"Karl")
        ),
        "is not what was signed",
    ),
    "signature cut": (
        lambda out, _: (out / "approval.json.sig").write_bytes((out / "approval.json.sig").read_bytes()[:-1]),
        "is no signature of it",
    ),
    "signature of nothing": (lambda out, _: (out / "approval.json").unlink(), "which is missing"),
    "no statement": (lambda out, key: put(out, key, b'{"format": "other"}'), "is no statement on a report"),
    "not JSON": (lambda out, key: put(out, key, b"\xff"), "is no statement on a report"),
    "no files named": (
        lambda out, key: put(out, key, statement(out, key, report={"files": {}})),
        "is no statement on a report",
    ),
    "another report": (
        lambda out, key: put(out, key, statement(out, key, report={"files": {"results.json": "0" * 64}})),
        "results.json is another one",
    ),
    "file outside": (
        lambda out, key: put(out, key, statement(out, key, report={"files": {"../signers.pem": "0" * 64}})),
        "is outside",
    ),
    "key of another name": (
        lambda out, key: put(out, key, statement(out, key, key="0" * 64)),
        "cannot be checked",
    ),
    "no key": (lambda out, key: put(out, key, statement(out, key, public_key=7)), "cannot be checked"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_statement_is_found(name: str, out: Path, signer: Signer) -> None:
    forge, told = FORGED[name]
    forge(out, signer)
    status, _, err = verify(out)
    assert status == 1
    assert told in err


def test_numbers_and_list_changed_together_are_not_what_was_signed(out: Path) -> None:
    """Hashes alone cannot tell: whoever changes a file can list it anew."""
    from trustreport.report.signatures.bundle import HASHES

    results, listing = out / "results.csv", out / HASHES
    before = sha256(results.read_bytes()).hexdigest()
    results.write_bytes(results.read_bytes() + b"\n")
    listing.write_text(listing.read_text().replace(before, sha256(results.read_bytes()).hexdigest()))
    status, _, err = verify(out)
    assert status == 1
    assert "is signed, and of other files than these" in err


def test_a_statement_by_another_key_or_none_fails_where_signers_are_named(
    out: Path, trusted: Path, tmp_path: Path
) -> None:
    other = Signer.open(tmp_path / "other")
    same = json.loads((out / "approval.json").read_bytes())["report"]
    put(out, other, statement(out, other, report=same))
    assert verify(out)[0] == 0
    status, _, err = verify(out, "--signers", trusted)
    assert status == 1
    assert "by none of the given signers" in err
    for name in ("approval.json", "approval.json.sig"):
        (out / name).unlink()
    assert verify(out)[0] == 0
    status, _, err = verify(out, "--signers", trusted)
    assert status == 1
    assert "there is no statement with the report" in err


def test_a_statement_without_its_key_needs_the_file_of_signers(
    out: Path, signer: Signer, trusted: Path
) -> None:
    said = json.loads((out / "approval.json").read_bytes())
    del said["public_key"]
    put(out, signer, json.dumps(said).encode())
    assert "it does not say its public key" in verify(out)[2]
    assert verify(out, "--signers", trusted)[0] == 0


def test_what_a_statement_says_stays_on_one_line(out: Path, signer: Signer) -> None:
    same = json.loads((out / "approval.json").read_bytes())["report"]
    put(out, signer, statement(out, signer, meaning="good\n0 not.\x1b[2J", report=same))
    assert "good 0 not. [2J;" in verify(out)[1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it holds no key"),
        ("Anna\n-----BEGIN PUBLIC KEY-----\nAAAA\n", "line 2: the key that begins here does not end"),
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "line 1: expected a public Ed25519"),
    ],
)
def test_a_file_of_signers_that_cannot_be_read_is_wrong_use(
    text: str, told: str, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.pem").write_text(text)
    status, _, err = verify(out, "--signers", tmp_path / "bad.pem")
    assert status == 2
    assert told in err


def test_each_key_has_the_line_before_it(tmp_path: Path) -> None:
    one, two, three = (Signer.open(tmp_path / name) for name in "abc")
    text = f"# Keys of 2026\nAnna\n{one.public_pem}\n\n{two.public_pem}Bob\n{three.public_pem}"
    names = read_signers(text)
    assert names == {one.public: "Anna", two.public: f"key {two.name[:16]}", three.public: "Bob"}


def test_the_first_test_vectors_of_the_standard() -> None:
    """RFC 8032, section 7.1, tests 1 and 2."""
    vectors = [
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            (
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                "d25bf5f0595bbe24655141438e7a100b"
            ),
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            (
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
                "387b2eaeb4302aeeb00d291612bb0c00"
            ),
        ),
    ]
    for key, text, signature in vectors:
        given = bytes.fromhex(key), bytes.fromhex(text), bytes.fromhex(signature)
        assert is_signed(*given)
        assert not is_signed(given[0], given[1] + b"r", given[2])
