"""A PostgreSQL server of our own, and places on it, for tests and benchmarks."""

import getpass
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PROGRAMS = Path("/usr/lib/postgresql")


def pg_ctl() -> Path | None:
    """The newest installed `pg_ctl`; None where PostgreSQL is not installed."""
    found = sorted(PROGRAMS.glob("*/bin/pg_ctl"))
    return found[-1] if found else None


@contextmanager
def own_postgres() -> Iterator[str]:
    """The address of an empty database server on loopback, ours alone, gone at the end."""
    program = pg_ctl()
    if program is None:
        raise FileNotFoundError("PostgreSQL is not installed (apt-get install postgresql)")
    bin_ = program.parent
    home = Path(tempfile.mkdtemp(prefix="trustreport-pg-", dir="/tmp"))  # where its user may go
    as_user: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        account = pwd.getpwnam("postgres")
        os.chown(home, account.pw_uid, account.pw_gid)
        as_user = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    user = "postgres" if as_user else getpass.getuser()
    run: dict[str, Any] = {"check": True, "capture_output": True, "cwd": home}
    data = str(home / "data")
    subprocess.run([*as_user, bin_ / "initdb", "-D", data, "-A", "trust", "-U", user, "-N"], **run)
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k {home} -c fsync=off"
    log = str(home / "log")
    subprocess.run([*as_user, bin_ / "pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "start"], **run)
    try:
        yield f"postgresql+psycopg://{user}@127.0.0.1:{port}/postgres"
    finally:
        with suppress(subprocess.CalledProcessError):
            subprocess.run([*as_user, bin_ / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"], **run)
        shutil.rmtree(home, ignore_errors=True)


def new_database(server: str) -> str:
    """A place of its own on a server: a schema, which is made faster than a database."""
    import psycopg

    name = f"t{time.time_ns()}"
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}?options=-csearch_path%3D{name}"
