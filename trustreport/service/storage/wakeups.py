"""Waking the threads that wait for work: by NOTIFY on PostgreSQL, by looking every second on SQLite.

A row that waits is announced in its own transaction, so PostgreSQL delivers the notification when the row is
there, and never without it. It only says when to look: whose the work is, the lease of the row says. What no
notification announces (a lease that ends, a second attempt to send, one that was lost with its connection)
is found by looking from time to time.
"""

import threading
from collections import Counter
from typing import Any, Literal

from sqlalchemy import text
from sqlalchemy.orm import Session as Rows

from trustreport.service.log import log, place_of
from trustreport.service.storage.store import Store

Channel = Literal["jobs", "outgoing"]
CHANNELS: tuple[Channel, ...] = ("jobs", "outgoing")
PREFIX = "trustreport_"
AGAIN_SECONDS = 1.0  # until a lost connection is made anew, and between two looks until then
STOP_SECONDS = 0.2  # how soon the listener hears that it should stop


def announce(rows: Rows, channel: Channel) -> None:
    """Wake those who wait for such rows, once this transaction is kept; nothing on SQLite."""
    if rows.get_bind().dialect.name == "postgresql":
        rows.execute(text("SELECT pg_notify(:channel, '')"), {"channel": PREFIX + channel})


class Wakeups:
    """Lets threads wait until there may be work; one thread listens for all of a process.

    Parameters
    ----------
    stop : nobody waits once it is set and `ring` was called
    seldom : seconds between two looks at the database while notifications arrive
    """

    def __init__(self, store: Store, stop: threading.Event, seldom: float) -> None:
        self._store, self._stop = store, stop
        self._seldom = max(seldom, AGAIN_SECONDS)
        self._rung: Counter[str] = Counter()
        self._bell = threading.Condition()
        self._listens = False

    def count(self, channel: Channel) -> int:
        """How often there was a notification: asked before looking for work, then given to `wait`."""
        with self._bell:
            return self._rung[channel]

    def wait(self, channel: Channel, count: int, unheard: float) -> None:
        """Wait for a notification after `count`, or until it is time to look all the same.

        Parameters
        ----------
        unheard : seconds after which to look while no notification can arrive
        """
        with self._bell:
            if self._rung[channel] == count and not self._stop.is_set():
                self._bell.wait(self._seldom if self._listens else unheard)

    def ring(self, *channels: Channel) -> None:
        """Wake those who wait; without channels everybody."""
        with self._bell:
            self._rung.update(channels or CHANNELS)
            self._bell.notify_all()

    def listen(self) -> None:
        """Pass notifications on until the stop; connects anew where the connection is lost."""
        while not self._stop.is_set():
            try:
                self._listen()
            except Exception as error:  # the database may be away for a while
                log().warning("listener", error=place_of(error))
            finally:
                self._set_listening(False)
            self._stop.wait(AGAIN_SECONDS)

    def _listen(self) -> None:
        with self._store.engine.connect() as connection:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            try:
                for channel in CHANNELS:
                    connection.execute(text(f"LISTEN {PREFIX}{channel}"))
                self._set_listening(True)
                self.ring()  # what was announced before
                driver: Any = connection.connection.driver_connection
                while not self._stop.is_set():
                    for heard in driver.notifies(timeout=STOP_SECONDS, stop_after=1):
                        self.ring(heard.channel.removeprefix(PREFIX))
            finally:
                connection.invalidate()  # it listens: nobody else may have it

    def _set_listening(self, listens: bool) -> None:
        with self._bell:
            self._listens = listens
