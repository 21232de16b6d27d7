"""The form of a stored version: its manifest and tables are given to a limited process, which answers."""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from trustreport.service.blank import blank
from trustreport.service.core import Core
from trustreport.service.intake import LOCK, MANIFESTS
from trustreport.service.limited import ChildOutcome, ResourceLimits, run
from trustreport.service.storage.models import Version, VersionFile
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

MOST_MANIFEST = 500_000  # bytes of a manifest that a form is made of
MOST_CHECKED = 20_000_000  # bytes of tables that are read while somebody types
SECONDS = 30
WAIT_SECONDS = 20
# Forms at work in this process, each in one of its own, and those that wait: no more threads than that.
_AT_ONCE, _ADMITTED = threading.BoundedSemaphore(2), threading.BoundedSemaphore(8)

Check = Literal["no", "manifest", "typing"]


def answer(
    core: Core,
    version: Version,
    files: Sequence[VersionFile],
    texts: Mapping[str, str],
    check: Check,
    *,
    draft: str = "",
    comma: bool = False,
    shows_rows: bool = False,
) -> dict[str, Any]:
    """The form of a version's manifest with the texts typed into it; see `edit_task.edit`.

    Parameters
    ----------
    draft : the manifest as somebody has changed it since
    comma : whether decimals may have a comma, as the language of the page writes them

    Raises
    ------
    Fault : the manifest cannot be shown as a form (409), or too many are edited at this moment (503)
    """
    name, manifest = ("study.yaml", draft) if draft else manifest_of(core, version, files)
    tables = [f for f in files if f.name not in MANIFESTS]
    small = sum(f.size for f in tables) <= MOST_CHECKED
    task = {
        "task": "edit",
        "closed": [str(core.settings.data)],
        "manifest": manifest,
        "file": name,
        "texts": dict(texts),
        "files": version.tables,
        "check": check if check != "typing" else "study" if small else "manifest",
        "comma": comma,
        "shows_rows": shows_rows,
    }

    def fill(work: Path) -> None:
        wanted = tables if task["check"] == "study" else [f for f in tables if f.name == LOCK]
        lay_out(core, version, wanted, work / "study")

    outcome = carried_out(core, task, fill)
    failed = outcome.reason or outcome.answer.get("failed", "")
    if outcome.kind != "answer" or failed:
        raise Fault(409, say("pages.fault.no_form.detail", failed=failed))
    made = outcome.answer
    if "unreadable" in made:
        first = made["unreadable"][0] if made["unreadable"] else {}
        line = f", line {first['row']}" if first.get("row") else ""
        detail = f"{name}{line}: {first.get('found', 'it cannot be read')}. Upload a corrected file first."
        raise Fault(409, detail, title=say("pages.fault.the_manifest_cannot_be.title"))
    return made


def carried_out(
    core: Core,
    task: dict[str, Any],
    fill: Callable[[Path], None],
    should_continue: Callable[[], bool] = lambda: True,
) -> ChildOutcome:
    """One task in a limited process, when its turn comes; `fill` puts what it reads into its empty folder.

    Raises
    ------
    Fault : too many are at work (503)
    """
    with _turn():
        work = Path(tempfile.mkdtemp(prefix="edit-", dir=_folder(core)))
        try:
            fill(work)
            limits = replace(ResourceLimits.of_settings(core.settings, "check"), wall=SECONDS)
            return run(task, work, limits, on_progress=lambda *_: None, should_continue=should_continue)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def manifest_of(core: Core, version: Version, files: Sequence[VersionFile]) -> tuple[str, str]:
    """The name and text of what the form begins with: the proposal from the tables, else the manifest."""
    if proposal := version.facts.get("proposal"):
        return "study.yaml", str(proposal)
    named = [f for f in files if f.name in MANIFESTS]
    if not named and not any(f.archive for f in files):
        return "study.yaml", blank()
    if len(named) != 1:
        raise Fault(409, say("pages.fault.no_single_manifest.detail"))
    if named[0].size > MOST_MANIFEST:
        raise Fault(409, say("pages.fault.too_long_for_a.detail", most_manifest=MOST_MANIFEST))
    data = core.blobs.read(version.organisation, named[0].sha256)
    try:
        return named[0].name, data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Fault(409, say("pages.fault.the_manifest_cannot_be.detail")) from None


@contextmanager
def _turn() -> Iterator[None]:
    """A turn among the forms at work; refuses (503) where too many wait, or one waits too long."""
    busy = Fault(503, say("pages.fault.busy.too_many_forms_are"), headers={"Retry-After": "5"})
    if not _ADMITTED.acquire(blocking=False):
        raise busy
    try:
        if not _AT_ONCE.acquire(timeout=WAIT_SECONDS):
            raise busy
        try:
            yield
        finally:
            _AT_ONCE.release()
    finally:
        _ADMITTED.release()


def _folder(core: Core) -> Path:
    """Where forms are worked on: not among the jobs, whose folders are swept."""
    folder = core.settings.data / "forms"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def lay_out(core: Core, version: Version, files: Sequence[VersionFile], study: Path) -> None:
    """Put the files of a version into a folder."""
    for file in files:
        target = study / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        core.blobs.copy(version.organisation, file.sha256, target)
