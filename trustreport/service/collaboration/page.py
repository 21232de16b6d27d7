"""The page of a collaboration, for those who coordinate it."""

from fastapi import APIRouter, Request, Response

from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.collaboration import api
from trustreport.service.collaboration.sites import fingerprint
from trustreport.service.core import Core
from trustreport.service.pages.page_context import (
    Author,
    Given,
    Reader,
    Sent,
    body_from,
    see,
    shown_again,
    user_names,
)
from trustreport.service.pages.render import page
from trustreport.service.storage.models import StoredStudy, Version
from trustreport.service.storage.pooling import InvitedSite, SiteUpload, StoredCollaboration
from trustreport.service.study import page as studies
from trustreport.service.web.shapes import Name, ReportOptions

router = APIRouter()


@router.get("/collaborations/{collaboration}")
def show(
    request: Request,
    who: Reader,
    core: TheCore,
    collaboration: Name,
    *,
    made: Given[api.CreatedSite] = None,
) -> Response:
    """The page of a collaboration; `made` is a site that was invited now, its link to be shown this once."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredCollaboration, collaboration)
        sites = api.shown_sites(rows, row)
        return page(
            request,
            "collaboration",
            collaboration=row,
            study=rows.get_one(StoredStudy, row.study),
            version=rows.get_one(Version, row.version),
            files=sorted(api.handed_out(rows, row.version)),
            sites=sites,
            n_accepted=sum(
                state != "revoked" and any(f.state == "accepted" for f in files) for _, state, files in sites
            ),
            least=api.LEAST_SITES,
            fingerprint=fingerprint,
            people=user_names(rows, who, {row.created_by}),
            days=min(api.DAYS, core.settings.share_days),
            most_days=core.settings.share_days,
            made=made,
        )


@router.post("/studies/{study}/collaborations")
@shown_again(studies.show)
def begin(study: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Ask several sites for evidence."""
    made = api.begin(study, body_from(form, api.NewCollaboration), who, core)
    return see(f"/collaborations/{made.id}")


@router.post("/collaborations/{collaboration}/sites")
@shown_again(show)
def invite(collaboration: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Invite a site; its link goes by mail, or is on this one page and nowhere else."""
    made = api.invite(collaboration, body_from(form, api.NewSite), who, core)
    return show(request, who, core, collaboration, made=made)


@router.post("/collaborations/{collaboration}/pool")
@shown_again(show)
def pool(collaboration: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Make a version of the accepted files, and its report."""
    made = api.pool(collaboration, body_from(form, ReportOptions), who, core, Response())
    return see(f"/versions/{made.id}")


@router.post("/invited-sites/{invited_site}/link")
def renew(invited_site: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Another link."""
    made = api.renew(invited_site, who, core)
    return show(request, who, core, made.site.collaboration, made=made)


@router.post("/invited-sites/{invited_site}/revocation")
def revoke(invited_site: Name, who: Author, core: TheCore, form: Sent) -> Response:
    """Take a site out."""
    with core.store.read() as rows:
        there = who.row_of(rows, InvitedSite, invited_site).collaboration
    api.revoke(invited_site, who, core)
    return see(f"/collaborations/{there}#sites")


@router.post("/site-uploads/{site_upload}/acceptance")
def accept(site_upload: Name, who: Author, core: TheCore, form: Sent) -> Response:
    """Accept the key of a site, and its file."""
    api.accept(site_upload, who, core)
    return see(f"/collaborations/{_of_upload(core, who, site_upload)}#sites")


@router.post("/site-uploads/{site_upload}/refusal")
def decline(site_upload: Name, who: Author, core: TheCore, form: Sent) -> Response:
    """Decline it."""
    api.decline(site_upload, who, core)
    return see(f"/collaborations/{_of_upload(core, who, site_upload)}#sites")


def _of_upload(core: Core, who: Principal, name: str) -> str:
    with core.store.read() as rows:
        upload = who.row_of(rows, SiteUpload, name)
        return rows.get_one(InvitedSite, upload.site).collaboration
