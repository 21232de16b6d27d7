"""Parts of requests and answers that several resources share."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$"),
]
Email = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        to_lower=True,
        max_length=254,
        pattern=r"^[^\s@<>\"',;:\x00-\x1f\x7f]{1,64}@[A-Za-z0-9.-]{1,189}$",
    ),
]


def no_nul(text: str) -> str:
    """Refuse what PostgreSQL cannot keep."""
    if "\x00" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError("no NUL and no half of a character")
    return text


Words = Annotated[str, StringConstraints(max_length=4000), AfterValidator(no_nul)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Kind = Literal["certification", "procurement", "vigilance"]
Format = Literal["html", "pdf", "json", "xlsx", "csv"]


class RequestBody(BaseModel):
    """A request: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class ResponseBody(BaseModel):
    """An answer."""

    model_config = ConfigDict(extra="forbid")


def moment(milliseconds: int) -> datetime:
    """A time as JSON says it (ISO 8601, UTC)."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def maybe(milliseconds: int | None) -> datetime | None:
    """A time that may not have come."""
    return None if milliseconds is None else moment(milliseconds)


def ask_again(waited: int) -> str:
    """Seconds after which to ask again for what is not done after so many milliseconds: 1 to 10."""
    return str(min(10, max(1, waited // 10_000)))


class ReportOptions(RequestBody):
    """What a report is to be."""

    kind: Kind | None = Field(default=None, description="in place of the manifest's")
    formats: list[Format] = Field(default=["html", "pdf", "json"], min_length=1, max_length=5)
    release: Literal["internal", "public"] | None = Field(
        default=None, description="in place of the manifest's"
    )
    seed: int | None = Field(default=None, ge=0, lt=2**63, description="of what is drawn at random")

    def plain(self) -> dict[str, Any]:
        """The wishes in one spelling, so that equal ones are the same job."""
        formats = sorted({*self.formats, "json"})
        return {"kind": self.kind, "formats": formats, "release": self.release, "seed": self.seed}
