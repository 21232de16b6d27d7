"""Run in place of the limited process: its own limits, then a task that tries something. Not a test."""

import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from trustreport.service.jobs import child, tasks


def hog(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    held = [bytearray(50_000_000) for _ in range(100)]
    return {"held": len(held)}


def spin(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    while True:
        pass


def sleep(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    on_progress("asleep", 0.5)
    time.sleep(60)
    return {}


def fill(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    with (work / "big").open("wb") as out:
        while True:
            out.write(b"0" * 1_000_000)


def connect(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    host, port = task["canary"]
    found = {}
    for name, attempt in {
        "python": lambda: socket.create_connection((host, port), 1).close(),
        "program": lambda: os.system(  # noqa: S605  # no hook sees what a program does
            f"{sys.executable} -c \"import socket; socket.create_connection(('{host}', {port}), 1)\""
        ),
    }.items():
        try:
            found[name] = attempt() == 0
        except OSError:
            found[name] = False
    return found


def touch(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    found = {}
    for name, path in task["paths"].items():
        for mode in ("rb", "wb"):
            try:
                with open(path, mode):
                    found[f"{name} {mode}"] = True
            except OSError:
                found[f"{name} {mode}"] = False
    return found


def crash(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    raise ValueError("patient Marple, born 1890")


def leave(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    os._exit(0)


def die(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    os.kill(os.getpid(), 11)
    return {}


def chatter(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    print("not JSON")
    os.write(1, b'{"answer": {"forged": true}}\n')
    return {"environment": dict(os.environ), "threads": len(os.listdir("/proc/self/task"))}


def link(task: dict[str, Any], work: Path, on_progress: Any) -> dict[str, Any]:
    (work / "out").mkdir()
    (work / "out" / "results.json").symlink_to("/etc/passwd")
    return {"facts": {"kind": "certification"}, "device": None, "lacking": ""}


if __name__ == "__main__":
    tasks.TASKS.update(
        {f.__name__: f for f in (hog, spin, sleep, fill, connect, touch, crash, leave, die, chatter)}
    )
    tasks.TASKS["report"] = link
    child.main()
