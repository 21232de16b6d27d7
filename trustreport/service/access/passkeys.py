"""Passkeys (WebAuthn): registered for the name of this service and of use nowhere else."""

import ipaddress
import json
from typing import Any
from urllib.parse import urlsplit

from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from trustreport.service.settings import Settings
from trustreport.service.storage.models import Factor, User
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

MOST_ANSWER = 20_000  # characters of what a browser sends


def relying_party(settings: Settings) -> str:
    """The name that passkeys are bound to; empty where the service is reached by an IP address."""
    host = urlsplit(settings.url).hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host
    return ""


def registration(settings: Settings, user: User, known: list[Factor]) -> tuple[str, str]:
    """What the browser is asked for a new passkey, as JSON, and the challenge in it."""
    options = generate_registration_options(
        rp_id=_name(settings),
        rp_name="trustreport",
        user_name=user.email,
        user_id=user.id.encode(),
        user_display_name=user.name,
        exclude_credentials=_descriptors(known),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.PREFERRED,
            user_verification=UserVerificationRequirement.PREFERRED,
        ),
    )
    return options_to_json(options), bytes_to_base64url(options.challenge)


def registered(settings: Settings, answer: str, challenge: str) -> tuple[str, str, int]:
    """Id, public key and count of a new passkey; refuses an answer that is not to this question."""
    try:
        found = verify_registration_response(
            credential=_read(answer),
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=_name(settings),
            expected_origin=_origin(settings),
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        raise Fault(422, say("pages.fault.passkey_refused.detail")) from None
    key = bytes_to_base64url(found.credential_public_key)
    return bytes_to_base64url(found.credential_id), key, found.sign_count


def question(settings: Settings, known: list[Factor]) -> tuple[str, str]:
    """What the browser is asked to prove one of these passkeys, as JSON, and the challenge in it."""
    options = generate_authentication_options(
        rp_id=_name(settings),
        allow_credentials=_descriptors(known),
        user_verification=UserVerificationRequirement.PREFERRED,
    )
    return options_to_json(options), bytes_to_base64url(options.challenge)


def proved(settings: Settings, known: list[Factor], answer: str, challenge: str) -> tuple[Factor, int] | None:
    """Which passkey answered, and its new count of signatures; None where the answer proves none of them.

    A count that does not rise (of a passkey that counts) means that there is a copy of it: refused.
    """
    try:
        sent = _read(answer)
        factor = next(f for f in known if f.credential == sent.get("id"))
        found = verify_authentication_response(
            credential=sent,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=_name(settings),
            expected_origin=_origin(settings),
            credential_public_key=base64url_to_bytes(factor.secret),
            credential_current_sign_count=factor.counter,
        )
    except (StopIteration, WebAuthnException, ValueError, KeyError, TypeError):
        return None
    return factor, found.new_sign_count


def _read(answer: str) -> dict[str, Any]:
    read = json.loads(answer) if len(answer) <= MOST_ANSWER else None
    if not isinstance(read, dict):
        raise ValueError("not an object")
    return read


def _descriptors(known: list[Factor]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(f.credential or "")) for f in known]


def _origin(settings: Settings) -> str:
    parts = urlsplit(settings.url)
    return f"{parts.scheme}://{parts.netloc}"


def _name(settings: Settings) -> str:
    name = relying_party(settings)
    if not name:
        raise Fault(409, say("pages.fault.no_passkeys_here.detail"))
    return name
