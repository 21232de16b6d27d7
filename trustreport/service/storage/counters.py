"""Counters of what is asked for, shared by every server of one PostgreSQL database.

Their table is not written to the log of the database (UNLOGGED), so that counting waits for no disk; after a
crash of the database it is empty, and all counting begins anew.
"""

import time
from hashlib import sha256
from math import floor
from typing import Any

from limits.storage.base import SlidingWindowCounterSupport, Storage, TimestampedSlidingWindow
from sqlalchemy import DDL, case, delete, event, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as Rows

from trustreport.service.storage.models import SHA, Base
from trustreport.service.storage.store import Store, now


class Counter(Base):
    """How often something was counted in a time window, for all servers together."""

    __tablename__ = "counters"
    name: Mapped[str] = mapped_column(SHA, primary_key=True)  # of what is counted, which may hold an address
    count: Mapped[int]
    expires_at: Mapped[int]


UNLOGGED = DDL("ALTER TABLE counters SET UNLOGGED").execute_if(dialect="postgresql")
event.listen(Counter.__table__, "after_create", UNLOGGED)


class SharedCounters(Storage, SlidingWindowCounterSupport, TimestampedSlidingWindow):
    """Where `limits` counts, in place of its `MemoryStorage`; by the database's clock."""

    STORAGE_SCHEME = ("trustreport",)  # type: ignore[assignment]  # by which `limits` lists its kinds

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store

    @property
    def base_exceptions(self) -> type[Exception]:
        """None of ours are wrapped: a database that is away is answered as everywhere."""
        return ValueError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Count; the counter begins with its first entry and ends `expiry` seconds later."""
        with self._store.write() as rows:
            return _add(rows, key, expiry, amount, now(rows))

    def decr(self, key: str, amount: int = 1) -> None:
        """Take back what was counted."""
        with self._store.write() as rows:
            left = func.greatest(Counter.count - amount, 0)
            rows.execute(update(Counter).where(Counter.name == _name(key)).values(count=left))

    def get(self, key: str) -> int:
        """How many were counted."""
        with self._store.read() as rows:
            return _count(rows, key, now(rows))

    def get_expiry(self, key: str) -> float:
        """When a counter ends, in seconds since 1970 by the clock of this process."""
        with self._store.read() as rows:
            ends = rows.scalar(select(Counter.expires_at).where(Counter.name == _name(key)))
            return time.time() + max(0, (ends or 0) - now(rows)) / 1000

    def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count, unless it is more than `limit` in the last `expiry` seconds."""
        with self._store.write() as rows:
            at = now(rows)
            before, this = self.sliding_window_keys(key, expiry, at / 1000)
            # Whoever counts the same waits here, so that no two take the last place.
            count = _add(rows, this, 2 * expiry, amount, at)
            weighted = _count(rows, before, at) * _left(at, expiry) / expiry + count
            if floor(weighted) <= limit:
                return True
            rows.rollback()
            return False

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """Count of the window before and its seconds that still count; those of this window."""
        with self._store.read() as rows:
            at = now(rows)
            before, this = self.sliding_window_keys(key, expiry, at / 1000)
            left = _left(at, expiry)
            return _count(rows, before, at), left, _count(rows, this, at), left + expiry

    def clear(self, key: str) -> None:
        """Forget a counter."""
        self._forget(key)

    def clear_sliding_window(self, key: str, expiry: int) -> None:
        """Forget the windows of a counter."""
        with self._store.read() as rows:
            at = now(rows)
        self._forget(*self.sliding_window_keys(key, expiry, at / 1000))

    def check(self) -> bool:
        """Whether the database answers."""
        with self._store.read() as rows:
            return now(rows) > 0

    def reset(self) -> int | None:
        """Forget every counter."""
        with self._store.write() as rows:
            rows.execute(delete(Counter))
        return None

    def _forget(self, *keys: str) -> None:
        with self._store.write() as rows:
            rows.execute(delete(Counter).where(Counter.name.in_([_name(key) for key in keys])))


def remove_expired(rows: Rows) -> None:
    """Remove counters that have ended; those that another worker removes at this moment are left to it."""
    ended = select(Counter.name).where(Counter.expires_at < now(rows))
    rows.execute(delete(Counter).where(Counter.name.in_(ended.with_for_update(skip_locked=True))))


def _add(rows: Rows, key: str, expiry: float, amount: int, at: int) -> int:
    goes_on = Counter.expires_at > at
    values: dict[str, Any] = {"count": amount, "expires_at": at + round(expiry * 1000)}
    added = insert(Counter).values(name=_name(key), **values)
    query = added.on_conflict_do_update(
        index_elements=[Counter.name],
        set_={
            "count": case((goes_on, Counter.count + amount), else_=amount),
            "expires_at": case((goes_on, Counter.expires_at), else_=values["expires_at"]),
        },
    )
    return rows.execute(query.returning(Counter.count)).scalar_one()


def _count(rows: Rows, key: str, at: int) -> int:
    query = select(Counter.count).where(Counter.name == _name(key), Counter.expires_at > at)
    return rows.scalar(query) or 0


def _left(at: int, expiry: int) -> float:
    """Seconds until this window ends, for which the one before still counts in part."""
    return expiry - at / 1000 % expiry


def _name(key: str) -> str:
    return sha256(key.encode()).hexdigest()
