"""Names of rows: unguessable, and in the order of their making."""

import secrets
import time

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u
LENGTH = 26
PATTERN = f"^[{ALPHABET}]{{{LENGTH}}}$"


def new_id() -> str:
    """26 characters: 48 bits of milliseconds since 1970, then 80 random bits (a ULID in lower case)."""
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -5, -5))
