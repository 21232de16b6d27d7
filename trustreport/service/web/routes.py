"""Routes of the API that are made of an operation."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from fastapi import APIRouter, Response

from trustreport.service.client.operations import Operation

P = ParamSpec("P")
R = TypeVar("R")


def serves(
    router: APIRouter, operation: Operation[R], **more: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a route of a router of an operation; the function answers with what the operation declares."""
    return router.api_route(
        operation.path.removeprefix(router.prefix),
        methods=[operation.method],
        status_code=operation.status,
        response_model=operation.answer,
        **({} if operation.answer else {"response_class": Response}) | more,
    )
