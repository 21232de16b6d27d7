"""Numbers and traces of what the service does."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from shutil import disk_usage
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Rows
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trustreport.service.settings import Settings, Unsuitable
from trustreport.service.storage.models import WAITING, Job, StoredWorker
from trustreport.vocabulary.version import __version__

SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800)


class Metrics:
    """Counts of this process, and what the database says of jobs at the moment of asking."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own = self.registry
        self.requests = Counter(
            "trustreport_requests", "Requests answered", ["method", "route", "status"], registry=own
        )
        self.seconds = Histogram(
            "trustreport_request_seconds",
            "Time to answer",
            ["method", "route"],
            buckets=SECONDS,
            registry=own,
        )
        self.jobs = Counter("trustreport_jobs_ended", "Jobs ended here", ["task", "state"], registry=own)
        self.job_seconds = Histogram(
            "trustreport_job_seconds", "Time of a job", ["task"], buckets=SECONDS, registry=own
        )
        self.refused = Counter("trustreport_refused", "Requests refused", ["reason"], registry=own)
        self._queue = Gauge("trustreport_jobs", "Jobs by state", ["task", "state"], registry=own)
        self._workers = Gauge("trustreport_workers", "Workers seen lately", registry=own)
        self._waiting = Gauge(
            "trustreport_oldest_waiting_seconds", "How long the oldest waiting job has waited", registry=own
        )
        self._free = Gauge("trustreport_disk_free_bytes", "Free in the data folder", registry=own)

    def text(self, rows: Rows, alive_since: int, moment: int, folder: Path) -> bytes:
        """The text that Prometheus reads.

        Parameters
        ----------
        alive_since, moment : milliseconds
            When a worker that lives was seen last; now.
        folder : that of the data
        """
        for task in ("check", "report"):
            for state in ("queued", "running", "done", "failed", "cancelled"):
                self._queue.labels(task, state).set(0)
        query = select(Job.task, Job.state, func.count()).group_by(Job.task, Job.state)
        for task, state, n in rows.execute(query):
            self._queue.labels(task, state).set(n)
        alive = select(func.count()).select_from(StoredWorker).where(StoredWorker.seen_at >= alive_since)
        self._workers.set(rows.scalar(alive) or 0)
        oldest = rows.scalar(
            select(func.min(Job.created_at)).where(Job.state == "queued", Job.step != WAITING)
        )
        self._waiting.set(0 if oldest is None else (moment - oldest) / 1000)
        self._free.set(disk_usage(folder).free)
        return generate_latest(self.registry)


UNTRACED = ("/health", "/ready", "/metrics")
PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")  # W3C traceparent
_current: ContextVar[str] = ContextVar("trace", default="")


def current() -> str:
    """The traceparent of what is being done; empty where nothing is traced."""
    return _current.get()


class Traces:
    """Makes spans; without a provider none, at no cost."""

    def __init__(self, provider: Any = None) -> None:
        self._provider = provider
        self._tracer = provider and provider.get_tracer("trustreport", __version__)

    def __bool__(self) -> bool:
        return self._tracer is not None

    @contextmanager
    def span(
        self, name: str, *, kind: str = "INTERNAL", parent: str = "", **attributes: Any
    ) -> Iterator[Callable[..., None]]:
        """A span while the block lasts; yields what adds to its attributes (`name` renames it).

        Parameters
        ----------
        kind : of OpenTelemetry's `SpanKind`
        parent : a traceparent; empty: a trace of its own
        """
        if self._tracer is None:
            yield lambda **more: None
            return
        from opentelemetry.trace import SpanKind

        span = self._tracer.start_span(name, _context_of(parent), SpanKind[kind], _dotted(attributes))

        def describe(name: str = "", **more: Any) -> None:
            if name:
                span.update_name(name)
            span.set_attributes(_dotted(more))

        here = span.get_span_context()
        before = _current.set(f"00-{here.trace_id:032x}-{here.span_id:016x}-{here.trace_flags:02x}")
        try:
            yield describe
        finally:
            _current.reset(before)
            span.end()

    @contextmanager
    def steps(self) -> Iterator[Callable[[str], None]]:
        """Spans of the steps of a job; yields what is called with each step as it begins."""
        parent, last, running = current(), "", ExitStack()

        def begin(step: str) -> None:
            nonlocal last
            if self and step != last:
                last = step
                running.close()
                running.enter_context(self.span(f"step {step}", parent=parent))

        with running:
            yield begin

    def close(self) -> None:
        """Send what was not sent yet."""
        if self._provider is not None:
            self._provider.shutdown()


class Traced:
    """A span for every request; routes below `prefix` say their paths without it."""

    def __init__(self, app: ASGIApp, traces: Traces, prefix: str) -> None:
        self.app, self.traces, self.prefix = app, traces, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNTRACED:
            await self.app(scope, receive, send)
            return
        status = 500

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self.traces.span("request", kind="SERVER") as add:
            try:
                await self.app(scope, receive, seen)
            finally:
                method = scope["method"] if scope["method"].isalpha() and len(scope["method"]) < 9 else "?"
                below = self.prefix if scope["path"].startswith(f"{self.prefix}/") else ""
                route = below + getattr(scope.get("route"), "path", "/(none)")
                add(
                    f"{method} {route}",
                    http__request__method=method,
                    http__route=route,
                    http__response__status_code=status,
                    trustreport__request=scope.get("state", {}).get("request", ""),
                    **({"error__type": str(status)} if status >= 500 else {}),
                )


def traces_of(settings: Settings) -> Traces:
    """Traces as the settings want them, sent by OTLP over HTTP.

    Raises
    ------
    Unsuitable : a package is missing
    """
    if not settings.traces:
        return Traces()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise Unsuitable(
            "TRUSTREPORT_TRACES=1 needs packages that are not installed: pip install 'trustreport[traces]'."
        ) from None
    ours = Resource({"service.name": "trustreport", "service.version": __version__})
    provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Traces(provider)


def _context_of(parent: str) -> Any:
    """The context of a traceparent; an empty one where it is none: what runs here has no say."""
    from opentelemetry.context import Context
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    found = PARENT.fullmatch(parent)
    if found is None:
        return Context()
    trace, span, flags = (int(part, 16) for part in found.groups())
    return set_span_in_context(NonRecordingSpan(SpanContext(trace, span, True, TraceFlags(flags))), Context())


def _dotted(attributes: dict[str, Any]) -> dict[str, Any]:
    """Names as OpenTelemetry writes them: two underlines stand for a dot."""
    return {name.replace("__", "."): value for name, value in attributes.items()}
