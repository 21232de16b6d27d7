"""The schema, made from the models; a database of any earlier revision ends with it, with all its rows."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from old_databases import REVISIONS, all_rows, schema, write_old
from services import at_once
from sqlalchemy import text

from trustreport.service.core import Core, open_core
from trustreport.service.settings import Settings
from trustreport.service.storage import Store, migrate
from trustreport.service.storage.models import Organisation, Session, StoredStudy, User, Version
from trustreport.service.study.fixing import fixing_of


@pytest.fixture(params=["sqlite", "postgresql"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Makes empty databases of one kind."""
    from databases import new_database

    made: list[Store] = []

    def make() -> Store:
        if request.param == "sqlite":
            made.append(Store(f"sqlite:///{tmp_path / f'{len(made)}.db'}"))
        else:
            made.append(Store(new_database(request.getfixturevalue("postgres"))))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_older_database_ends_as_its_steps_would_have_left_it(
    new_store: Callable[[], Store], revision: str
) -> None:
    expected, ours, fresh = new_store(), new_store(), new_store()
    write_old(expected, revision, then=REVISIONS[-1])
    write_old(ours, revision)
    migrate.migrate(ours.engine)
    migrate.migrate(fresh.engine)
    with expected.engine.connect() as old, ours.engine.connect() as brought, fresh.engine.connect() as new:
        assert schema(brought) == schema(new) == schema(old)
        assert migrate.current(brought) == migrate.current(new) == REVISIONS[-1]
        wanted, found = all_rows(old), all_rows(brought)
        if revision < "0010":  # sessions get a name of their own
            names = [[row.pop("id") for row in rows["sessions"]] for rows in (wanted, found)]
            assert {len(name) for name in names[1]} == {26}
            assert len(set(names[1])) == len(names[0]) == 2
        assert found == wanted
        assert len(found["organisations"]) == 2


def test_every_table_and_column_of_an_older_database_had_a_value(new_store: Callable[[], Store]) -> None:
    store = new_store()
    write_old(store, REVISIONS[-1])
    with store.engine.connect() as connection:
        for table, rows in all_rows(connection).items():
            for column in rows[0] if table != migrate.VERSION.name else ():
                assert any(row[column] is not None for row in rows), (table, column)


@pytest.mark.parametrize("new_store", ["sqlite"], indirect=True)
def test_whoever_changes_the_tables_counts_the_schema_up(new_store: Callable[[], Store]) -> None:
    store = new_store()
    migrate.migrate(store.engine)
    with store.engine.connect() as connection:
        digest = sha256(repr(schema(connection)).encode()).hexdigest()[:12]
    # Two numbers that change together: `migrate.SCHEMA` tells an older program that it must not go on.
    assert (migrate.SCHEMA, digest) == ("0019", "b50ff62b4780")


@pytest.mark.parametrize("new_store", ["sqlite"], indirect=True)
def test_a_migration_that_fails_leaves_the_database_as_it_was(
    new_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    write_old(store, "0009")
    with store.engine.connect() as connection:
        before = schema(connection), all_rows(connection)

    def fail(*given: object) -> None:
        raise RuntimeError("a cut")

    monkeypatch.setattr(migrate, "convert", fail)
    with pytest.raises(RuntimeError, match="a cut"):
        migrate.migrate(store.engine)
    with store.engine.connect() as connection:
        assert (schema(connection), all_rows(connection)) == before


def test_the_models_read_what_came_from_an_older_database(tmp_path: Path, address: str) -> None:
    settings = Settings(tmp_path / "data", database=address)
    settings.data.mkdir()
    store = Store(settings.address)
    write_old(store, "0009")
    store.close()
    core = open_core(settings)
    with core.store.read() as rows:
        organisation, user = rows.get_one(Organisation, "organisations-1"), rows.get_one(User, "users-3")
        assert (organisation.retention, organisation.countersigned) == ({}, False)
        assert (user.roles, user.operator, user.link_shown) == ([], False, True)
        assert not rows.get_one(User, "users-4").link_shown  # a mail took it
        assert not rows.get_one(User, "users-5").link_shown  # nobody here made it
        assert {session.how for session in rows.query(Session)} == {"password"}
        study, version = rows.get_one(StoredStudy, "studies-1"), rows.get_one(Version, "versions-1")
        assert (study.sample, study.removed_at, version.criteria) == (False, None, {})
        assert fixing_of(rows, study.id).acts == ()
    core.close()


def test_a_newer_schema_is_refused(core: Core) -> None:
    with core.store.write() as rows:
        rows.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(migrate.TooNew, match="9999"):
        migrate.migrate(core.store.engine)


def test_processes_that_start_together_migrate_once(tmp_path: Path, address: str) -> None:
    (tmp_path / "data").mkdir()
    found: list[object] = []

    def start() -> None:
        try:
            core = open_core(Settings(tmp_path / "data", database=address))
            found.append(core.signer.name)
            core.close()
        except Exception as error:
            found.append(error)

    at_once(*[start] * 4)
    assert all(isinstance(one, str) for one in found), found
    assert len(set(found)) == 1
