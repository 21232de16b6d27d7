"""The page of a study's criteria: what is fixed, what will be withheld, and the forms that fix and amend."""

import base64
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session as Rows

from trustreport.service.access import accounts
from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal, is_proved_there
from trustreport.service.account.api import is_fresh
from trustreport.service.core import Core
from trustreport.service.lock import api
from trustreport.service.pages.page_context import (
    Author,
    Reader,
    Reviewer,
    Sent,
    attempt,
    body_from,
    noted,
    see,
    shown_again,
    user_names,
)
from trustreport.service.pages.render import page, words_of
from trustreport.service.review.attestations import makers
from trustreport.service.storage.fixing import DOCUMENT, FixedCriteria
from trustreport.service.storage.models import Organisation, StoredStudy, User
from trustreport.service.study.fixing import fixing_of, numbers_of, withheld_lines
from trustreport.service.version.page import sent_files
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say

router = APIRouter()


@router.get("/studies/{study}/criteria")
def show_criteria(study: Name, request: Request, who: Reader, core: TheCore) -> Response:
    """What is fixed of the criteria of a study; while they are being checked, its page asks again."""
    if request.headers.get("HX-Request"):
        with core.store.read() as rows:
            newest = fixing_of(rows, who.row_of(rows, StoredStudy, study).id).newest
        checking = newest is not None and newest.state == "checking"
        return Response(headers={} if checking else {"HX-Refresh": "true"})
    return show(request, who, core, study)


def show(
    request: Request,
    who: Principal,
    core: Core,
    study: str,
) -> Response:
    """The page of the criteria of a study."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredStudy, study)
        found = fixing_of(rows, row.id)
        waiting, newest = found.waiting, found.newest
        steps = found.steps(numbers_of(rows, row.id))
        alone = {act.id: known_alone(rows, act) for act in found.counting if act.countersigned_by}
        users = {step.by for step in steps} | set(filter(None, alone.values()))
        makers_of = makers(rows, waiting.version) | {waiting.created_by} if waiting else set[str]()
        return page(
            request,
            "criteria",
            study=row,
            version=newest,
            state=found.state,
            opened=found.opened,
            waiting=waiting,
            has_lock=any(act.kind != DOCUMENT for act in found.counting),
            withheld=list(withheld_lines(found.state, words_of(request))),
            steps=steps,
            alone=alone,
            people=user_names(rows, who, users),
            own=who.user in makers_of,
            second=rows.get_one(Organisation, who.organisation).countersigned,
            elsewhere=is_proved_there(rows.get_one(User, who.user), core.settings),
            is_fresh=is_fresh(rows, who),
        )


@router.post("/studies/{study}/criteria")
@shown_again(show)
def fix(study: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Fix the criteria, or amend them with a reason."""
    return _done(api.fix(study, body_from(form, api.FixRequest), who, core))


@router.post("/studies/{study}/criteria/document")
@shown_again(show)
def declare(study: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Declare that the criteria were fixed elsewhere, with the document that shows it."""
    files = sent_files(form, "document")
    if not files:
        raise Fault(422, say("pages.fault.no_document.choose"))
    content = files[0].file.read(api.MOST_DOCUMENT + 1)
    if len(content) > api.MOST_DOCUMENT:
        raise Fault(422, say("pages.fault.no_document.large", most=api.MOST_DOCUMENT // 1_000_000))
    given = {"name": files[0].filename or "", "content": base64.b64encode(content)}
    wanted = body_from(form, api.DeclaredElsewhere, **given)
    return _done(api.declare(study, wanted, who, core))


@router.post("/fixed-criteria/{fixing}/countersignature")
def countersign(fixing: Name, request: Request, who: Reviewer, core: TheCore, form: Sent) -> Response:
    """Countersign what somebody else fixed."""
    study = api.get_fixed(fixing, who, core).study

    def done() -> Response:
        api.countersign(fixing, body_from(form, api.Countersigning), who, core, request)
        return see(f"/studies/{study}/criteria?done=countersigned")

    return attempt(done, lambda fault: show(noted(request, form, fault), who, core, study))


def known_alone(rows: Rows, act: FixedCriteria) -> str:
    """Who prepared criteria and alone says whose the account is that countersigned them; or nobody."""
    second = rows.get(User, act.countersigned_by)
    prepared = makers(rows, act.version) | {act.created_by}
    return accounts.known_to_one_alone(accounts.facts_of(rows, second), prepared) if second else ""


def _done(fixed: Any) -> Response:
    return see(f"/studies/{fixed.study}/criteria?done={'fixed' if fixed.counts else 'waiting'}")
