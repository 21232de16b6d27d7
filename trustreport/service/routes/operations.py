"""For whoever runs the service: is it alive, can it work, how much does it do."""

from hmac import compare_digest
from typing import Literal

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from trustreport.service.storage import migrate
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import TheCore
from trustreport.service.web.log import log, place_of

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """What is needed to work, and whether it is there."""

    database: bool
    schema_current: bool
    storage: bool


@router.get("/health")
def health() -> Health:
    """Whether the process answers."""
    return Health()


@router.get("/ready", responses={503: {"model": Readiness, "description": "Not ready"}})
def ready(core: TheCore, response: Response) -> Readiness:
    """Whether the database answers, has today's schema, and files can be written."""
    database = current = storage = False
    try:
        with core.store.read() as rows:
            database = True
            current = migrate.current(rows.connection()) == migrate.head()
        probe = core.settings.data / ".ready"
        probe.write_bytes(b"")
        storage = True
    except Exception as error:  # whatever it is, the answer is "no"
        log().warning("not ready", error=place_of(error))
    if not (database and current and storage):
        response.status_code = 503
    return Readiness(database=database, schema_current=current, storage=storage)


@router.get("/metrics", response_class=Response)
def metrics(core: TheCore, request: Request) -> Response:
    """Numbers for Prometheus: with the metrics token, or from a service that only this machine can reach."""
    wanted = core.settings.metrics_token
    sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if wanted and not compare_digest(sent.encode(), wanted.encode()):
        raise Fault(401, "Not known", "Send the metrics token.", headers={"WWW-Authenticate": "Bearer"})
    if not wanted and (core.settings.public_url or not core.settings.is_loopback):
        raise Fault(403, "Not allowed", "Set TRUSTREPORT_METRICS_TOKEN to read the numbers from elsewhere.")
    with core.store.read() as rows:
        alive = now(rows) - round(core.settings.lease * 1000)
        text = core.metrics.text(rows, alive)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
