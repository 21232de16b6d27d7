"""Reads a study in a process of its own, while this one goes on.

What only reading needs (Arrow, and the pandas that it imports: 65 MB) ends with that process, and on a second
core the imports of all that follows go on meanwhile.
"""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import TYPE_CHECKING

from trustreport.pipes import seldom_collect, send

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from trustreport.plan import Plan
    from trustreport.study import Study

LARGEST = 50_000_000  # bytes of a folder that is read apart; handing over what is larger would cost more
MOST_FILES = 1000


class BackgroundReader:
    """A study that is being read; call it for what was read.

    Raises
    ------
    StudyError : when called, with every problem of every file
    """

    def __init__(self, path: Path, *, allow_outside: bool = False) -> None:
        self._asked = (path, allow_outside)
        self._answer: Connection | None = None
        if not allow_outside and _is_small(path):
            spawn = multiprocessing.get_context("spawn")
            self._answer, theirs = spawn.Pipe(duplex=False)
            process = spawn.Process(target=_read, args=(theirs, path), daemon=True)
            process.start()
            theirs.close()

    def __call__(self) -> tuple[Study, Plan]:
        found = None
        if self._answer is not None:
            try:
                found = self._answer.recv()
            except EOFError:  # it died; here the reason shows
                found = None
        if isinstance(found, Exception):
            raise found
        if found is None:
            from trustreport.ingest import read

            path, allow_outside = self._asked
            return read(path, allow_outside=allow_outside)
        from trustreport.study import close

        study, plan = found
        close(study)
        return study, plan


def _is_small(path: Path) -> bool:
    """Whether all that the folder holds is little."""
    folder = path if path.is_dir() else path.parent
    size = 0
    for i, file in enumerate(folder.rglob("*")):
        size += file.stat().st_size if file.is_file() else 0
        if size > LARGEST or i >= MOST_FILES:
            return False
    return True


def _read(answer: Connection, path: Path) -> None:
    """What the other process does: send the study, or what is wrong with it."""
    seldom_collect()
    from trustreport.errors import StudyError
    from trustreport.ingest import read

    try:
        send(answer, read(path))
    except StudyError as error:
        answer.send(error)
