"""When the data of a study were opened, and what was fixed of its criteria, in the order of time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.intake import LOCK, MANIFESTS
from trustreport.service.pages.page_context import pairs
from trustreport.service.pages.render import PageWords
from trustreport.service.storage.fixing import DOCUMENT, FixedCriteria
from trustreport.service.storage.models import Version, VersionFile

LOOKS = "criteria.looks.jsonl"
TEXTS = (".pdf", ".docx", ".odt", ".md")  # a protocol beside the manifest is no data


@dataclass(frozen=True, slots=True)
class FixingStep:
    """A moment of the timeline: what was done, when, by whom, and the row that says more."""

    what: str  # fixed, amended, declared, countersigned, opened
    at: int
    by: str
    version: int | None = None  # its number
    row: FixedCriteria | None = None


@dataclass(frozen=True, slots=True)
class Fixing:
    """What is fixed of a study: every act, the first one first, the first version with data, the newest."""

    acts: tuple[FixedCriteria, ...]
    opened: Version | None
    newest: Version | None

    @property
    def waiting(self) -> FixedCriteria | None:
        """What waits for a second person: the last act, of the newest version; a lock only without data."""
        last = self.acts[-1] if self.acts else None
        if last is None or last.counts or self.newest is None or last.version != self.newest.id:
            return None
        return None if self.opened and last.kind != DOCUMENT else last

    @property
    def counting(self) -> tuple[FixedCriteria, ...]:
        """The acts on which verdicts rest."""
        return tuple(act for act in self.acts if act.counts)

    @property
    def state(self) -> dict[str, Any]:
        """What the check of the newest version said of its criteria."""
        return self.newest.criteria if self.newest else {}

    def steps(self, numbers: dict[str, int]) -> list[FixingStep]:
        """The timeline; `numbers` are those of the versions."""
        words = {"lock": "fixed", "amendment": "amended", "document": "declared"}
        found: list[FixingStep] = []
        for act in self.acts:
            number = numbers.get(act.version)
            found.append(FixingStep(words[act.kind], act.created_at, act.created_by, number, act))
            if act.countersigned_at is not None and act.countersigned_by is not None:
                second = FixingStep("countersigned", act.countersigned_at, act.countersigned_by, number, act)
                found.append(second)
        if self.opened:
            opened = self.opened
            found.append(FixingStep("opened", opened.created_at, opened.created_by, opened.number))
        return sorted(found, key=lambda step: step.at)


def fixing_of(rows: Rows, study: str) -> Fixing:
    """What is fixed of a study."""
    acts = rows.scalars(select(FixedCriteria).where(FixedCriteria.study == study).order_by(FixedCriteria.id))
    newest = select(Version).where(Version.study == study).order_by(Version.number.desc()).limit(1)
    return Fixing(tuple(acts), _opened(rows, study), rows.scalar(newest))


def _opened(rows: Rows, study: str) -> Version | None:
    """The first version with data: tables, files of sites, or numbers in its manifest.

    An archive counts until it is unpacked and holds none.
    """
    query = select(Version).where(Version.study == study).order_by(Version.number)
    named = select(VersionFile.version, VersionFile.name).join(Version, Version.id == VersionFile.version)
    with_data = {
        version
        for version, name in rows.execute(named.where(Version.study == study))
        if name not in (*MANIFESTS, LOCK, LOOKS) and PurePosixPath(name).suffix.lower() not in TEXTS
    }
    found: Sequence[Version] = rows.scalars(query).all()
    return next((v for v in found if v.id in with_data or v.criteria.get("results")), None)


def numbers_of(rows: Rows, study: str) -> dict[str, int]:
    """The numbers of all versions of a study by their names."""
    return dict(pairs(rows, select(Version.id, Version.number).where(Version.study == study)))


def lacks_data_alone(version: Version | Row[Any]) -> bool:
    """Whether nothing else is wrong with a version than that its tables are not there."""
    places = [problem.get("column") or "" for problem in version.problems]
    of_manifest = all(problem["file"] in MANIFESTS for problem in version.problems)
    missing = all(place == "" or place.endswith(".file") for place in places)
    return version.state == "invalid" and bool(version.criteria) and of_manifest and missing


def awaited(state: Mapping[str, Any], say: PageWords) -> str:
    """What a study without data waits for: that its criteria are fixed, or its data."""
    how = state.get("state", "none")
    return say("guide.no_data_yet") if how == "none" else say(f"pages.criteria.{how}")


def withheld_lines(state: Mapping[str, Any], say: PageWords) -> Iterator[str]:
    """Which verdicts will be withheld and why, as the check of a version or of its form found it."""
    withheld = state.get("withheld", [])
    if withheld and (state["late"] or state["state"] == "none"):
        yield say(f"pages.withheld.{'late' if state['late'] else 'nothing'}", n=len(state["criteria"]))
        return
    for one in withheld:
        key = "removed" if one.get("removed") else "changed" if one["check"] == "P34" else "after"
        changes = [say(f"pages.withheld.field_{c['what']}", **c) for c in one["changes"]]
        if key == "removed":
            yield say("pages.withheld.removed", name=one["criterion"])
        else:
            yield say(f"pages.withheld.{key}", name=one["criterion"], changes=changes)
