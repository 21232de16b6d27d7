"""`trustreport serve` and `trustreport worker`: processes that run until they are told to stop."""

import os
import signal
import ssl
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from getpass import getuser
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import select

from trustreport.service import audit
from trustreport.service.access import accounts, secrets
from trustreport.service.app import create_app
from trustreport.service.audit import Verified
from trustreport.service.core import Core, open_core
from trustreport.service.jobs.cluster import cluster_of
from trustreport.service.jobs.worker import Worker
from trustreport.service.log import log, set_up_logs
from trustreport.service.record import log_heads
from trustreport.service.record.verification import verify_all
from trustreport.service.settings import Settings, Unsuitable
from trustreport.service.storage.models import User
from trustreport.service.web import connections
from trustreport.service.web.connections import HeadTimeout
from trustreport.service.web.telemetry import traces_of

FINISH_SECONDS = 20  # for requests that run when the service stops
ALONE = "This computer"  # organisation of a service for one person
ADMIN = ("TRUSTREPORT_ADMIN_EMAIL", "TRUSTREPORT_ADMIN_PASSWORD_FILE", "TRUSTREPORT_ORGANISATION")


def serve(settings: Settings) -> None:
    """Answer requests, and work on jobs, until SIGTERM or SIGINT.

    Raises
    ------
    Unsuitable : others could reach a service that nobody has an account on or that does not encrypt, or its
        cluster does not answer
    """
    traces = traces_of(settings)
    core = replace(open_core(settings), traces=traces)
    try:
        first_account(core)
        link = single_link(core) if settings.single else setup_link(core)
        if link and not settings.is_loopback:
            raise Unsuitable(
                f"Nobody has an account yet, so the service does not listen on {settings.host}. "
                f"Set it up first: start it without --host and open the link that it prints, or set "
                f"{ADMIN[0]} and {ADMIN[1]}."
            )
        context = connections.server_context(settings)
        if link:
            end = "Open" if settings.single else f"Set the service up within {settings.link_hours:g} hours"
            sys.stderr.write(f"{end}: {link}\n")
            sys.stderr.flush()
        cluster = cluster_of(settings) if settings.workers else None
        set_up_logs()
        spool_on_the_data_volume(settings)

        def worker_context() -> AbstractContextManager[Any]:
            return Worker(core, settings.workers, cluster) if settings.workers else nullcontext()

        config = server_config(core, worker_context, context)
        log().info("start", url=settings.url, workers=settings.workers)
        if settings.url.startswith("https:") and not settings.proxies and context is None:
            log().warning("all users share the address of the proxy: set TRUSTREPORT_PROXIES")
        server = uvicorn.Server(config)
        # It stops by itself on these and raises them again; ours hold before it listens to them.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(server, "should_exit", True))
        server.run()
        log().info("stop")
    finally:
        core.close()


def server_config(
    core: Core,
    worker_context: Callable[[], AbstractContextManager[Any]],
    context: ssl.SSLContext | None = None,
) -> uvicorn.Config:
    """How the server listens, encrypted where there is a context for it."""
    return uvicorn.Config(
        create_app(core, worker_context),
        host=core.settings.host,
        port=core.settings.port,
        ssl_context_factory=(lambda config, default: context) if context else None,
        http=HeadTimeout,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # `guard.address_of` reads X-Forwarded-For, by the number of proxies
        timeout_graceful_shutdown=FINISH_SECONDS,
        h11_max_incomplete_event_size=64_000,
        timeout_keep_alive=30,
    )


def work(settings: Settings) -> None:
    """Work on jobs until SIGTERM or SIGINT."""
    traces = traces_of(settings)
    core = replace(open_core(settings), traces=traces)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    set_up_logs()
    try:
        with Worker(core, max(settings.workers, 1), cluster_of(settings)) as worker:
            log().info("start", worker=worker.name)
            stop.wait()
            log().info("stop", worker=worker.name)
    finally:
        core.close()


def spool_on_the_data_volume(settings: Settings) -> None:
    """Let uploads wait in the data folder: /tmp may be the machine's memory."""
    spool = settings.data / "tmp"
    spool.mkdir(mode=0o700, exist_ok=True)
    tempfile.tempdir = str(spool)


def setup_link(core: Core) -> str:
    """A link to set the service up, new with every start; nothing once there is an account."""
    with core.store.write() as rows:
        if accounts.any_account(rows):
            return ""
        secret = accounts.new_link(rows, "setup", core.settings)
    return f"{core.settings.url}/setup#{secret}"


def single_link(core: Core) -> str:
    """A link by which the one person who uses it comes in, new with every start; nobody has a password."""
    with core.store.write() as rows:
        user = rows.scalar(select(User).order_by(User.created_at).limit(1))
        if user is None:
            name = getuser()
            user = accounts.set_up(
                rows, ALONE, email=f"{name}@localhost.localdomain", name=name, password=secrets.new_secret()
            )
        secret = accounts.new_link(rows, "enter", core.settings, user.id)
    return f"{core.settings.url}/enter#{secret}"


def first_account(core: Core) -> None:
    """The first account from the environment, for services that are set up without a person (containers)."""
    email, file, organisation = (os.environ.get(name, "") for name in ADMIN)
    if not email or not file:
        return
    with core.store.write() as rows:
        audit.lock(rows, audit.SERVICE)  # of servers that start at the same time one makes it
        if accounts.any_account(rows):
            return
        password = Path(file).read_text(encoding="utf-8").strip()
        name = organisation or "Organisation"
        accounts.set_up(rows, name, email=email, name=email.split("@")[0], password=password)


def verify_log(settings: Settings, heads: Path | None = None, write: Path | None = None) -> list[Verified]:
    """What became of every chain of the audit log, by itself and by all that can contradict it.

    Parameters
    ----------
    heads : a file of heads that was kept elsewhere
    write : where to write the heads of now, signed
    """
    core = open_core(settings)
    try:
        with core.store.read() as rows:
            found = verify_all(core, rows, heads)
            if write is not None:
                log_heads.write_signed(core, log_heads.statement(core, rows), write)
            return found
    finally:
        core.close()
