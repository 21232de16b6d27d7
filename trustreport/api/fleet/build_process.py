"""Has studies built by a process of their own, so that none of them can end the worker that asks for it."""

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import trustreport
from trustreport.api.fleet import records

COMMAND = ("-m", "trustreport.api.fleet.child")
MOST_BUILT = 100  # reports before a process is replaced: what it failed to give back goes with it
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class BuildProcess:
    """A process that builds one report after another; a new one takes its place after a failure."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._built = 0

    def build(self, task: dict[str, Any]) -> dict[str, Any]:
        """What the process answers, or why there is no answer: too late, killed, ended."""
        if self._built >= MOST_BUILT:
            self.end()
        process = self._process = self._process or _started()
        late = threading.Event()

        def too_late() -> None:
            """Kill the build when its time is over."""
            late.set()
            _kill(process)

        timer = threading.Timer(task["timeout"], too_late)
        timer.daemon = True
        timer.start()
        assert process.stdin is not None
        assert process.stdout is not None
        line = b""
        with suppress(OSError):  # it has ended
            process.stdin.write(json.dumps(task).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        timer.cancel()
        self._built += 1
        if line.endswith(b"\n") and not late.is_set():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("why") == "memory":
                self.end()
            return answer
        code, study = process.wait(), task["study"]
        self.end()
        if late.is_set():
            return records.failed(study, "timeout", seconds=task["timeout"])
        if code < 0:
            return records.failed(study, "killed", signal=signal.Signals(-code).name)
        return records.failed(study, "ended", code=code)

    def end(self) -> None:
        """End the process, whatever it does."""
        process, self._process, self._built = self._process, None, 0
        if process is None:
            return
        if process.poll() is None:
            _kill(process)
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not sent to it is lost
                    pipe.close()


_idle: list[BuildProcess] = []
_lock = threading.Lock()


def build_one(task: dict[str, Any]) -> dict[str, Any]:
    """Have a study built by a process that waits, or a new one; a failure is kept as its record.

    This runs in a worker of the backend. Workers of several threads have a process for each.
    """
    with _lock:
        builder = _idle.pop() if _idle else BuildProcess()
    try:
        answer = builder.build(task)
    except BaseException:
        builder.end()
        raise
    with _lock:
        _idle.append(builder)
    if answer["status"] == "failed":
        records.write_record(Path(task["out"]), task["name"], answer)
    return answer


def end_idle() -> None:
    """End the processes that wait for a task."""
    with _lock:
        ended, _idle[:] = list(_idle), []
    for builder in ended:
        builder.end()


atexit.register(end_idle)


def _started() -> subprocess.Popen[bytes]:
    package = str(Path(trustreport.__file__).parent.parent)
    others = os.environ.get("PYTHONPATH", "")
    return subprocess.Popen(  # noqa: S603  # our own module under this interpreter
        [sys.executable, "-P", *COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # tracebacks may quote data
        env={
            **os.environ,
            **ONE_THREAD,
            "PYTHONPATH": os.pathsep.join(filter(None, (package, others))),
            "ARROW_DEFAULT_MEMORY_POOL": "system",
        },
        start_new_session=True,  # Ctrl-C is for the run, which ends this too
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
