"""Blobs as files of a folder: the default."""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Set
from pathlib import Path
from typing import IO

from trustreport.service.storage.blobs import BLOCK, SHA, Blob, Blobs, checked


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

    def all(self) -> Iterator[tuple[str, str]]:
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
