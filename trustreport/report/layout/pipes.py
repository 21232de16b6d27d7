"""Sends what this package is made of to another process, and sets up one that does one thing and ends."""

from __future__ import annotations

import gc
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess


USUAL = gc.get_threshold()


def seldom_collect() -> None:
    """Look for rubbish more rarely: of one report it would take a third of the time."""
    gc.set_threshold(100_000, 50, 1000)


def collect_as_usual() -> None:
    """Of a process that goes on: as Python does by itself."""
    gc.set_threshold(*USUAL)


def end(process: BaseProcess) -> None:
    """End a process of which nothing that it could still do is of use; nothing where it was not started."""
    if process.pid is not None:
        process.kill()
        process.join()


def send(line: Connection, message: object) -> None:
    """Send what may hold read-only mappings, which pickle alone does not take."""
    from multiprocessing.reduction import ForkingPickler  # here: every command imports this module

    ForkingPickler.register(MappingProxyType, _as_mapping)
    line.send(message)


def _as_mapping(mapping: Mapping[Any, Any]) -> tuple[Callable[..., object], tuple[object]]:
    return _mapping, (dict(mapping),)


def _mapping(items: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(items)
