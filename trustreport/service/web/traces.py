"""Traces (OpenTelemetry) of requests and jobs, where the operator wants them.

A span holds the pattern of a route, a state, a step and their times, and the ids of requests and jobs as the
log has them: no path, no query, no name and no address. A job keeps the trace of the request that asked for
it. Where spans are sent, the variables ``OTEL_*`` of OpenTelemetry say.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trustreport.service.settings import Settings, Unsuitable
from trustreport.vocabulary.version import __version__

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

        def add(name: str = "", **more: Any) -> None:
            if name:
                span.update_name(name)
            span.set_attributes(_dotted(more))

        here = span.get_span_context()
        before = _current.set(f"00-{here.trace_id:032x}-{here.span_id:016x}-{here.trace_flags:02x}")
        try:
            yield add
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
