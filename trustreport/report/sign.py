"""Sign the files of a folder: a statement that names each with its hash, and its Ed25519 signature."""

import base64
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from trustreport.report.attestations import FORMAT, SIGNATURE, pairs
from trustreport.report.document import canonical
from trustreport.report.files import digest, files

if TYPE_CHECKING:
    from trustreport.signing import Signer


@dataclass(frozen=True, slots=True)
class FileStatement:
    """What is said of the files, by whom and when; `act` is one word, which also names the file."""

    act: str
    meaning: str
    name: str
    email: str
    at: datetime


def sign_folder(folder: Path, signer: "Signer", statement: FileStatement) -> Path:
    """Write a signed statement on all files of a folder but signatures and statements, and return its path.

    Raises
    ------
    FileExistsError : the folder has a statement of that act already
    """
    signed = pairs(folder)
    own = {*signed, *signed.values()}
    named = {name: digest(folder / name) for name in files(folder) if name not in own}
    text = canonical(
        {
            "format": FORMAT,
            "act": statement.act,
            "meaning": statement.meaning,
            "at": round(statement.at.timestamp() * 1000),
            "signer": {"name": statement.name, "email": statement.email},
            "report": {"files": named},
            "key": signer.name,
            "public_key": base64.b64encode(signer.public).decode(),
        }
    )
    target = folder / f"{statement.act}.json"
    if target.exists() or target.name in named:
        raise FileExistsError(f"{target} is there already")
    write_whole(target, text)
    write_whole(target.with_name(target.name + SIGNATURE), base64.b64decode(signer.sign(text)))
    return target


def write_whole(target: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        new.write_bytes(content)
        os.replace(new, target)
    finally:
        new.unlink(missing_ok=True)
