"""Requests drawn from the API's own document: no answer is a fault of the service."""

from typing import Any

from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from services import API, Client, world

from trustreport.service.core import Core

# Without these the one who asks would lock themselves out.
SPARED = ("DELETE /api/v1/session", "POST /api/v1/account/password", "DELETE /api/v1/tokens/{token}")


def as_bytes(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


def test_no_request_breaks_the_service(app: FastAPI, light: Core, anna: Client) -> None:
    import schemathesis  # here, for it takes a second, and every process lists the tests
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import response_schema_conformance

    schemathesis.serializer("application/zip")(as_bytes)
    scopes = ["read", "write", "review", "approve", "manage"]
    made = anna.post(f"{API}/tokens", json={"name": "fuzz", "scopes": scopes}).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    names = world(light, anna)
    tried = 0

    for found in schemathesis.openapi.from_asgi("/api/openapi.json", app).get_all_operations():
        operation = found.ok()
        if operation.label in SPARED:
            continue

        @settings(
            max_examples=6,
            database=None,
            derandomize=True,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            for name in case.path_parameters or {}:
                if name in names:  # the way in is known; the rest is drawn
                    case.path_parameters[name] = names[name]
            response = case.call(headers=headers, timeout=60)
            case.validate_response(response, checks=[not_a_server_error, response_schema_conformance])

        ask()
        tried += 1
    assert tried > 40
