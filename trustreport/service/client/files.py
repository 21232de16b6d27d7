"""Files of the client: the zip of a study folder, and what is saved."""

import zipfile
from pathlib import Path
from typing import IO

FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # of every file, so that equal folders give equal archives


def pack(folder: Path, out: IO[bytes]) -> int:
    """Write the files of a folder as a zip; how many. Hidden ones and links are left out.

    Raises
    ------
    FileNotFoundError : there is none
    """
    files = [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not any(_is_left_out(part) for part in (file, *_parents(file, folder)))
    ]
    if not files:
        raise FileNotFoundError(f"{folder} has no files; a study folder has a study.yaml and its tables.")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            info = zipfile.ZipInfo(file.relative_to(folder).as_posix(), FIRST_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            with file.open("rb") as source, archive.open(info, "w", force_zip64=True) as target:
                while block := source.read(1 << 20):
                    target.write(block)
    return len(files)


def write_whole(file: Path, content: bytes) -> None:
    """Write a file as a whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.part")
    try:
        new.write_bytes(content)
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


def _is_left_out(path: Path) -> bool:
    return path.name.startswith(".") or path.is_symlink()


def _parents(file: Path, folder: Path) -> list[Path]:
    return [parent for parent in file.parents if parent != folder and parent.is_relative_to(folder)]
