"""Passwords, secrets and keys: made, hashed, compared, sealed."""

import base64
import hashlib
import hmac
import os
import re
import secrets
import threading
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from trustreport.service.engine import Signer
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import Message, say

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


NONCE = 12


def seal(signer: Signer, text: str, owner: str) -> str:
    """Encrypt a text; it opens for this owner alone."""
    nonce = os.urandom(NONCE)
    return base64.b64encode(nonce + _cipher(signer).encrypt(nonce, text.encode(), owner.encode())).decode()


def unseal(signer: Signer, kept: str, owner: str) -> str:
    """The text that was encrypted for an owner.

    Raises
    ------
    cryptography.exceptions.InvalidTag : it was encrypted for somebody else, with another key, or was changed
    """
    raw = base64.b64decode(kept)
    return _cipher(signer).decrypt(raw[:NONCE], raw[NONCE:], owner.encode()).decode()


def session_key(signer: Signer, session: str) -> bytes:
    """A secret of one session, the same as long as it lasts, whatever its cookie is."""
    return _derived(signer, f"trustreport session {session}")


def _cipher(signer: Signer) -> AESGCM:
    return AESGCM(_derived(signer, "trustreport second factors"))


def _derived(signer: Signer, purpose: str) -> bytes:
    return HKDF(SHA256(), 32, None, purpose.encode()).derive(signer.key.private_bytes_raw())


SHORTEST, LONGEST = 12, 256
LOOKED_AT = 72  # characters that are tried against words and patterns, which takes longer the more there are
GUESSES = 1e8  # fewer (score 2 or less of zxcvbn) are few for whoever has stolen a hash
LONG_WORD = 16  # letters in a row from which on they are more than a word
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
        raise Fault(503, say("pages.fault.busy.many_people_log"), headers={"Retry-After": "2"})
    try:
        with _slots:
            yield
    finally:
        _room.release()


def is_outdated(kept: str) -> bool:
    """Whether a hash was made with weaker parameters than today's."""
    return _hasher.check_needs_rehash(kept)


def is_word_with_end(password: str) -> bool:
    """Whether a password is one word, in any language, with no more than digits and signs around it.

    >>> [is_word_with_end(text) for text in ("Sommer2026!!", "correcthorsebattery", "tQxh7kPw3vRm")]
    [True, False, False]
    """
    core = password.strip("".join({sign for sign in password if not sign.isalpha()}))
    is_cased = core.islower() or core.isupper() or core[1:].islower()
    return core.isalpha() and is_cased and len(core) < LONG_WORD and len(password) < 2 * LONG_WORD


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
    if is_word_with_end(password):
        return say("pages.fault.weak.because", hint=say("pages.fault.weak.hint.ending"))
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
