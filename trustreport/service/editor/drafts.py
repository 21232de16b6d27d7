"""What a person has typed into the manifest of a version, kept until it is saved as the next version."""

from sqlalchemy import Select, delete, select

from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.storage.models import Draft


def draft_of(core: Core, who: Principal, version: str) -> str:
    """The manifest that this person has typed so far; empty where they have not begun."""
    with core.store.read() as rows:
        return rows.scalar(select(Draft.manifest).where(Draft.id.in_(_own(who, version)))) or ""


def keep_draft(core: Core, who: Principal, version: str, manifest: str) -> None:
    """Keep what was typed in place of what there was before."""
    with core.store.write() as rows:
        rows.execute(delete(Draft).where(Draft.id.in_(_own(who, version))))
        who.new_row(rows, Draft, version=version, manifest=manifest)


def drop_draft(core: Core, who: Principal, version: str) -> None:
    """Forget what was typed: it has become a version."""
    with core.store.write() as rows:
        rows.execute(delete(Draft).where(Draft.id.in_(_own(who, version))))


def _own(who: Principal, version: str) -> Select[str]:
    own = select(Draft.id).where(Draft.version == version, Draft.created_by == who.user)
    return own.where(Draft.organisation == who.organisation)
