"""First and last days of the periods of an audit: those after a period, and those that a name says."""

import calendar
import datetime as dt
import re

# How a period is named at the end of a name: by a month, a quarter or a year.
ENDS = re.compile(r"(?<!\d)((?:19|20)\d{2})(?:-(?P<month>0[1-9]|1[0-2])|(?P<dash>-?)Q(?P<quarter>[1-4]))?$")


def days_after(start: dt.date | None, end: dt.date | None) -> tuple[dt.date | None, dt.date | None]:
    """First and last day of a period that is as long as the one before; whole months stay whole months.

    >>> [str(day) for day in days_after(dt.date(2026, 1, 1), dt.date(2026, 3, 31))]
    ['2026-04-01', '2026-06-30']
    """
    if end is None:
        return None, None
    since = end + dt.timedelta(days=1)
    if start is None or start > end:
        return since, None
    if start.day == 1 and since.day == 1:
        return since, _last_day(since, (since.year - start.year) * 12 + since.month - start.month)
    return since, end + (since - start)


def days_of(name: str) -> tuple[dt.date | None, dt.date | None]:
    """First and last day of a period whose name ends with a month, a quarter or a year.

    >>> [str(day) for day in days_of("export-2026-Q3")]
    ['2026-07-01', '2026-09-30']
    """
    found = ENDS.search(name)
    if not found:
        return None, None
    year, quarter, month = int(found[1]), found["quarter"], found["month"]
    first = dt.date(year, int(month or 3 * int(quarter or 1) - 2), 1)
    return first, _last_day(first, 1 if month else 3 if quarter else 12)


def _last_day(first: dt.date, months: int) -> dt.date:
    year, month = divmod(first.year * 12 + first.month - 1 + months - 1, 12)
    return dt.date(year, month + 1, calendar.monthrange(year, month + 1)[1])
