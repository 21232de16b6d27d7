"""Trust anchors: the certificates that a chain has to end at."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

Roots = Sequence["Certificate"]


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
