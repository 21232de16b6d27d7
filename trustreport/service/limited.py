"""A process that may do little: so much memory, time and disk, no network; its end is never ours.

`run` starts `trustreport.service.jobs.child`, hands it one task and listens to its progress. The child puts
the limits on itself before it imports anything that reads data. It gets none of our environment, and it dies
with us.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import trustreport
from trustreport.service.settings import Settings

CHILD = ("-m", "trustreport.service.jobs.child")
LISTEN_SECONDS = 0.1
MOST_SAID = 50_000_000  # bytes of progress and answer
# What libraries need to know, and what chooses their kernels: another one may give another last digit.
# Addresses, passwords and tokens of ours stay away.
KERNELS = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES")
KEPT = ("LANG", "LC_ALL", "PATH", "TZ", *KERNELS)
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What a child may use at most: bytes, seconds."""

    memory: int
    cpu: int
    wall: float
    output: int

    @classmethod
    def of_settings(cls, settings: Settings, task: str) -> "ResourceLimits":
        """The limits of a task."""
        wall = settings.check_wall if task == "check" else settings.job_wall
        return cls(settings.job_memory, min(settings.job_cpu, wall), wall, settings.job_output)


@dataclass(frozen=True, slots=True)
class ChildOutcome:
    """How a child ended: with an answer, with a reason to tell, or stopped by us."""

    kind: Literal["answer", "failed", "stopped"]
    answer: dict[str, Any] = field(default_factory=dict)
    reason: str = ""


def run(
    task: dict[str, Any],
    work: Path,
    limits: ResourceLimits,
    *,
    on_progress: Callable[[str, float], None],
    should_continue: Callable[[], bool],
    pipes: tuple[int, int] | None = None,
) -> ChildOutcome:
    """Run one task in a limited process; always comes back.

    Parameters
    ----------
    task : what `child.TASKS` takes, plain data
    work : an empty folder, the only one that the child may write to
    on_progress : called with each step and its share
    should_continue : asked several times a second; false kills the child
    pipes : descriptors by which the child has pieces computed elsewhere (`jobs.pieces`)
    """
    began = time.monotonic()
    child = _start(work, pipes or ())
    said = b""
    answer: dict[str, Any] | None = None
    total = 0
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        limited = {"memory": limits.memory, "cpu": limits.cpu, "output": limits.output}
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(
                json.dumps({**task, "limits": limited, "work": str(work), "pipes": pipes}).encode()
            )
            child.stdin.close()
        with selectors.DefaultSelector() as waiting:
            waiting.register(child.stdout, selectors.EVENT_READ)
            while True:
                if not should_continue():
                    return ChildOutcome("stopped")
                if time.monotonic() - began > limits.wall:
                    return ChildOutcome("failed", reason=f"It took longer than {limits.wall:g} seconds.")
                if not waiting.select(LISTEN_SECONDS):
                    continue
                block = os.read(child.stdout.fileno(), 65536)
                if not block:
                    break
                total += len(block)
                if total > MOST_SAID:
                    return ChildOutcome("failed", reason="It said more than it may.")
                said += block
                *lines, said = said.split(b"\n")
                for line in lines:
                    answer = _heard(line, on_progress) or answer
        try:
            code = child.wait(timeout=max(1.0, limits.wall - (time.monotonic() - began)))
        except subprocess.TimeoutExpired:
            return ChildOutcome("failed", reason=f"It took longer than {limits.wall:g} seconds.")
    finally:
        _kill(child)
    if answer is not None and code == 0:
        return ChildOutcome("answer", answer)
    return ChildOutcome("failed", reason=_why(code, limits))


def _start(work: Path, pipes: tuple[int, ...]) -> subprocess.Popen[bytes]:
    scratch = work / "tmp"
    scratch.mkdir(exist_ok=True)
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= dict.fromkeys(ONE_THREAD, "1")
    environment |= {
        "PYTHONPATH": str(Path(trustreport.__file__).parent.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "MPLCONFIGDIR": str(scratch),
        "XDG_CACHE_HOME": str(scratch),
        "ARROW_DEFAULT_MEMORY_POOL": "system",  # others reserve more address space than they use
        "MALLOC_ARENA_MAX": "2",  # likewise
    }
    return subprocess.Popen(  # noqa: S603  # our own module under this interpreter
        [sys.executable, "-P", *CHILD, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # tracebacks may quote data
        cwd=work,
        env=environment,
        pass_fds=pipes,
        start_new_session=True,  # so that its own children can be killed with it
    )


def _heard(line: bytes, on_progress: Callable[[str, float], None]) -> dict[str, Any] | None:
    """A line of the child: progress is passed on, the answer is returned, anything else is nothing."""
    try:
        said = json.loads(line)
        if "answer" in said and isinstance(said["answer"], dict):
            return dict(said["answer"])
        on_progress(str(said["step"])[:60], min(max(float(said["share"]), 0.0), 1.0))
    except (ValueError, KeyError, TypeError):
        pass
    return None


def _kill(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _why(code: int, limits: ResourceLimits) -> str:
    if code == -signal.SIGXCPU or code == -signal.SIGKILL:
        return f"It was ended: more than {limits.cpu} seconds of computing, or more memory than there is."
    if code == -signal.SIGXFSZ:
        return f"It wrote a file larger than {limits.output} bytes."
    if code < 0:
        return f"It was ended by signal {-code}."
    return f"It ended without an answer (status {code})."
