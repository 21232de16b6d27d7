"""For whoever runs the service: is it alive, can it work, how much does it do."""

import os
from hmac import compare_digest
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from trustreport.service.access.guard import TheCore
from trustreport.service.ids import new_id
from trustreport.service.log import log, place_of
from trustreport.service.storage import migrate
from trustreport.service.storage.blobs import StorageAway
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault, has_room

router = APIRouter(tags=["operations"])
PROBE_BYTES = 65_536


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """What is needed to work, and whether it is there."""

    database: bool
    schema_current: bool
    storage: bool
    problems: list[str] = []


@router.get("/health")
def health() -> Health:
    """Whether the process answers."""
    return Health()


@router.get("/ready", responses={503: {"model": Readiness, "description": "Not ready"}})
def ready(core: TheCore, response: Response) -> Readiness:
    """Whether the database answers, has today's schema, and the disk takes files and has room for uploads.

    Where files are in a bucket: whether it takes files, too. `problems` says in words what is missing.
    """
    database = current = storage = False
    problems = []
    try:
        with core.store.read() as rows:
            connection = rows.connection()  # a session alone has asked nothing
            database = True
            current = migrate.current(connection) == migrate.SCHEMA
        if not current:
            problems.append("The schema of the database is not the one of this program.")
    except Exception as error:  # whatever it is, the answer is "no"
        log().warning("not ready", error=place_of(error))
        problems.append("The database does not answer.")
    try:
        _write_probe(core.settings.data / f".ready-{new_id()}")
        storage = has_room(core.settings.data, core.settings.least_free)
        if not storage:
            problems.append("The disk is nearly full.")
        core.blobs.probe()
    except OSError as error:
        log().warning("not ready", error=place_of(error))
        problems.append("The disk takes no files.")
        storage = False
    except StorageAway as error:
        log().warning("not ready", error=place_of(error), detail=str(error))
        problems.append(error.reason)
        storage = False
    if problems:
        response.status_code = 503
    return Readiness(database=database, schema_current=current, storage=storage, problems=problems)


def _write_probe(probe: Path) -> None:
    """Write and remove as much as shows that the disk takes more than a name."""
    try:
        with probe.open("wb") as out:
            out.write(bytes(PROBE_BYTES))
            out.flush()
            os.fsync(out.fileno())
    finally:
        probe.unlink(missing_ok=True)


@router.get("/metrics", response_class=Response)
def metrics(core: TheCore, request: Request) -> Response:
    """Numbers for Prometheus: with the metrics token, or from a service that only this machine can reach."""
    wanted = core.settings.metrics_token
    sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if wanted and not compare_digest(sent.encode(), wanted.encode()):
        raise Fault(401, "Send the metrics token.", headers={"WWW-Authenticate": "Bearer"}, title="Not known")
    if not wanted and (core.settings.public_url or not core.settings.is_loopback):
        raise Fault(
            403, "Set TRUSTREPORT_METRICS_TOKEN to read the numbers from elsewhere.", title="Not allowed"
        )
    with core.store.read() as rows:
        moment = now(rows)
        alive = moment - round(core.settings.lease * 1000)
        text = core.metrics.text(rows, alive, moment, core.settings.data)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
