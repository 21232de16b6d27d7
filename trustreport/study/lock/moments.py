"""Days and times of a manifest: which comes first, as far as they say."""

import calendar
import datetime as dt
import re

Moment = dt.datetime | dt.date


def is_after(one: Moment | None, other: Moment | None) -> bool:
    """Whether a moment lies after another; days only where one of them is a day.

    >>> (
    ...     is_after(dt.date(2026, 2, 2), dt.date(2026, 2, 1)),
    ...     is_after(dt.date(2026, 2, 1), dt.date(2026, 2, 1)),
    ... )
    (True, False)
    """
    if one is None or other is None:
        return False
    if _has_time(one) and _has_time(other):
        return _in_utc(one) > _in_utc(other)
    return day_of(one) > day_of(other)


def day_of(moment: Moment) -> dt.date:
    """The day of a moment."""
    return moment.date() if isinstance(moment, dt.datetime) else moment


def read_moment(text: str | None) -> Moment | None:
    """A date that was typed as free text: YYYY-MM-DD, with a time or not, or YYYY-MM; None where it is none.

    Of a month it is the last day, since nothing says that it was an earlier one.

    >>> read_moment("2026-02"), read_moment("2026-02-10"), read_moment("in spring")
    (datetime.date(2026, 2, 28), datetime.date(2026, 2, 10), None)
    """
    said = (text or "").strip()
    month = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", said)
    if month:
        year, number = int(month[1]), int(month[2])
        return dt.date(year, number, calendar.monthrange(year, number)[1]) if year else None
    try:
        return (
            dt.date.fromisoformat(said) if len(said) == len("2026-02-10") else dt.datetime.fromisoformat(said)
        )
    except ValueError:
        return None


def _has_time(moment: Moment) -> bool:
    """Whether a moment is more than a day; midnight without a zone is how a day is read."""
    return isinstance(moment, dt.datetime) and (moment.time() != dt.time() or moment.tzinfo is not None)


def _in_utc(moment: Moment) -> dt.datetime:
    """A time without a zone is taken as UTC."""
    assert isinstance(moment, dt.datetime)
    return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)
