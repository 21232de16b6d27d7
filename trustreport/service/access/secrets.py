"""Passwords (argon2id), and secrets that are kept as hashes only."""

import hashlib
import hmac
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from trustreport.messages import say
from trustreport.service.access.common import is_common
from trustreport.service.web.faults import Fault

SHORTEST, LONGEST = 12, 256
LOOKED_AT = 72  # characters that are tried against words and patterns, which takes longer the more there are
GUESSES = 1e8  # fewer (score 2 or less of zxcvbn) are few for whoever has stolen a hash
OURS = ("trustreport", "trust report")
HASHES, WAITING = 4, 12  # hashes at a time, 64 MB each; requests that wait for one
_hasher = PasswordHasher()
_slots = threading.BoundedSemaphore(HASHES)
_room = threading.BoundedSemaphore(HASHES + WAITING)
# Compared with where there is no account, so that the answer takes as long.
_NOBODY = _hasher.hash(secrets.token_urlsafe())


def hash_password(password: str) -> str:
    """An argon2id hash with its parameters and salt."""
    with _slot():
        return _hasher.hash(password)


def is_password(password: str, kept: str | None) -> bool:
    """Whether a password is the one whose hash was kept; takes as long for an account that does not exist.

    Raises
    ------
    Fault : too many are being tried (503)
    """
    try:
        with _slot():
            return _hasher.verify(kept or _NOBODY, password) and bool(kept)
    except (VerificationError, InvalidHashError):
        return False


@contextmanager
def _slot() -> Iterator[None]:
    """A turn to hash: few at a time, and few that wait, so that guesses take neither memory nor threads."""
    if not _room.acquire(blocking=False):
        raise Fault(
            503,
            say("pages.fault.busy.title"),
            say("pages.fault.busy.many_people_log"),
            headers={"Retry-After": "2"},
        )
    try:
        with _slots:
            yield
    finally:
        _room.release()


def is_outdated(kept: str) -> bool:
    """Whether a hash was made with weaker parameters than today's."""
    return _hasher.check_needs_rehash(kept)


def weakness(password: str, *known: str) -> str:
    """Why a password cannot be taken, or nothing.

    Parameters
    ----------
    known : what others know of the account: its address, the names of its user and organisation; their words
        are the first that are guessed
    """
    from zxcvbn import zxcvbn  # its lists of words take a tenth of a second to load

    if not SHORTEST <= len(password) <= LONGEST:
        return f"a password has {SHORTEST} to {LONGEST} characters"
    words = [word for text in known for word in re.split(r"\W+", text) if len(word) > 2]
    joined = [re.sub(r"\W+", "", text) for text in known]
    guessed = zxcvbn(password[:LOOKED_AT], user_inputs=[*known, *words, *joined, *OURS])
    if guessed["guesses"] < GUESSES:
        hint = guessed["feedback"]["warning"].rstrip(".")
        return "it is easily guessed" + (f" ({hint[:1].lower()}{hint[1:]})" if hint else "")
    if is_common(password):
        return "it is one of the most common among passwords that have leaked elsewhere"
    return ""


def new_secret(prefix: str = "") -> str:
    """256 random bits as text."""
    return prefix + secrets.token_urlsafe(32)


def fingerprint(secret: str) -> str:
    """What is kept of a random secret: its SHA-256. (A slow hash is for what people think up.)"""
    return hashlib.sha256(secret.encode()).hexdigest()


def csrf_token(secret: str | bytes) -> str:
    """What a page sends along, so that no other site's page can act for its user; of what only we know."""
    key = secret.encode() if isinstance(secret, str) else secret
    return hmac.new(key, b"csrf", hashlib.sha256).hexdigest()
