"""Two servers on one PostgreSQL and one data folder, behind a proxy that gives them requests in turn."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from services import new_core

from trustreport.service.app import create_app
from trustreport.service.core import Core


@dataclass
class Servers:
    """Both cores, and the proxy as an application."""

    one: Core
    other: Core
    proxy: Any


@contextmanager
def two_servers(data: Path, address: str, **given: Any) -> Iterator[Servers]:
    """Two servers of one service, each with its own memory."""
    cores = [new_core(data, database=address, **given) for _ in range(2)]
    turns = cycle([create_app(core) for core in cores])

    async def proxy(*asked: Any) -> None:
        await next(turns)(*asked)

    try:
        yield Servers(*cores, proxy)
    finally:
        for core in cores:
            core.close()
