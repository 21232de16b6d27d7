"""Passwords that leaked most often, of those that are long enough to be taken here.

The file beside this module holds the first eight bytes of the SHA-256 of each, sorted: 43,940 of the million
most common among ten million leaked ones. `packaging/common_passwords.py` makes it and names its source.
"""

from bisect import bisect_left
from functools import cache
from hashlib import sha256
from pathlib import Path

FILE = Path(__file__).with_name("common_passwords.bin")
WIDTH = 8


def digest(password: str) -> bytes:
    """What the file holds of a password, whichever of its letters are capital."""
    return sha256(password.casefold().encode("utf-8", errors="replace")).digest()[:WIDTH]


@cache
def known() -> tuple[bytes, ...]:
    """What the file holds."""
    raw = FILE.read_bytes()
    return tuple(raw[i : i + WIDTH] for i in range(0, len(raw), WIDTH))


def is_common(password: str) -> bool:
    """Whether a password is one of them."""
    wanted, found = digest(password), known()
    at = bisect_left(found, wanted)
    return found[at : at + 1] == (wanted,)
