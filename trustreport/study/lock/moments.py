"""Days and times: those of a manifest, which comes first, and what a time stamp of RFC 3161 says.

Every report of a locked study reads its time stamp, so that needs no further package. The signature of the
authority is not checked here: that needs certificates that somebody trusts, and
`trustreport.report.signatures.stamps` does it.
"""

import calendar
import datetime as dt
import re
from dataclasses import dataclass

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


SEQUENCE, INTEGER, OCTETS, OID, TIME = 0x30, 0x02, 0x04, 0x06, 0x18
EXPLICIT = 0xA0
SIGNED_DATA = bytes.fromhex("2a864886f70d010702")  # 1.2.840.113549.1.7.2
TST_INFO = bytes.fromhex("2a864886f70d0109100104")  # 1.2.840.113549.1.9.16.1.4
SHA256 = bytes.fromhex("608648016503040201")  # 2.16.840.1.101.3.4.2.1


@dataclass(frozen=True, slots=True)
class Stamp:
    """The hash that was stamped, in hexadecimal, its algorithm ("sha256" or ""), and the time."""

    imprint: str
    algorithm: str
    time: dt.datetime


def stamp(token: bytes) -> Stamp:
    """Read a time stamp response, or the token within one, in DER.

    Raises
    ------
    ValueError : this is no time stamp, or a refusal of one

    References
    ----------
    RFC 3161, sections 2.4.2 (response, TSTInfo); RFC 5652, sections 5.1 and 5.2 (SignedData).
    """
    try:
        info = _info(_children(_whole(token)))
        _, _, imprint, _, time = (info[i] for i in range(5))
        (_, algorithm), (_, digest) = _children(_content(imprint, SEQUENCE))[:2]
        name = "sha256" if _content(_children(algorithm)[0], OID) == SHA256 else ""
        return Stamp(digest.hex(), name, _generalized_time(_content(time, TIME)))
    except (IndexError, ValueError) as error:
        raise ValueError("this is no time stamp of RFC 3161 in DER, or a refusal of one") from error


def _info(outer: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The fields of TSTInfo, from a response (status, token) or a token (type, content)."""
    if outer[0][0] == SEQUENCE:  # a response begins with its status
        outer = _children(_content(outer[1], SEQUENCE))
    if _content(outer[0], OID) != SIGNED_DATA:
        raise ValueError("no signed data")
    signed = _children(_content(_children(_content(outer[1], EXPLICIT))[0], SEQUENCE))
    content = _children(_content(signed[2], SEQUENCE))
    if _content(content[0], OID) != TST_INFO:
        raise ValueError("no time stamp")
    octets = _content(_children(_content(content[1], EXPLICIT))[0], OCTETS)
    return _children(_whole(octets))


def _content(element: tuple[int, bytes], tag: int) -> bytes:
    if element[0] != tag:
        raise ValueError(f"tag {element[0]:#x} in place of {tag:#x}")
    return element[1]


def _whole(data: bytes) -> bytes:
    (only,) = _children(data)
    return _content(only, SEQUENCE)


def _children(data: bytes) -> list[tuple[int, bytes]]:
    """The elements that follow each other in DER: tag and content of each."""
    found, at = [], 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1], at + 2
        if length >= 0x80:
            more = length & 0x7F
            if not 1 <= more <= 4:
                raise ValueError("a length that DER does not have")
            length, at = int.from_bytes(data[at : at + more]), at + more
        if at + length > len(data):
            raise ValueError("cut off")
        found.append((tag, data[at : at + length]))
        at += length
    return found


def _generalized_time(text: bytes) -> dt.datetime:
    """GeneralizedTime in UTC, fractions of a second left out."""
    said = text.decode("ascii").removesuffix("Z").partition(".")[0]
    return dt.datetime.strptime(said, "%Y%m%d%H%M%S").replace(tzinfo=dt.UTC)
