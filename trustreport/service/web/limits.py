"""How often somebody may ask, and how often a password may be wrong ."""

import math
import time
from collections.abc import Callable, Mapping

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from trustreport.service.settings import Settings
from trustreport.service.storage.counters import SharedCounters
from trustreport.service.storage.store import Store
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import Message, say

MINUTE = 60


class Throttle:
    """Counts what each account, token and address does; refuses with 429 and the seconds to wait.

    On PostgreSQL all servers count together, on SQLite each by itself: its one writer at a time would have to
    wait for every request.
    """

    def __init__(self, settings: Settings, store: Store) -> None:
        self._storage = MemoryStorage() if store.is_sqlite else SharedCounters(store)
        self._windows = SlidingWindowCounterRateLimiter(self._storage)
        self._requests = RateLimitItemPerMinute(settings.requests_a_minute, namespace="requests")
        self._logins = settings.logins_a_minute
        self._seldom = RateLimitItemPerMinute(settings.logins_a_minute, namespace="seldom")

    def request(self, whose: str) -> None:
        """Count a request."""
        if not self._windows.hit(self._requests, whose):
            reset = self._windows.get_window_stats(self._requests, whose).reset_time
            raise _refusal(say("pages.fault.too_many.requests"), reset)

    def seldom(self, whose: str) -> None:
        """Count what is done seldom: as often in a minute as a password may be wrong."""
        if not self._windows.hit(self._seldom, whose):
            reset = self._windows.get_window_stats(self._seldom, whose).reset_time
            raise _refusal(say("pages.fault.too_many.requests"), reset)

    def begin_login(self, counters: Mapping[str, int], *, seconds: int = MINUTE) -> Callable[[], None]:
        """Count a password in each counter before it is tried; what to call once it was right.

        Parameters
        ----------
        counters : names, each with how many times `Settings.logins_a_minute` may be wrong there
        seconds : the time in which so many may be wrong

        Raises
        ------
        Fault : too many were wrong lately, or are being tried (429)
        """
        counted: list[str] = []

        def give_back() -> None:
            for name in counted:
                self._storage.decr(name)

        for name, times in counters.items():
            key = f"logins {name}"
            counted.append(key)
            if self._storage.incr(key, seconds) > self._logins * times:
                reset = self._storage.get_expiry(key)
                give_back()
                raise _refusal(say("pages.fault.too_many.logins"), reset)
        return give_back


def _refusal(title: Message, reset: float) -> Fault:
    wait = max(1, math.ceil(reset - time.time()))
    return Fault(
        429, say("pages.fault.too_many.detail", wait=wait), headers={"Retry-After": str(wait)}, title=title
    )
