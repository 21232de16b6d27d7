"""The identity provider (OpenID Connect): authorization code with PKCE, every answer checked."""

import secrets as random
import threading
import time
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from trustreport.service.roles import Role
from trustreport.service.settings import LOOPBACK, Settings, Unsuitable
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

SHAPE = "expected entries such as - {group: radiology, organisation: Hospital, roles: [viewer]}"


@dataclass(frozen=True, slots=True)
class GroupRoles:
    """Members of a group of the provider have these roles in this organisation."""

    group: str
    organisation: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Where the provider is, how this service is known there, and what its groups mean here."""

    issuer: str
    client_id: str
    client_secret: str
    scopes: str
    groups_claim: str
    mapping: tuple[GroupRoles, ...]
    name: str
    callback: str

    def roles_of(self, groups: tuple[str, ...]) -> dict[str, list[str]]:
        """Roles by organisation of a member of these groups."""
        found: dict[str, set[str]] = {}
        for entry in self.mapping:
            if entry.group in groups:
                found.setdefault(entry.organisation, set()).update(entry.roles)
        return {organisation: sorted(roles) for organisation, roles in found.items()}


def provider_settings(settings: Settings) -> ProviderSettings | None:
    """The provider's part of the settings; None where no issuer is named.

    Raises
    ------
    Unsuitable : everything that is wrong, in one message
    """
    given = {name: getattr(settings, name) for name in ("oidc_client_id", "oidc_client_secret", "oidc_roles")}
    if not settings.oidc_issuer:
        if named := [f"TRUSTREPORT_{name.upper()}" for name, value in given.items() if value]:
            raise Unsuitable(f"{', '.join(named)}: set, but TRUSTREPORT_OIDC_ISSUER is not.")
        return None
    faults: list[str] = []
    if not is_safe(settings.oidc_issuer):
        faults.append(f"TRUSTREPORT_OIDC_ISSUER={settings.oidc_issuer!r}: expected an https:// address")
    if not settings.oidc_client_id:
        faults.append("TRUSTREPORT_OIDC_CLIENT_ID is missing: expected the name of this service there")
    if "openid" not in settings.oidc_scopes.split():
        faults.append(f"TRUSTREPORT_OIDC_SCOPES={settings.oidc_scopes!r}: expected openid among them")
    mapping = _mapping(settings.oidc_roles, faults)
    if faults:
        raise Unsuitable("; ".join(faults))
    return ProviderSettings(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret,
        scopes=settings.oidc_scopes,
        groups_claim=settings.oidc_groups,
        mapping=mapping,
        name=settings.oidc_name or (urlsplit(settings.oidc_issuer).hostname or ""),
        callback=f"{settings.url}/sign-in/provider/callback",
    )


def is_safe(address: str) -> bool:
    """Whether what is sent there stays secret: HTTPS, or this machine."""
    try:
        parts = urlsplit(address)
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    except ValueError:
        return False


def _mapping(text: str, faults: list[str]) -> tuple[GroupRoles, ...]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        read = YAML(typ="safe", pure=True).load(text) if text.strip() else []
    except YAMLError:
        read = None
    if not isinstance(read, list):
        faults.append(f"TRUSTREPORT_OIDC_ROLES: found no list; {SHAPE}")
        return ()
    return tuple(entry for i, raw in enumerate(read, 1) if (entry := _entry(i, raw, faults)))


def _entry(number: int, raw: Any, faults: list[str]) -> GroupRoles | None:
    where = f"TRUSTREPORT_OIDC_ROLES, entry {number}"
    if not isinstance(raw, dict) or set(raw) != {"group", "organisation", "roles"}:
        faults.append(f"{where}: {SHAPE}")
        return None
    roles, known = raw["roles"], get_args(Role)
    if not isinstance(roles, list) or not roles or not set(map(str, roles)) <= set(known):
        faults.append(f"{where}: found roles {roles!r}; expected some of {', '.join(known)}")
        return None
    return GroupRoles(str(raw["group"]), str(raw["organisation"]), tuple(roles))


# Signatures with a public key: with a shared or no key, whoever knows the client could make an ID token.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
ALGORITHMS += ["Ed25519"]
SECONDS = 10  # for an answer
LEEWAY = 60  # seconds that clocks may differ
AWAY = 10  # seconds after which it is asked again where it did not answer
KEPT = 3600  # seconds that the provider's description and keys are kept
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class Request:
    """What a browser was sent to the provider with, kept here until it comes back."""

    state: str
    nonce: str
    verifier: str  # of PKCE

    @classmethod
    def new(cls) -> "Request":
        """A request with new secrets, which its answer has to know."""
        return cls(random.token_urlsafe(32), random.token_urlsafe(32), random.token_urlsafe(48))


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the provider says somebody is."""

    issuer: str
    subject: str
    email: str
    name: str
    groups: tuple[str, ...]
    authenticated_at: int | None  # seconds since 1970


class Provider:
    """Asks one provider; what it says of itself and its keys are kept for an hour."""

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self._kept: dict[str, tuple[float, dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._away_until = 0.0

    def address(self, request: Request, *, fresh: bool = False) -> str:
        """Where a browser goes to sign in; `fresh` asks for the password although it is signed in there."""
        more = {"prompt": "login", "max_age": "0"} if fresh else {}
        with self._client() as client:
            url, _ = client.create_authorization_url(
                self._metadata()["authorization_endpoint"],
                state=request.state,
                nonce=request.nonce,
                code_verifier=request.verifier,
                **more,
            )
        return str(url)

    def identity(self, request: Request, code: str, *, since: int | None = None) -> Identity:
        """Who came back with a code.

        Parameters
        ----------
        since : seconds since 1970; they must have signed in at the provider no earlier

        Raises
        ------
        Fault : the provider does not answer (503), or its answer cannot be trusted (502)
        """
        try:
            with self._client() as client:
                token = client.fetch_token(
                    self._metadata()["token_endpoint"], code=code, code_verifier=request.verifier
                )
                claims = self._claims(token, request)
                claims = self._with_userinfo(client, claims)
        except httpx2.HTTPError:
            raise _unreachable() from None
        except (AuthlibBaseError, JoseError, ValueError, KeyError, TypeError) as error:
            raise _wrong(type(error).__name__) from None
        identity = self._read(claims)
        if since is not None and (identity.authenticated_at or 0) < since - LEEWAY:
            raise Fault(403, say("pages.fault.not_signed_in_anew.detail"))
        return identity

    def _claims(self, token: dict[str, Any], request: Request) -> dict[str, Any]:
        """The claims of an ID token whose signature, issuer, audience, nonce and times are right."""
        text = token["id_token"]
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        try:
            read = jwt.decode(text, self._keys(), registry=registry)
        except (JoseError, ValueError):  # signed with a key that is newer than what was kept
            read = jwt.decode(text, self._keys(anew=True), registry=registry)
        claims = CodeIDToken(
            read.claims,
            read.header,
            {
                "iss": {"essential": True, "value": self.settings.issuer},
                "aud": {"essential": True, "value": self.settings.client_id},
                "sub": {"essential": True},
                "nonce": {"essential": True, "value": request.nonce},
            },
            {
                "nonce": request.nonce,
                "client_id": self.settings.client_id,
                "access_token": token.get("access_token"),
            },
        )
        claims.validate(leeway=LEEWAY)
        return dict(claims)

    def _with_userinfo(self, client: OAuth2Client, claims: dict[str, Any]) -> dict[str, Any]:
        """The claims, with those that the provider gives only when asked for them; of the same person."""
        endpoint = self._metadata().get("userinfo_endpoint")
        if not endpoint or (self._groups(claims) is not None and "email" in claims):
            return claims
        _refuse_unsafe(endpoint)
        answer = client.get(endpoint)
        answer.raise_for_status()
        more = answer.json()
        if more.get("sub") != claims["sub"]:
            raise ValueError("userinfo of somebody else")
        return {**more, **claims}

    def _read(self, claims: dict[str, Any]) -> Identity:
        if claims.get("email_verified") in (False, "false"):
            raise Fault(403, say("pages.fault.address_not_verified.detail"))
        email = claims.get("email")
        return Identity(
            issuer=self.settings.issuer,
            subject=str(claims["sub"]),
            email=email.strip().lower() if isinstance(email, str) else "",
            name=str(claims.get("name") or claims.get("preferred_username") or email or ""),
            groups=tuple(self._groups(claims) or ()),
            authenticated_at=claims.get("auth_time"),
        )

    def _groups(self, claims: dict[str, Any]) -> list[str] | None:
        """The groups of a claim, or of one inside of others (``realm_access.roles``)."""
        found: Any = claims.get(self.settings.groups_claim)
        if found is None:
            found = claims
            for part in self.settings.groups_claim.split("."):
                found = found.get(part) if isinstance(found, dict) else None
        if found is None:
            return None
        return [str(group) for group in found] if isinstance(found, list) else [str(found)]

    def _metadata(self) -> dict[str, Any]:
        """What the provider says of itself."""
        issuer = self.settings.issuer
        found = self._fetched(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != issuer:
            raise _wrong("issuer")
        for name in ENDPOINTS:
            _refuse_unsafe(str(found.get(name, "")))
        return found

    def _keys(self, *, anew: bool = False) -> KeySet:
        keys: Any = self._fetched(self._metadata()["jwks_uri"], anew=anew)
        return KeySet.import_key_set(keys)

    def _fetched(self, address: str, *, anew: bool = False) -> dict[str, Any]:
        with self._lock:
            at, kept = self._kept.get(address, (0.0, {}))
        if kept and not anew and time.monotonic() - at < KEPT:
            return kept
        if time.monotonic() < self._away_until:  # requests do not wait for it one after the other
            raise _unreachable()
        try:
            answer = httpx2.get(address, timeout=SECONDS)
            answer.raise_for_status()
            found = answer.json()
        except httpx2.HTTPError:
            self._away_until = time.monotonic() + AWAY
            raise _unreachable() from None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise _wrong("answer")
        with self._lock:
            self._kept[address] = (time.monotonic(), found)
        return found

    def _client(self) -> OAuth2Client:
        return OAuth2Client(
            self.settings.client_id,
            self.settings.client_secret or None,
            scope=self.settings.scopes,
            redirect_uri=self.settings.callback,
            code_challenge_method="S256",
            timeout=SECONDS,
        )


def _refuse_unsafe(address: str) -> None:
    if not is_safe(address):
        raise _wrong("address")


def _unreachable() -> Fault:
    return Fault(503, say("pages.fault.no_answer.detail"))


def _wrong(what: str) -> Fault:
    return Fault(502, say("pages.fault.not_taken.detail", what=what))
