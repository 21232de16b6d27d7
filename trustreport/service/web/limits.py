"""How often somebody may ask, and how often a password may be wrong (moving windows, in this process)."""

import math
import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from trustreport.service.settings import Settings
from trustreport.service.web.faults import Fault


class Throttle:
    """Counts what each account, token and address does; refuses with 429 and the seconds to wait."""

    def __init__(self, settings: Settings) -> None:
        self._windows = MovingWindowRateLimiter(MemoryStorage())
        self._requests = RateLimitItemPerMinute(settings.requests_a_minute, namespace="requests")
        self._logins = RateLimitItemPerMinute(settings.logins_a_minute, namespace="logins")

    def request(self, whose: str) -> None:
        """Count a request."""
        if not self._windows.hit(self._requests, whose):
            self._refuse(self._requests, whose, "Too many requests")

    def may_log_in(self, *whose: str) -> None:
        """Refuse where too many passwords were wrong lately."""
        for name in whose:
            if not self._windows.test(self._logins, name):
                self._refuse(self._logins, name, "Too many failed logins")

    def failed_login(self, *whose: str) -> None:
        """Count a wrong password."""
        for name in whose:
            self._windows.hit(self._logins, name)

    def _refuse(self, item: RateLimitItemPerMinute, name: str, title: str) -> None:
        reset = self._windows.get_window_stats(item, name).reset_time
        wait = max(1, math.ceil(reset - time.time()))
        raise Fault(429, title, f"Try again in {wait} seconds.", headers={"Retry-After": str(wait)})
