"""Files named by the SHA-256 of their content, apart for each organisation, wherever they are kept."""

import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import IO

BLOCK = 1 << 20
SHA = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Blob:
    """What was kept: its name, and its size in bytes."""

    sha256: str
    size: int


class StorageAway(Exception):
    """The storage of files cannot be used at the moment.

    Parameters
    ----------
    reason : a sentence for everybody
    detail : for the operator: which storage, and how to fix it
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason} {detail}")
        self.reason = reason


class Damaged(OSError):
    """A file is not what was kept under its name."""


class NotOurs(Exception):
    """The place holds the files of another service."""


class Blobs(ABC):
    """Where files are kept; equal content of one organisation is kept once.

    Every organisation has files of its own, so that nobody can find out whether another one holds a file.
    Any method may raise `StorageAway`.
    """

    place: str  # in words of the settings

    @abstractmethod
    def put(self, organisation: str, stream: IO[bytes]) -> Blob:
        """Keep what a stream holds: it is there whole, or not at all."""

    @abstractmethod
    def open(self, organisation: str, sha256: str) -> IO[bytes]:
        """A blob, read as it is asked for, from any place in it (`seek`).

        Raises
        ------
        FileNotFoundError : there is no such blob
        """

    @abstractmethod
    def size(self, organisation: str, sha256: str) -> int | None:
        """How many bytes a blob has; None where there is none."""

    @abstractmethod
    def local_path(self, organisation: str, sha256: str) -> Path | None:
        """The file of a blob on this machine's disk, there or not; None where blobs are kept elsewhere."""

    @abstractmethod
    def all(self) -> Iterator[tuple[str, str]]:
        """Organisation and hash of every blob."""

    @abstractmethod
    def remove(self, organisation: str, sha256: str, *, older: float) -> bool:
        """Remove a blob that no row names; whether it is gone. One stored within `older` seconds stays."""

    @abstractmethod
    def sweep(self, wanted: Set[tuple[str, str]], *, older: float) -> list[tuple[str, str]]:
        """Remove what no row names, and what broke off; younger than `older` seconds stay.

        An upload lies here before its row is written, so the young are never swept.
        """

    @abstractmethod
    def probe(self) -> None:
        """Store a little, to show that this works; raises `OSError` or `StorageAway` where it does not."""

    def is_new(self) -> bool:
        """Whether no service has files here."""
        return next(self.all(), None) is None

    @abstractmethod
    def claim(self, key: str) -> None:
        """Say that these are the files of the service with this key; raises `NotOurs` where they are not."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections."""

    def read(self, organisation: str, sha256: str) -> bytes:
        """All of a blob; raises FileNotFoundError where there is none."""
        with self.open(organisation, sha256) as stream:
            return stream.read()

    def copy(self, organisation: str, sha256: str, target: Path) -> None:
        """Write a blob to a new file; raises FileNotFoundError where there is none."""
        with self.open(organisation, sha256) as stream, target.open("wb") as out:
            shutil.copyfileobj(stream, out, BLOCK)


def checked(organisation: str, sha256: str) -> str:
    """Where a blob lies below the folder or prefix of all; refuses whatever is no name."""
    if not (organisation.isalnum() and SHA.fullmatch(sha256)):
        raise ValueError("no name of a blob")
    return f"{organisation}/{sha256[:2]}/{sha256}"
