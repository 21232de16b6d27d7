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

from trustreport.service.access.common import is_common
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import Message, say

SHORTEST, LONGEST = 12, 256
LOOKED_AT = 72  # characters that are tried against words and patterns, which takes longer the more there are
GUESSES = 1e8  # fewer (score 2 or less of zxcvbn) are few for whoever has stolen a hash
OURS = ("trustreport", "trust report")
# What zxcvbn warns of, in its English, and our words for it.
HINTS = {
    "Straight rows of keys are easy to guess.": "rows",
    "Short keyboard patterns are easy to guess.": "patterns",
    'Repeats like "aaa" are easy to guess.': "signs",
    'Repeats like "abcabcabc" are only slightly harder to guess than "abc".': "repeats",
    'Sequences like "abc" or "6543" are easy to guess.': "sequences",
    "Recent years are easy to guess.": "years",
    "Dates are often easy to guess.": "dates",
    "This is a top-10 common password.": "top_10",
    "This is a top-100 common password.": "top_100",
    "This is a very common password.": "common",
    "This is similar to a commonly used password.": "similar",
    "A word by itself is easy to guess.": "word",
    "Names and surnames by themselves are easy to guess.": "name",
    "Common names and surnames are easy to guess.": "names",
}
HASHES, WAITING = 4, 12  # hashes at a time, 64 MB each; requests that wait for one
_hasher = PasswordHasher()
_slots = threading.BoundedSemaphore(HASHES)
_room = threading.BoundedSemaphore(HASHES + WAITING)
# Compared with where there is no account, so that the answer takes as long: of characters that nobody kept.
_NOBODY = "$argon2id$v=19$m=65536,t=3,p=4$yv98D7SQgKj9wEEdFuWM2Q$EyLQamZEnx2MDbxzlQ0BMc2BgTn9N710x44v4rOKf0o"


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


def weakness(password: str, *known: str) -> Message | None:
    """Why a password cannot be taken; nothing where it can.

    Parameters
    ----------
    known : what others know of the account: its address, the names of its user and organisation; their words
        are the first that are guessed
    """
    from zxcvbn import zxcvbn  # its lists of words take a tenth of a second to load

    if not SHORTEST <= len(password) <= LONGEST:
        return say("pages.fault.weak.length", shortest=SHORTEST, longest=LONGEST)
    words = [word for text in known for word in re.split(r"\W+", text) if len(word) > 2]
    joined = [re.sub(r"\W+", "", text) for text in known]
    guessed = zxcvbn(password[:LOOKED_AT], user_inputs=[*known, *words, *joined, *OURS])
    if guessed["guesses"] < GUESSES:
        hint = HINTS.get(guessed["feedback"]["warning"])
        if hint is None:
            return say("pages.fault.weak.guessed")
        return say("pages.fault.weak.because", hint=say(f"pages.fault.weak.hint.{hint}"))
    if is_common(password):
        return say("pages.fault.weak.leaked")
    return None


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
