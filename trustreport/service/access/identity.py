"""Whether an account is bound to somebody at the identity provider, and what follows from that."""

from trustreport.service.settings import Settings
from trustreport.service.storage.models import User

DAY = 86_400_000


def is_bound(user: User) -> bool:
    """Whether an account is bound to somebody at a provider."""
    return user.subject is not None


def is_vouched_for(user: User, at: int, settings: Settings) -> bool:
    """Whether its user has signed in there lately; else they may have been taken out of every group."""
    return not is_bound(user) or (user.provider_at or 0) >= at - settings.oidc_days * DAY


def is_proved_there(user: User, settings: Settings) -> bool:
    """Whether an account proves who uses it at the provider, for want of a password that counts here."""
    return is_bound(user) and (not user.password or bool(settings.oidc_only))


def has_roles_there(user: User, settings: Settings) -> bool:
    """Whether the roles of an account are those of its groups at the provider."""
    return is_bound(user) and bool(settings.oidc_roles)
