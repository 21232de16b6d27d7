"""Numbers by which a device and its manufacturer are registered: their form, and their check digits.

Of the issuing entities GS1, HIBCC, IFA and ICCBBA; what has a space in it is a sentence, such as "not yet
assigned", and no number.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from trustreport.study.plan import Plan

# The characters of a GS1 key in the order of their values, and those of a pair of check characters.
KEY = "!\"%&'()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
CHECK = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
GTIN = re.compile(r"\d{8}|\d{12,14}")
HIBC = re.compile(r"\+[A-Z][A-Z0-9]{3}[A-Z0-9]{1,18}\d([A-Z0-9\-. $/+%])?")
PPN = re.compile(r"(PPN?)?\d{2}[A-Z0-9]{2,18}\d{2}")
ICCBBA = re.compile(r"(=/)?[A-Z][A-Z0-9]{4}[A-Z0-9]{3,11}")
GMN = re.compile(r"\d{5}.{1,18}..")
BASIC_HIBC = re.compile(r"\+\+[A-Z][A-Z0-9]{3}[A-Z0-9]{1,17}[2-9A-HJ-NP-Z]{2}")
BASIC_IFA = re.compile(r"PP\d{5}[A-Z0-9.]+\d{2}")
BASIC_ICCBBA = re.compile(r"[A-Z][A-Z0-9]{4}[A-Z0-9]{1,16}")
SRN = re.compile(r"[A-Z]{2}-(MF|AR|IM|PR)-\d{9}")


def is_gtin(code: str) -> bool:
    """Whether digits are a GTIN: their last one is the check digit of the others, modulo 10.

    >>> is_gtin("4006381333931"), is_gtin("4006381333932")
    (True, False)
    """
    weighted = (int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(reversed(code)))
    return bool(GTIN.fullmatch(code)) and sum(weighted) % 10 == 0


def check_pair(key: str) -> str:
    """The two check characters of a Global Model Number, modulo 1021 (GS1 General Specifications, 7.9.5).

    >>> check_pair("1987654Ad4X4bL5ttr2310c")
    '2K'
    """
    total = sum(weight * KEY.index(letter) for weight, letter in zip(PRIMES, reversed(key))) % 1021
    return CHECK[total // 32] + CHECK[total % 32]


def is_udi_di(code: str) -> bool:
    """Whether it is a UDI-DI: a GTIN, or of the form of HIBCC, IFA or ICCBBA."""
    if code.isdigit():
        return is_gtin(code)
    return any(form.fullmatch(code) for form in (HIBC, PPN, ICCBBA))


def is_basic_udi_di(code: str) -> bool:
    """Whether it is a Basic UDI-DI: of GS1, HIBCC or IFA with check characters, or of the form of ICCBBA."""
    if BASIC_IFA.fullmatch(code):
        return sum(i * ord(letter) for i, letter in enumerate(code[:-2], 2)) % 97 == int(code[-2:])
    if BASIC_HIBC.fullmatch(code) or GMN.fullmatch(code):
        return set(code) <= set(KEY) and check_pair(code[:-2]) == code[-2:]
    return bool(BASIC_ICCBBA.fullmatch(code))


KNOWN: Mapping[str, Callable[[str], object]] = {
    "udi_di": is_udi_di,
    "basic_udi_di": is_basic_udi_di,
    "srn": SRN.fullmatch,
}


def doubtful_codes(plan: Plan) -> Iterator[tuple[str, str]]:
    """Fields of the device that hold what is no number of their kind, with what they hold."""
    for field, is_known in KNOWN.items():
        code = (getattr(plan.device, field) or "").strip()
        if code and not re.search(r"\s", code) and not is_known(code):
            yield field, code
