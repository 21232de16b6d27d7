"""The tables of webhooks: where events are sent, and what is to be sent."""

from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from trustreport.service.storage.models import ID, Base, key, of
from trustreport.service.storage.outgoing import Outgoing


class Webhook(Base):
    """An address that an organisation has events sent to; its secret is derived, and kept nowhere."""

    __tablename__ = "webhooks"
    id: Mapped[str] = key()
    organisation: Mapped[str] = of("organisations")
    url: Mapped[str] = mapped_column(String(500))
    events: Mapped[list[Any]]
    created_by: Mapped[str] = mapped_column(ID, ForeignKey("users.id"))
    created_at: Mapped[int]
    paused_at: Mapped[int | None]
    tried_at: Mapped[int]  # the last attempt of any delivery: addresses take turns


class Delivery(Outgoing, Base):
    """An event to be sent to one address, written in the transaction of the event."""

    __tablename__ = "deliveries"
    __table_args__ = (Index("deliveries_due", "sent_at", "failed_at", "next_at"),)
    id: Mapped[str] = key()
    organisation: Mapped[str] = of("organisations")
    webhook: Mapped[str] = of("webhooks")
    kind: Mapped[str] = mapped_column(String(60))
    details: Mapped[dict[str, Any]]  # what is sent
    queued_at: Mapped[int]  # later than `created_at` where it was sent again

    @property
    def state(self) -> str:
        """Waiting, sent or failed."""
        return "sent" if self.sent_at else "failed" if self.failed_at else "waiting"
