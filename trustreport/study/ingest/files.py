"""Files of a study: where they may lie, what they are, their text and their hashes."""

import codecs
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath

from trustreport.study.ingest.problems import Problems, did_you_mean, quoted

BLOCK = 1 << 24
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def decoded(data: bytes) -> tuple[str, str]:
    """Text and encoding by the byte order mark, UTF-8 without one; raises `UnicodeDecodeError`."""
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding), encoding
    return data.decode("utf-8"), "utf-8"


def is_utf8(path: Path) -> bool:
    """Whether a file is UTF-8 from end to end, read in blocks."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as stream:
            while block := stream.read(BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass
class StudyFiles:
    """The files that a manifest names, looked up in the study folder and nowhere else."""

    folder: Path
    manifest: str
    problems: Problems
    allow_outside: bool = False
    hashes: dict[Path, str] = field(default_factory=dict)

    def find(self, name: str, column: str, line: int) -> Path | None:
        """The path of a file named in the manifest; None where it may not or cannot be read."""
        try:
            return self._find(name, column, line)
        except (OSError, ValueError):
            self._refuse(f"found {quoted(name)}", "the name of a file", "", column, line)
            return None

    def _find(self, name: str, column: str, line: int) -> Path | None:
        path = self.folder / name
        if not self.allow_outside and (
            _leads_out(name) or not path.resolve().is_relative_to(self.folder.resolve())
        ):
            mend = "Copy the file into the study folder and name it from there."
            self._refuse(f"{quoted(name)} is outside the study folder", "", mend, column, line)
            return None
        if path.is_dir():
            self._refuse(f"{quoted(name)} is a folder", "a file", "", column, line)
            return None
        if not path.is_file():
            mend = (
                "Write the name with forward slashes."
                if "\\" in name
                else did_you_mean(path.name, _files_in_folder(path))
            )
            self._refuse(f"no file {quoted(name)}", "", mend or "Check the name.", column, line)
            return None
        if not os.access(path, os.R_OK):
            self._refuse(f"{quoted(name)} may not be read", "", "Check its permissions.", column, line)
            return None
        if path.stat().st_size == 0:
            self.problems.at(name, "the file is empty (0 bytes)", "a header and rows")
            return None
        return path

    def hash(self, path: Path) -> str:
        """The hash of a file, computed once."""
        if path not in self.hashes:
            self.hashes[path] = sha256(path)
        return self.hashes[path]

    def _refuse(self, found: str, expected: str, mend: str, column: str, line: int) -> None:
        self.problems.at(self.manifest, found, expected, mend, rows=(line,), column=column)


def _leads_out(name: str) -> bool:
    """Absolute names of any system, and names that climb."""
    windows = PureWindowsPath(name)
    return bool(PurePosixPath(name).is_absolute() or windows.drive or windows.root or ".." in windows.parts)


def _files_in_folder(path: Path) -> list[str]:
    try:
        return sorted(p.name for p in path.parent.iterdir() if p.is_file())[:1000]
    except OSError:
        return []
