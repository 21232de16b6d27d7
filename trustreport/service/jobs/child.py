"""What runs in the limited process: reads one task from stdin, answers in lines of JSON on stdout.

``python -m trustreport.service.jobs.child PARENT``. Nothing that reads data is imported before the limits are
on. Failures are reported by kind and place, never by the text of an exception, which may quote patients.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trustreport.service.engine import seldom_collect

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
OPEN_FILES = 512
NETWORK = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg")


def confine(memory: int, cpu: int, output: int) -> None:
    """At most so many bytes of memory, seconds of computing and bytes of a file; no dumps, no new rights."""
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: output,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }
    for which, most in limits.items():
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    os.umask(0o077)
    libc = _libc()
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def die_with(parent: int) -> None:
    """End this process when its parent ends, however that happens."""
    _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before we asked
        os.kill(os.getpid(), signal.SIGKILL)


def cut_network() -> bool:
    """Move into a network of our own, which leads nowhere; false where the kernel does not permit it.

    Must run before any thread is started.
    """
    libc = _libc()
    if libc.unshare(CLONE_NEWNET) == 0:
        return True
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return False
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        try:
            Path(f"/proc/self/{name}").write_text(text)
        except OSError:  # names of owners read as "nobody" then, which changes nothing here
            break
    return True


def refuse(work: Path, closed: Sequence[Path], *, network: bool = False) -> None:
    """Refuse the network, writing outside `work`, and anything of `closed` outside `work`, inside Python.

    With `network` that stays open.

    Behind `cut_network` it is a second wall; where that was not permitted it is the only one. It binds this
    interpreter, not the programs that it starts.
    """
    home = os.path.realpath(work)
    shut = [os.path.realpath(folder) for folder in closed]
    writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

    def inside(path: str, folder: str) -> bool:
        return path == folder or path.startswith(folder + os.sep)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in NETWORK and not network:
            raise PermissionError("no network here")
        if (
            event == "socket.__new__" and not network and arguments[1] not in (1, -1)
        ):  # AF_UNIX: pipes between processes
            raise PermissionError("no network here")
        if event != "open" or not isinstance(arguments[0], str | bytes):
            return
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if inside(path, home) or path == os.devnull:
            return
        mode, flags = arguments[1] or "", arguments[2] or 0
        if any(letter in str(mode) for letter in "wax+") or flags & writes:
            raise PermissionError("nothing is written there")
        if any(inside(path, folder) for folder in shut):
            raise PermissionError("nothing is read there")

    sys.addaudithook(hook)


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Do the task that stdin names."""
    die_with(int(sys.argv[1]))
    seldom_collect()
    task = json.loads(sys.stdin.buffer.read())
    line = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer

    def say(**what: Any) -> None:
        line.write(json.dumps(what) + "\n")
        line.flush()

    work = Path(task["work"])
    network = task["task"] == "fetch"  # which reads no file of a user
    if not network:
        cut_network()
    confine(**task["limits"])
    refuse(work, [Path(folder) for folder in task["closed"]], network=network)
    try:
        from trustreport.service.jobs.tasks import TASKS

        answer = TASKS[task["task"]](task, work, lambda step, share: say(step=step, share=share))
    except MemoryError:
        megabytes = task["limits"]["memory"] // 1_000_000
        answer = {"failed": f"It needs more than the {megabytes} MB of memory that it may use."}
    except BaseException as error:
        from trustreport.service.log import place_of

        answer = {"failed": f"A fault of the program: {place_of(error)}."}
    say(answer=answer)


if __name__ == "__main__":
    main()
