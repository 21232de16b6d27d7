"""Browsers that somebody has logged in with, and whose wrong passwords are counted with whose."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access import secrets
from trustreport.service.storage.models import KnownBrowser, User
from trustreport.service.storage.store import now

# The first that is found counts: most browsers also name those they descend from.
PROGRAMS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def in_words(agent: str) -> str:
    """``Firefox on Windows``, for instance; what is not known is left out, all of it where nothing is."""
    program = next((name for mark, name in PROGRAMS if mark in agent), "")
    system = next((name for mark, name in SYSTEMS if mark in agent), "")
    return " on ".join(filter(None, (program, system)))


COOKIE = "__Host-trustreport-browser"
KNOWN_DAYS = 180
DAY = 86_400_000
WIDE = 10  # guesses at an account from anywhere, or from an address at any account, in multiples of one's own


def remember(rows: Rows, user: User, secret: str) -> str:
    """Note that a user logged in with a browser; the secret for its cookie, new unless it is known."""
    at = now(rows)
    rows.execute(delete(KnownBrowser).where(KnownBrowser.expires_at < at))
    if not is_known(rows, secret):
        secret = secrets.new_secret()
    row = KnownBrowser(hash=secrets.fingerprint(secret), user=user.id, expires_at=at + KNOWN_DAYS * DAY)
    rows.merge(row)
    return secret


def forget(rows: Rows, user: User) -> None:
    """Forget every browser of a user."""
    rows.execute(delete(KnownBrowser).where(KnownBrowser.user == user.id))


def is_known(rows: Rows, secret: str, user: str | None = None) -> bool:
    """Whether somebody, or this user, has logged in with a browser lately."""
    if not secret:
        return False
    query = select(KnownBrowser.user).where(
        KnownBrowser.hash == secrets.fingerprint(secret), KnownBrowser.expires_at >= now(rows)
    )
    if user is not None:
        query = query.where(KnownBrowser.user == user)
    return rows.scalar(query.limit(1)) is not None


def counters(rows: Rows, user: User | None, email: str, browser: str, address: str) -> dict[str, int]:
    """Where a login is counted, with how many times the limit is the most there.

    A browser that the user has logged in with has a counter of its own, so that nobody else's guesses lock
    its owner out. Any other shares those of its account at its address, of its account, of its address.
    """
    if user is not None and is_known(rows, browser, user.id):
        return {f"browser {secrets.fingerprint(browser)} {email}": 1}
    return {f"account {email} at {address}": 1, f"account {email}": WIDE, f"address {address}": WIDE}
