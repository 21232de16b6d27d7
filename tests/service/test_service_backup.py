"""Backup and restore, between both kinds of database; a damaged one is refused."""

import io
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from old_databases import all_rows, write_old
from services import API, Client, new_core, world
from sqlalchemy import text

from trustreport.commands.cli import main
from trustreport.service.app import create_app
from trustreport.service.core import Core, open_core
from trustreport.service.record.backup import LEFT_OUT, BackupError, backup, restore
from trustreport.service.settings import Settings
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.storage.models import Base, Token


@pytest.fixture
def full(core: Core) -> Core:
    """A service with one of everything."""
    app = create_app(core)
    anna = Client.set_up(app, core)
    names = world(core, anna)
    anna.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]})
    reviewer = anna.invite("r@h.test", "reviewer")
    assert reviewer.signs(names["report"]).status_code == 201
    return core


def rows_of(core: Core) -> dict[str, list[str]]:
    kept = [t for t in Base.metadata.sorted_tables if t.name not in LEFT_OUT]
    with core.store.read() as rows:
        return {t.name: sorted(str(dict(r)) for r in rows.execute(t.select()).mappings()) for t in kept}


@pytest.mark.parametrize("into", ["sqlite", "postgresql"])
def test_a_backup_holds_everything(
    full: Core, tmp_path: Path, into: str, request: pytest.FixtureRequest
) -> None:
    from databases import new_database

    target = "" if into == "sqlite" else new_database(request.getfixturevalue("postgres"))
    held = backup(full.settings, tmp_path / "b.tar.gz")
    assert held["tables"]["attestations"] == 1
    assert (tmp_path / "b.tar.gz").stat().st_mode & 0o077 == 0
    settings = Settings(tmp_path / "restored", database=target)
    assert all(not c.faults for c in restore(settings, tmp_path / "b.tar.gz", keep_tokens=True))

    again = open_core(settings)
    assert rows_of(again) == rows_of(full)
    assert set(again.blobs.stored_blobs()) == set(full.blobs.stored_blobs())
    assert again.signer.name == full.signer.name
    Client.logged_in(create_app(again), "anna@hospital.test")
    again.close()
    with pytest.raises(BackupError, match="not empty"):
        restore(settings, tmp_path / "b.tar.gz")
    with pytest.raises(BackupError, match="exists"):
        backup(full.settings, tmp_path / "b.tar.gz")


def backup_of(revision: str, folder: Path) -> Path:
    """A backup as a program of that time wrote it."""
    from trustreport.report.signatures.signing import Signer
    from trustreport.service.record import backup as module
    from trustreport.service.storage import FolderBlobs, Store
    from trustreport.service.web.limits import Throttle

    old = Settings(folder / "old")
    old.data.mkdir()
    store = Store(old.address)
    write_old(store, revision)
    signer, throttle = Signer.open(old.data / "keys"), Throttle(old, store)
    core = Core(old, store, FolderBlobs(old.data / "blobs"), signer, throttle)
    archive = folder / "old.tar.gz"
    with tarfile.open(archive, "w:gz") as out, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_named", lambda rows: [])
        module._write(core, out)
    store.close()
    return archive


@pytest.mark.parametrize("revision", ["0001", "0009", "0014", "0018", "0019"])
def test_a_backup_of_an_older_schema_comes_forward(
    tmp_path: Path, address: str, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trustreport.service.record import verification
    from trustreport.service.storage import Store

    monkeypatch.setattr(verification, "signed_heads", lambda rows, blobs: {})  # made-up rows have no files

    expected = Store(f"sqlite:///{tmp_path / 'expected.db'}")
    write_old(expected, revision, then="0019")
    archive = backup_of(revision, tmp_path)
    settings = Settings(tmp_path / "new", database=address)
    found = {chain.chain: chain.faults for chain in restore(settings, archive, keep_tokens=True)}
    assert found["organisations-2"][0] == "the log of this organisation is missing"  # written without one
    new = open_core(settings)
    with expected.engine.connect() as old, new.store.engine.connect() as restored:
        wanted, there = all_rows(old), all_rows(restored)
    for table in wanted.keys() - set(LEFT_OUT):
        assert there[table] == wanted[table], table
    expected.close()
    new.close()


def test_a_backup_of_a_newer_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trustreport.service.storage import migrate

    archive = backup_of("0019", tmp_path)
    monkeypatch.setattr(migrate, "SCHEMA", "0018")
    with pytest.raises(migrate.TooNew, match="0019"):
        restore(Settings(tmp_path / "new"), archive)


@pytest.mark.parametrize("damage", ["blob", "row", "cut", "other"])
def test_a_damaged_backup_is_refused(tmp_path: Path, damage: str) -> None:
    core = new_core(tmp_path / "data")
    world(core, Client.set_up(create_app(core), core))
    core.close()
    good, bad = tmp_path / "good.tar.gz", tmp_path / "bad.tar.gz"
    backup(core.settings, good)
    with tarfile.open(good) as archive, tarfile.open(bad, "w:gz") as out:
        for member in archive.getmembers():
            stream = archive.extractfile(member)
            data = stream.read() if stream else b""
            if damage == "blob" and member.name.startswith("blobs/"):
                data = b"X" + data[1:]
            if damage == "row" and member.name == "tables/users.jsonl":
                data = b""
            member.size = len(data)
            out.addfile(member, io.BytesIO(data))
    if damage == "cut":
        bad.write_bytes(good.read_bytes()[:-2000])
    if damage == "other":
        bad.write_bytes(b"no tar")
    with pytest.raises(BackupError):
        restore(Settings(tmp_path / "restored"), bad)


def test_the_commands_tell_what_they_did(tmp_path: Path) -> None:
    core = new_core(tmp_path / "data")
    world(core, Client.set_up(create_app(core), core))
    run = CliRunner().invoke
    data = ["--data", str(tmp_path / "data")]
    done = run(main, ["backup", str(tmp_path / "b.tar.gz"), *data])
    assert (done.exit_code, "1 files" in done.output) == (0, True), done.output
    done = run(main, ["restore", str(tmp_path / "b.tar.gz"), "--data", str(tmp_path / "again")])
    assert (done.exit_code, done.output.count("intact")) == (0, 2), done.output
    done = run(main, ["audit-log", "verify", *data])
    assert (done.exit_code, done.output.count("intact")) == (0, 2), done.output
    with core.store.write() as rows:
        rows.execute(text("DROP TRIGGER audit_no_update"))
        rows.execute(text("UPDATE audit SET actor = 'eve' WHERE number = 1"))
    done = run(main, ["audit-log", "verify", *data])
    assert (done.exit_code, "entry 1 was changed" in done.output) == (1, True), done.output
    assert run(main, ["audit-log", "verify", "--data", str(tmp_path / "none")]).exit_code == 2
    core.close()


def test_an_encrypted_backup_opens_with_its_key_alone(tmp_path: Path) -> None:
    from pyrage import x25519

    core = new_core(tmp_path / "data")
    anna = Client.set_up(create_app(core), core)
    world(core, anna)
    core.close()
    keys = [x25519.Identity.generate() for _ in range(3)]
    files = [tmp_path / f"key{i}" for i in range(3)]
    for file, key in zip(files, keys):
        file.write_text(f"# created: today\n# public key: {key.to_public()}\n{key}\n")
    target = tmp_path / "b.tar.gz.age"
    run = CliRunner().invoke
    words = [w for key in keys[:2] for w in ("--recipient", str(key.to_public()))]
    done = run(main, ["backup", str(target), "--data", str(core.settings.data), *words])
    assert (done.exit_code, "encrypted." in done.output) == (0, True), done.output
    assert target.stat().st_mode & 0o077 == 0
    content = target.read_bytes()
    assert content.startswith(b"age-encryption.org/v1\n")
    assert content[:2] != b"\x1f\x8b"
    for i, file in enumerate(files):
        folder = tmp_path / f"restored{i}"
        where = ["--identity", str(file), "--data", str(folder), "--keep-tokens"]
        done = run(main, ["restore", str(target), *where])
        assert (done.exit_code == 0) == (i < 2), done.output
    assert "cannot be decrypted" in done.output
    assert rows_in(tmp_path / "restored0") == rows_in(tmp_path / "restored1")
    (tmp_path / "no key").write_text("nothing")
    for wrong, said in (
        ([], "is encrypted"),
        (["--identity", str(tmp_path / "no key")], "holds no secret key"),
    ):
        done = run(main, ["restore", str(target), *wrong, "--data", str(tmp_path / "no")])
        assert (done.exit_code, said in done.output) == (1, True), done.output
    to_nobody = ["--data", str(core.settings.data), "--recipient", "age1x"]
    done = run(main, ["backup", str(tmp_path / "x"), *to_nobody])
    assert (done.exit_code, "no public key of age" in done.output) == (1, True), done.output
    assert not (tmp_path / "x").exists()
    # One bit of it changed, or its end cut off.
    for damaged in (content[:-500], content[:3000] + bytes([content[3000] ^ 1]) + content[3001:]):
        (tmp_path / "bad").write_bytes(damaged)
        with pytest.raises(BackupError, match="cannot be decrypted"):
            restore(Settings(tmp_path / "bad restored"), tmp_path / "bad", identity=files[0])


def rows_in(data: Path) -> dict[str, list[str]]:
    core = open_core(Settings(data))
    rows = rows_of(core)
    core.close()
    return rows


def test_tokens_are_revoked_by_a_restore(tmp_path: Path) -> None:
    core = new_core(tmp_path / "data")
    anna = Client.set_up(create_app(core), core)
    secret = anna.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]}).json()["secret"]
    world(core, anna)
    backup(core.settings, tmp_path / "b.tar.gz")
    with core.store.read() as rows:  # revoked after the backup
        name = rows.query(Token).one().id
    assert anna.delete(f"{API}/tokens/{name}").status_code == 204
    core.close()
    for keep, status in ((False, 401), (True, 200)):
        settings = Settings(tmp_path / f"restored {keep}")
        assert all(not c.faults for c in restore(settings, tmp_path / "b.tar.gz", keep_tokens=keep))
        again = open_core(settings)
        robot = Client.on(create_app(again))
        answer = robot.get(f"{API}/studies", headers={"Authorization": f"Bearer {secret}"})
        assert answer.status_code == status
        with again.store.read() as rows:  # nor does the copy speak to whom the first one speaks
            assert (rows.query(Webhook).one().paused_at is None) is keep
            assert rows.query(Delivery).all() == []
        again.close()
