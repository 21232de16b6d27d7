"""Erasing what is stored of a person; what they signed, and the log, name them by a number alone."""

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import browsers
from trustreport.service.storage.collaboration import Comment, Mail, ReviewRequest
from trustreport.service.storage.models import (
    Factor,
    Link,
    PendingStep,
    RecoveryCode,
    Session,
    Token,
    User,
)
from trustreport.service.storage.store import now

ERASED = "Erased person"


def erase_person(rows: Rows, user: User, actor: str) -> None:
    """Close an account for good and remove name, address, password, second factors and comments of its user.

    Signed statements keep the name: they are records that others rely on.
    """
    at = now(rows)
    for comment in rows.scalars(
        select(Comment).where(Comment.created_by == user.id, Comment.withdrawn_at.is_(None))
    ).all():
        erase_comment(rows, comment, actor)
    for request in rows.scalars(
        select(ReviewRequest).where(ReviewRequest.reviewer == user.id, ReviewRequest.ended_at.is_(None))
    ).all():
        request.ended_at = at
        audit.write(rows, user.organisation, actor, "review.withdraw", request.id, report=request.report)
    for token in rows.scalars(select(Token).where(Token.user == user.id)).all():
        token.name = ERASED
        if token.revoked_at is None:
            token.revoked_at = at
            audit.write(rows, user.organisation, actor, "token.revoke", token.id)
    rows.execute(delete(Mail).where(or_(Mail.user == user.id, Mail.address == user.email)))
    for model in (Session, Link, Factor, RecoveryCode, PendingStep):
        rows.execute(delete(model).where(model.user == user.id))
    browsers.forget(rows, user)
    user.name, user.email, user.password = ERASED, f"{user.id}@erased.invalid", ""
    user.issuer, user.subject = None, None
    user.roles, user.operator = [], False
    user.disabled_at = user.disabled_at or at
    audit.write(rows, user.organisation, actor, "user.erase", user.id, roles=[])


def erase_comment(rows: Rows, comment: Comment, actor: str) -> None:
    """Remove the text of a comment; that there was one stays, with the hash of its text."""
    comment.text, comment.withdrawn_at = "", now(rows)
    audit.write(rows, comment.organisation, actor, "comment.withdraw", comment.id)
