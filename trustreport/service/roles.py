"""Roles and what each may do."""

from collections.abc import Iterable
from typing import Literal

Permission = Literal["read", "write", "review", "approve", "manage"]
Role = Literal["viewer", "author", "reviewer", "approver", "admin"]

ROLES: dict[Role, frozenset[Permission]] = {
    "viewer": frozenset({"read"}),
    "author": frozenset({"read", "write"}),
    "reviewer": frozenset({"read", "review"}),
    "approver": frozenset({"read", "review", "approve"}),
    "admin": frozenset({"read", "manage"}),
}


def permissions(roles: Iterable[str]) -> frozenset[Permission]:
    """All that these roles may do together; a name that is no role may nothing."""
    none: frozenset[Permission] = frozenset()
    return none.union(*(granted for role, granted in ROLES.items() if role in roles))
