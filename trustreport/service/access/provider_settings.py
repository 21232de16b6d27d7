"""What an operator says of the identity provider (OpenID Connect)."""

from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import urlsplit

from trustreport.service.access.roles import Role
from trustreport.service.settings import LOOPBACK, Settings, Unsuitable

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
