"""A zip of a study folder, unpacked into an empty folder; everything else is refused, all at once."""

import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from trustreport.service.intake import MANIFESTS, BadName, safe_name
from trustreport.vocabulary.errors import Problem

MOST_RATIO = 200  # of unpacked to packed bytes, where it matters
SMALL = 10_000_000
BLOCK = 1 << 20
SKIPPED = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")


class Refused(Exception):
    """The archive is not unpacked; `problems` say why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = problems


def unpack(archive: Path, shown: str, into: Path, *, most_bytes: int, most_files: int) -> None:
    """Unpack `archive`, which messages call `shown`; a single folder around everything is taken off.

    Raises
    ------
    Refused : the archive is damaged, too large, or holds what no study holds
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = _entries(opened, shown, most_bytes, most_files)
            left = most_bytes
            for name, info in entries.items():
                left -= _write(opened, info, into / name, left, shown)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise Refused(
            [_problem(shown, "a damaged or encrypted zip", "Create it again, without a password.")]
        ) from error
    except OSError as error:
        raise Refused([_problem(shown, "names of files that contradict each other")]) from error


def _entries(
    opened: zipfile.ZipFile, shown: str, most_bytes: int, most_files: int
) -> dict[str, zipfile.ZipInfo]:
    """The files to unpack by their names; raises with everything that is wrong before anything is written."""
    infos = [i for i in opened.infolist() if not i.is_dir() and not _is_skipped(i.filename)]
    if len(infos) > most_files:
        raise Refused([_problem(shown, f"{len(infos)} files", f"At most {most_files} files.")])
    total = sum(i.file_size for i in infos)
    packed = max(sum(i.compress_size for i in infos), 1)
    if total > most_bytes or (total > SMALL and total / packed > MOST_RATIO):
        found = f"{packed:,} bytes that unpack to {total:,}"
        raise Refused(
            [_problem(shown, found, f"At most {most_bytes:,} bytes, and no more than {MOST_RATIO} times.")]
        )
    around = _folder_around([i.filename for i in infos])
    problems: list[Problem] = []
    entries: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        kind = stat.S_IFMT(info.external_attr >> 16)
        try:
            if kind not in (0, stat.S_IFREG):
                raise BadName("a study holds files, no links or devices")
            name = safe_name(info.filename.removeprefix(around))
            if name in entries:
                raise BadName("the name appears twice")
            entries[name] = info
        except BadName as error:
            problems.append(
                _problem(shown, f"the entry {info.filename[:100]!r}", f"{error}".capitalize() + ".")
            )
    if problems:
        raise Refused(problems)
    return entries


def _write(opened: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, left: int, shown: str) -> int:
    """Write one entry and count what comes out, whatever the directory claims."""
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with opened.open(info) as packed, target.open("xb") as out:
        while block := packed.read(BLOCK):
            written += len(block)
            if written > left:
                shutil.rmtree(target.parent, ignore_errors=True)
                raise Refused([_problem(shown, "more bytes than its directory says")])
            out.write(block)
    return written


def _folder_around(names: list[str]) -> str:
    """The one folder that holds everything, the manifest directly in it."""
    parts = [PurePosixPath(name).parts for name in names]
    tops = {p[0] for p in parts if p}
    has_manifest = any(len(p) == 2 and p[1] in MANIFESTS for p in parts)
    return f"{tops.pop()}/" if len(tops) == 1 and has_manifest else ""


def _is_skipped(name: str) -> bool:
    return name.startswith(SKIPPED[0]) or PurePosixPath(name).name in SKIPPED[1:]


def _problem(file: str, found: str, mend: str = "") -> Problem:
    return Problem(file, found, mend=mend)
