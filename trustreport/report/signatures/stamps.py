"""Time stamps of RFC 3161: asked for at an authority, and verified with their chain against trust anchors.

What a stamp says is read by `trustreport.study.lock.moments` without further packages; here its signature
is verified.
"""

import urllib.error
import urllib.request
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from trustreport.study.lock.moments import Stamp, stamp

if TYPE_CHECKING:
    from cryptography.x509 import Certificate


GRANTED = bytes.fromhex("3003020100")  # PKIStatusInfo: status 0
SEQUENCE = 0x30
QUERY, REPLY = "application/timestamp-query", "application/timestamp-reply"
SECONDS, MOST_BYTES = 30.0, 1_000_000
Roots = Sequence["Certificate"]


class StampError(ValueError):
    """A time stamp that cannot be had, or is not what it should be; says why."""


def verified_stamp(token: bytes, digest: str, roots: Roots) -> Stamp:
    """A time stamp that is of a hash, and whose authority's certificate leads to a trusted one.

    The certificates have to have been valid at the time that the stamp gives, not now.

    Parameters
    ----------
    token : response or token in DER
    digest : SHA-256 that it has to be of, in hexadecimal
    roots : certificates that are trusted

    Raises
    ------
    StampError : it is of something else, is not signed by its authority, or the authority is not trusted
    ImportError : the packages for signatures are not installed
    """
    from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

    try:
        found = stamp(token)
        response = decode_timestamp_response(as_response(token))
    except ValueError as error:
        raise StampError(str(error)) from error
    if found.algorithm != "sha256" or found.imprint != digest:
        raise StampError(f"it is of {found.imprint or 'something else'}, expected {digest}")
    try:
        # Certificates within the stamp are used as links of the chain only: nothing but the roots is trusted.
        VerifierBuilder(roots=list(roots)).build().verify(response, bytes.fromhex(digest))
    except (VerificationError, ValueError) as error:
        raise StampError(f"its authority is not verified: {error}") from error
    return found


def requested_stamp(address: str, data: bytes) -> bytes:
    """A time stamp of data from an authority, as its response in DER; only the hash is sent.

    Raises
    ------
    StampError : the authority cannot be reached, refuses, or answers something else
    ImportError : the packages for signatures are not installed
    """
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder, decode_timestamp_response

    request = (
        TimestampRequestBuilder()
        .data(data)
        .hash_algorithm(HashAlgorithm.SHA256)
        .nonce(nonce=True)
        .cert_request(cert_request=True)
        .build()
    )
    reply = post(address, request.as_bytes())
    try:
        found, response = stamp(reply), decode_timestamp_response(reply)
    except ValueError as error:
        raise StampError(f"{address}: {error}") from error
    if found.imprint != sha256(data).hexdigest() or response.tst_info.nonce != request.nonce:
        raise StampError(f"{address}: the answer is of another request")
    return reply


def post(address: str, request: bytes) -> bytes:
    """What a time-stamping authority answers to a request in DER.

    Raises
    ------
    StampError : it cannot be reached, or does not answer so
    """
    if not address.startswith(("https://", "http://")):
        raise StampError(f"{address}: expected an address that begins with https:// or http://")
    asked = urllib.request.Request(address, request, {"Content-Type": QUERY})  # noqa: S310 -- looked at above
    try:
        with urllib.request.urlopen(asked, timeout=SECONDS) as answer:  # noqa: S310
            reply: bytes = answer.read(MOST_BYTES + 1)
            kind = answer.headers.get_content_type()
    except (urllib.error.URLError, OSError) as error:
        raise StampError(f"{address}: no answer ({getattr(error, 'reason', error)})") from error
    if kind != REPLY or len(reply) > MOST_BYTES:
        raise StampError(f"{address}: answered {kind}, expected {REPLY}")
    return reply


def as_response(token: bytes) -> bytes:
    """A response in DER, made of a token where it is one alone."""
    body, length = _content(token)
    inner = token[body : body + 1]
    if inner == bytes([SEQUENCE]) or not length:
        return token
    content = GRANTED + token
    size = len(content)
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    head = bytes([size]) if size < 0x80 else bytes([0x80 | len(octets)]) + octets
    return bytes([SEQUENCE]) + head + content


def _content(data: bytes) -> tuple[int, int]:
    """Where the content of the outermost element begins, and how long it is; `stamp` has read it before."""
    if data[1] < 0x80:
        return 2, data[1]
    more = data[1] & 0x7F
    return 2 + more, int.from_bytes(data[2 : 2 + more])


def read_certificates(text: bytes) -> list["Certificate"]:
    """The certificates of a file in PEM, in their order.

    Raises
    ------
    ValueError : no certificate at all, or one that cannot be read
    ImportError : cryptography is not installed
    """
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return load_pem_x509_certificates(text)
    except ValueError as error:
        raise ValueError(f"expected certificates in PEM: {error}") from error
