"""Signatures within a PDF (PAdES B-B, with a time stamp B-T), by pyHanko.

A signed PDF is a copy: the signature is appended, so that the bytes before it stay those of the report.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

from trustreport.report.signatures.stamps import Roots, post

if TYPE_CHECKING:
    from pyhanko.sign.signers import SimpleSigner
    from pyhanko.sign.timestamps import TimeStamper

DIGEST = "sha512"  # Ed25519 takes no other
FIELD = "Signature"
USES = frozenset(("digital_signature", "non_repudiation"))  # a certificate has to allow one of them


@dataclass(frozen=True, slots=True)
class PdfSignature:
    """What a signature within a PDF is worth.

    `intact`: the signed bytes are as they were signed, and the signature is of them. `whole`: nothing was
    added after it. `trusted` is None where no roots were given. `stamped` is the time of a time
    stamp, `stamp_trusted` whether its authority leads to a root.
    """

    signer: str
    intact: bool
    whole: bool
    trusted: bool | None
    stamped: datetime | None
    stamp_trusted: bool | None
    reason: str


def signed_pdf(
    pdf: bytes, key: bytes, certificates: bytes, *, reason: str, name: str, stamp_address: str = ""
) -> bytes:
    """A copy of a PDF with a signature of the whole of it.

    Parameters
    ----------
    key : private key in PEM, not encrypted
    certificates : that of the key in PEM, then those between it and the root
    stamp_address : a time-stamping authority; none is asked where it is empty

    Raises
    ------
    ValueError : key and certificate do not belong together, or one of them or the PDF cannot be read
    ImportError : the packages for signatures are not installed
    """
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
    from pyhanko.pdf_utils.misc import PdfError
    from pyhanko.sign import signers
    from pyhanko.sign.fields import InvisSigSettings, SigFieldSpec, SigSeedSubFilter

    class UnchangedMetadata(IncrementalPdfFileWriter):
        """Leaves the metadata as they are: written anew they would lose what PDF/A asks for."""

        def _update_meta(self) -> None:
            pass

    # No box: what is not on the page needs no tag, and the field has a name for those who hear it.
    field = SigFieldSpec(
        FIELD,
        readable_field_name=f"{FIELD}: {name}",
        invis_sig_settings=InvisSigSettings(box_out_of_bounds=True),
    )
    about = signers.PdfSignatureMetadata(
        field_name=FIELD, md_algorithm=DIGEST, reason=reason, name=name, subfilter=SigSeedSubFilter.PADES
    )
    signer = _signer(key, certificates)
    try:
        signed = _in_a_thread(
            signers.sign_pdf,
            UnchangedMetadata(BytesIO(pdf)),
            about,
            new_field_spec=field,
            signer=signer,
            timestamper=_stamper(stamp_address) if stamp_address else None,
        )
    except PdfError as error:
        raise ValueError(f"the PDF cannot be signed: {error}") from error
    return bytes(signed.getbuffer())


def signatures_of(pdf: bytes, roots: Roots | None = None) -> Iterator[PdfSignature]:
    """The signatures within a PDF, the first one first.

    Parameters
    ----------
    roots : certificates that are trusted; None where nobody gave any

    Raises
    ------
    ValueError : this is no PDF that can be read, or a signature in it cannot
    ImportError : the packages for signatures are not installed
    """
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.sign.validation import validate_pdf_signature

    # It prints a traceback for each chain that leads nowhere, which is said in what is returned.
    logging.getLogger("pyhanko.sign.validation").setLevel(logging.CRITICAL)
    context = _context(roots or ())
    try:
        for one in PdfFileReader(BytesIO(pdf)).embedded_regular_signatures:
            # What was added later is not interpreted, which may take minutes: any addition is one.
            status = _in_a_thread(
                validate_pdf_signature, one, context, key_usage_settings=_usage(), skip_diff=True
            )
            yield _described(status, one.sig_object.get("/Reason", ""), given=roots is not None)
    except ImportError:
        raise
    except Exception as error:  # a damaged PDF makes pyHanko and zlib raise whatever there is
        raise ValueError(f"it is damaged, or has a signature that cannot be read: {error}") from error


def _in_a_thread(work: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Do it in a thread of its own: pyHanko starts an event loop, and a notebook has one that runs."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, *given, **named).result()


def _described(status: Any, reason: Any, *, given: bool) -> PdfSignature:
    from pyhanko.sign.validation.status import SignatureCoverageLevel

    stamp = status.timestamp_validity
    return PdfSignature(
        signer=status.signing_cert.subject.human_friendly,
        intact=bool(status.intact and status.valid),
        whole=status.coverage == SignatureCoverageLevel.ENTIRE_FILE,
        trusted=bool(status.trusted) if given else None,
        stamped=stamp.timestamp if stamp else None,
        stamp_trusted=(bool(stamp.intact and stamp.valid and stamp.trusted) if given else None)
        if stamp
        else None,
        reason=str(reason),
    )


def _signer(key: bytes, certificates: bytes) -> "SimpleSigner":
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )
    from pyhanko.keys import load_private_key_from_pemder_data
    from pyhanko.sign.signers import SimpleSigner
    from pyhanko_certvalidator.registry import SimpleCertificateStore

    from trustreport.report.signatures.stamps import read_certificates

    own, *_ = read_certificates(certificates)
    try:
        private = load_pem_private_key(key, None)
    except (TypeError, ValueError) as error:
        raise ValueError(f"expected a private key in PEM, not encrypted: {error}") from error
    if private.public_key() != own.public_key():
        raise ValueError("the first certificate is not that of the key")
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain = [_as_asn1(one) for one in read_certificates(certificates)]
    return SimpleSigner(
        signing_cert=chain[0],
        signing_key=load_private_key_from_pemder_data(pem, None),
        cert_registry=SimpleCertificateStore.from_certs(chain),
    )


def _as_asn1(certificate: Any) -> Any:
    from asn1crypto.x509 import Certificate
    from cryptography.hazmat.primitives.serialization import Encoding

    return Certificate.load(certificate.public_bytes(Encoding.DER))


def _context(roots: Roots) -> Any:
    from pyhanko_certvalidator import ValidationContext

    return ValidationContext(trust_roots=[_as_asn1(one) for one in roots], allow_fetching=False)


def _usage() -> Any:
    from pyhanko.sign.validation.settings import KeyUsageConstraints

    return KeyUsageConstraints(key_usage=set(USES), match_all_key_usages=False)


def _stamper(address: str) -> "TimeStamper":
    """pyHanko's view of an authority that is asked as for any other stamp."""
    from asn1crypto import tsp
    from pyhanko.sign.timestamps import TimeStamper

    class RequestedStamps(TimeStamper):
        async def async_request_tsa_response(self, req: Any) -> Any:
            return tsp.TimeStampResp.load(post(address, req.dump()))

    return RequestedStamps()
