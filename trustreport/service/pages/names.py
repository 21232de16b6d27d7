"""Small look-ups that many pages need, each one query."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.principal import Principal
from trustreport.service.storage.models import Attestation, User


def user_names(rows: Rows, who: Principal, users: Collection[str]) -> dict[str, str]:
    """Names of users of this organisation; others (a worker, the operator) stay as the record has them."""
    known = select(User.id, User.name).where(User.organisation == who.organisation, User.id.in_(users))
    named = dict(pairs(rows, known))
    return {user: named.get(user, user) for user in users}


def pairs(rows: Rows, query: Select[Any, Any]) -> list[tuple[Any, Any]]:
    """The rows of a query of two columns."""
    return [(first, second) for first, second in rows.execute(query)]


def signed_acts(rows: Rows, reports: Collection[str]) -> dict[str, frozenset[str]]:
    """What was signed of each report: review, approval, rejection."""
    found: dict[str, set[str]] = defaultdict(set)
    query = select(Attestation.report, Attestation.act).where(Attestation.report.in_(reports))
    for report, act in rows.execute(query):
        found[report].add(act)
    return {report: frozenset(found[report]) for report in reports}
