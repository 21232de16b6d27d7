"""Files on disk, named by the SHA-256 of their content, apart for each organisation."""

import hashlib
import os
import re
import tempfile
import time
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


class Blobs:
    """A folder of blobs; equal content of one organisation is kept once.

    Every organisation has a folder of its own, so that nobody can find out whether another one holds a file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, organisation: str, sha256: str) -> Path:
        """Where a blob lies, or would lie."""
        if not (organisation.isalnum() and SHA.fullmatch(sha256)):
            raise ValueError("no name of a blob")
        return self.folder / organisation / sha256[:2] / sha256

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

    def put_file(self, organisation: str, file: Path) -> Blob:
        """Keep a copy of a file."""
        with file.open("rb") as stream:
            return self.put(organisation, stream)

    def all(self) -> Iterator[tuple[str, str, Path]]:
        """Organisation, hash and path of every blob."""
        for path in sorted(self.folder.glob("*/*/*")):
            if SHA.fullmatch(path.name):
                yield path.parent.parent.name, path.name, path

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
        """Remove what no row names, and what uploads that broke off left; younger than `older` seconds stay.

        An upload lies here before its row is written, so the young are never swept.
        """
        limit = time.time() - older
        swept = []
        for organisation, sha256, path in self.all():
            if (organisation, sha256) in wanted or path.stat().st_mtime > limit:
                continue
            if self.remove(organisation, sha256, older=older):
                swept.append((organisation, sha256))
        for left in (*self.folder.glob("*/.new-*"), *self.folder.glob("*/*/.old-*")):
            if left.stat().st_mtime <= limit:
                left.unlink(missing_ok=True)
        return swept
