"""Files named by the SHA-256 of their content, apart for each organisation, wherever they are kept."""

import hashlib
import os
import re
import shutil
import tempfile
import time
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
    def stored_blobs(self) -> Iterator[tuple[str, str]]:
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
        return next(self.stored_blobs(), None) is None

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


class FolderBlobs(Blobs):
    """A folder of blobs, on a disk of this machine or one that several machines share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = str(folder)

    def path(self, organisation: str, sha256: str) -> Path:
        """Where a blob lies, or would lie."""
        return self.folder / checked(organisation, sha256)

    local_path = path

    def put(self, organisation: str, stream: IO[bytes]) -> Blob:
        """Keep what a stream holds."""
        home = self.folder / organisation
        home.mkdir(parents=True, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        handle, name = tempfile.mkstemp(prefix=".new-", dir=home)
        try:
            with os.fdopen(handle, "wb") as out:
                while block := stream.read(BLOCK):
                    digest.update(block)
                    size += len(block)
                    out.write(block)
                out.flush()
                os.fsync(out.fileno())
            blob = Blob(digest.hexdigest(), size)
            target = self.path(organisation, blob.sha256)
            target.parent.mkdir(exist_ok=True)
            os.replace(name, target)  # also where it is there already: its age says that it is wanted
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return blob

    def open(self, organisation: str, sha256: str) -> IO[bytes]:
        """The file; raises FileNotFoundError where there is none."""
        return self.path(organisation, sha256).open("rb")

    def size(self, organisation: str, sha256: str) -> int | None:
        """How many bytes a blob has; None where there is none."""
        try:
            return self.path(organisation, sha256).stat().st_size
        except FileNotFoundError:
            return None

    def copy(self, organisation: str, sha256: str, target: Path) -> None:
        """Write a blob to a new file."""
        shutil.copyfile(self.path(organisation, sha256), target)

    def paths(self) -> Iterator[tuple[str, str, Path]]:
        """Organisation, hash and path of every blob."""
        for path in sorted(self.folder.glob("*/*/*")):
            if SHA.fullmatch(path.name):
                yield path.parent.parent.name, path.name, path

    def stored_blobs(self) -> Iterator[tuple[str, str]]:
        """Organisation and hash of every blob."""
        return ((organisation, sha256) for organisation, sha256, _ in self.paths())

    def remove(self, organisation: str, sha256: str, *, older: float) -> bool:
        """Remove a blob that no row names; whether it is gone. One stored within `older` seconds stays.

        It is moved aside first: whoever stores the same content at that moment has it put back.
        """
        path = self.path(organisation, sha256)
        aside = path.with_name(f".old-{sha256}")
        try:
            if path.stat().st_mtime > time.time() - older:
                return False
            os.rename(path, aside)
            if aside.stat().st_mtime > time.time() - older:
                os.replace(aside, path)
                return False
        except FileNotFoundError:
            return True
        aside.unlink(missing_ok=True)
        return True

    def sweep(self, wanted: Set[tuple[str, str]], *, older: float) -> list[tuple[str, str]]:
        """Remove what no row names, and what broke off; younger than `older` seconds stay."""
        limit = time.time() - older
        swept = []
        for organisation, sha256, path in self.paths():
            if (organisation, sha256) in wanted or path.stat().st_mtime > limit:
                continue
            if self.remove(organisation, sha256, older=older):
                swept.append((organisation, sha256))
        for left in (*self.folder.glob("*/.new-*"), *self.folder.glob("*/*/.old-*")):
            if left.stat().st_mtime <= limit:
                left.unlink(missing_ok=True)
        return swept

    def claim(self, key: str) -> None:
        """Nothing: the key is in the same data folder."""

    def close(self) -> None:
        """Nothing is open."""

    def probe(self) -> None:
        """Nothing: it is the disk of the data folder, which `/ready` writes to anyway."""
