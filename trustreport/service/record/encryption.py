"""Backups encrypted for whoever has a key, in the format of age (age-encryption.org/v1)."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

BEGIN = b"age-encryption.org/v1\n"
SECRET = "AGE-SECRET-KEY-1"  # noqa: S105  # how one begins


class NoKey(ValueError):
    """A recipient or identity that cannot be used; the message says which."""


def recipients_of(texts: Sequence[str]) -> list[Any]:
    """Public keys of age, ``age1...``.

    Raises
    ------
    NoKey : a text is none
    """
    from pyrage import RecipientError, x25519

    found = []
    for text in texts:
        try:
            found.append(x25519.Recipient.from_str(text.strip()))
        except RecipientError:
            raise NoKey(f"{text!r} is no public key of age (age1...)") from None
    return found


def identities_of(file: Path) -> list[Any]:
    """The secret keys of a file as `age-keygen` writes it.

    Raises
    ------
    NoKey : it holds none, or one that cannot be read
    """
    from pyrage import IdentityError, x25519

    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    try:
        found = [x25519.Identity.from_str(line) for line in lines if line.startswith(SECRET)]
    except IdentityError:
        found = []
    if not found:
        raise NoKey(f"{file} holds no secret key of age ({SECRET}...)")
    return found


@contextmanager
def encrypted(out: IO[bytes], recipients: Sequence[Any]) -> Iterator[IO[bytes]]:
    """A stream that is encrypted as it is written; nothing is kept in plain."""
    from pyrage import encrypt_io

    ours, theirs = os.pipe()
    failed: list[BaseException] = []

    def encrypt() -> None:
        with os.fdopen(ours, "rb") as plain:  # closing it ends the writer, too
            try:
                encrypt_io(plain, out, recipients)
            except BaseException as error:
                failed.append(error)

    thread = threading.Thread(target=encrypt)
    thread.start()
    try:
        with os.fdopen(theirs, "wb") as stream:
            yield stream
    except BrokenPipeError:
        thread.join()
        if not failed:
            raise
    finally:
        thread.join()
    if failed:
        raise failed[0]


def is_encrypted(stream: IO[bytes]) -> bool:
    """Whether a stream, at its beginning, is one of age."""
    begin = stream.read(len(BEGIN))
    stream.seek(0)
    return begin == BEGIN


def decrypt(stream: IO[bytes], out: IO[bytes], identities: Sequence[Any]) -> None:
    """Decrypt a stream, and go back to the beginning of what came out.

    Raises
    ------
    NoKey : it was encrypted for other keys, or is damaged
    """
    from pyrage import DecryptError, decrypt_io

    try:
        decrypt_io(stream, out, identities)
    except (DecryptError, OSError) as error:
        raise NoKey(f"it cannot be decrypted with this key ({error})") from None
    out.seek(0)
