"""Traces: a request and the job that it asks for are one trace, and no span names anybody."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from services import API, Client, new_core, stored, world

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import worker_thread
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.limited import ChildOutcome
from trustreport.service.settings import Settings, Unsuitable
from trustreport.service.storage.models import Job
from trustreport.service.web.telemetry import Traces, traces_of


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traced(tmp_path: Path, spans: InMemorySpanExporter) -> Iterator[Core]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    core = replace(new_core(tmp_path / "data"), traces=Traces(provider))
    yield core
    core.close()


def by_name(spans: InMemorySpanExporter) -> dict[str, Any]:
    return {span.name: span for span in spans.get_finished_spans()}


def test_a_request_its_job_and_the_steps_are_one_trace(
    traced: Core, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*given: Any, on_progress: Any, **more: Any) -> ChildOutcome:
        for step, share in (("read", 0.0), ("read", 0.1), ("assess", 0.5)):
            on_progress(step, share)
        return ChildOutcome("failed", reason="not tried")

    monkeypatch.setattr(worker_thread, "run", run)
    anna = Client.set_up(create_app(traced), traced)
    version = world(traced, anna)["version"]
    spans.clear()
    asked = anna.post(f"{API}/versions/{version}/jobs?patient=Marple", json={"seed": 1})
    assert WorkerThread(traced, "worker").once("report")
    found = by_name(spans)
    request = found[f"POST {API}/versions/{{version}}/jobs"]
    job = found["job report"]
    assert request.parent is None
    assert dict(request.attributes) == {
        "http.request.method": "POST",
        "http.route": f"{API}/versions/{{version}}/jobs",
        "http.response.status_code": 201,
        "trustreport.request": asked.headers["X-Request-Id"],
    }
    assert job.parent.span_id == request.context.span_id
    assert {span.context.trace_id for span in found.values()} == {request.context.trace_id}
    assert dict(job.attributes) == {
        "trustreport.job": asked.json()["id"],
        "trustreport.task": "report",
        "trustreport.attempt": 1,
        "trustreport.state": "failed",
    }
    steps = [span for span in spans.get_finished_spans() if span.name.startswith("step ")]
    assert [(s.name, s.parent.span_id == job.context.span_id) for s in steps] == [
        ("step read", True),
        ("step assess", True),
    ]


def test_no_span_holds_a_path_a_query_a_name_or_an_address(
    traced: Core, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object, **more: object) -> None:
        raise RuntimeError("patient Marple")

    app = create_app(traced)
    anna = Client.set_up(app, traced)
    study = anna.study("Marple")
    anna.get(f"{API}/studies?q=Marple")
    anna.get("/Marple/x?Marple")
    anna.get("/studies/Marple")
    Client.on(app).post(f"{API}/session", json={"email": "marple@hospital.test", "password": "Marple" * 3})
    monkeypatch.setattr("trustreport.service.study.api.StoredStudy", broken)
    assert anna.post(f"{API}/studies", json={"name": "Marple"}).status_code == 500
    told = "".join(span.to_json() for span in spans.get_finished_spans())
    assert "marple" not in told.lower()
    assert "hospital" not in told.lower()
    assert study not in told
    failed = [s for s in spans.get_finished_spans() if s.attributes.get("error.type") == "500"]
    assert [(s.name, s.events) for s in failed] == [(f"POST {API}/studies", ())]


def test_health_is_not_traced(traced: Core, spans: InMemorySpanExporter) -> None:
    TestClient(create_app(traced)).get("/health")
    assert spans.get_finished_spans() == ()


def test_without_the_setting_nothing_is_traced_or_loaded(light: Core) -> None:
    anna = Client.set_up(create_app(light), light)
    anna.post(f"{API}/versions/{world(light, anna)['version']}/jobs", json={"seed": 1})
    assert {job.trace for job in stored(light, Job)} == {""}
    assert not traces_of(Settings(light.settings.data))


def test_the_setting_sends_by_otlp_under_the_name_that_the_variables_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.1")
    traces = traces_of(Settings(tmp_path, traces=1))
    assert traces
    assert traces._provider.resource.attributes["service.name"] == "trustreport"
    traces.close()
    monkeypatch.setenv("OTEL_SERVICE_NAME", "reports")
    traces = traces_of(Settings(tmp_path, traces=1))
    assert traces._provider.resource.attributes["service.name"] == "reports"
    traces.close()
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(Unsuitable, match=r"pip install 'trustreport\[traces\]'"):
        traces_of(Settings(tmp_path, traces=1))
