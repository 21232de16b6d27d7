"""A service for each test, on SQLite and on a PostgreSQL server of our own; users of two organisations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from buckets import is_installed, new_prefix, own_bucket_server
from databases import new_database, own_postgres, pg_ctl
from fastapi import FastAPI
from fastapi.testclient import TestClient
from services import Client, lose_nothing_but_power, new_core, tasks_here

from trustreport.service.app import create_app
from trustreport.service.core import Core


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of an empty database server on loopback, ours alone, gone after the tests."""
    if pg_ctl() is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    with own_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """The address of an empty database: SQLite in the data folder (empty), or PostgreSQL."""
    return "" if request.param == "sqlite" else new_database(request.getfixturevalue("postgres"))


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[str]:
    """The address of object storage on loopback, ours alone, gone after the tests."""
    if not is_installed():
        pytest.skip("the object storage of the tests is not installed (./run test installs it)")
    with own_bucket_server() as server:
        yield server


@pytest.fixture(params=["folder", "bucket"])
def files(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Where files are, as settings: in the data folder, or in a bucket."""
    return {} if request.param == "folder" else new_prefix(request.getfixturevalue("bucket_server"))


@pytest.fixture
def core(tmp_path: Path, address: str) -> Iterator[Core]:
    """An open core on either database."""
    core = new_core(tmp_path / "data", database=address)
    yield core
    core.close()


@pytest.fixture
def light(tmp_path: Path) -> Iterator[Core]:
    """An open core on SQLite, where the database does not matter."""
    core = new_core(tmp_path / "data")
    yield core
    core.close()


@pytest.fixture
def app(light: Core) -> FastAPI:
    return create_app(light)


@pytest.fixture
def anonymous(app: FastAPI) -> TestClient:
    """A browser that is not logged in."""
    return TestClient(app, base_url="https://testserver", raise_server_exceptions=False)


@pytest.fixture
def anna(app: FastAPI, light: Core) -> Client:
    """May do everything in the first organisation, which she set up."""
    return Client.set_up(app, light)


@pytest.fixture
def bob(app: FastAPI, anna: Client) -> Client:
    """May do everything in another organisation."""
    return anna.found("Other hospital", "bob@other.test")


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A service with one of everything that pages show; tests look at it and change nothing."""
    from pages import Shown, served, signed_report

    with served(tmp_path_factory.mktemp("shown"), workers=False) as (core, app, url):
        anna = Client.set_up(app, core)
        with pytest.MonkeyPatch.context() as patch:
            tasks_here(patch)
            names = signed_report(core, anna)
        yield Shown(url, anna, names)


@pytest.fixture(scope="session", autouse=True)
def no_power_cuts() -> Iterator[None]:
    """No test cuts the power, so none waits for a disk; one test looks at what services ask of SQLite."""
    with pytest.MonkeyPatch.context() as patch:
        lose_nothing_but_power(patch)
        yield


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes of passwords that take no time; one test looks at the real ones."""
    from argon2 import PasswordHasher

    from trustreport.service.access import secrets

    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(secrets, "_hasher", cheap)
    monkeypatch.setattr(secrets, "_NOBODY", cheap.hash("nobody"))


@pytest.fixture(autouse=True)
def no_limited_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs and forms are done in this process, unless a test is marked as one of the limited process."""
    if request.node.get_closest_marker("limited_process") is None:
        tasks_here(monkeypatch)


@pytest.fixture(autouse=True)
def quiet_logs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is logged, kept in a list."""
    import structlog
    from structlog.testing import LogCapture

    captured = LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, captured])
    yield captured.entries
    structlog.reset_defaults()
