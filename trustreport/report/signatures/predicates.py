"""What signed statements of in-toto say: criteria fixed in advance, and verdicts with their numbers.

Two drafts for in-toto, ``prml`` (pre-registered evaluation criteria) and ``eval-result``, serve the same ends
with one threshold and one sample size for all; fields that mean the same have the same names here. The types
have URIs of this project until such a draft is adopted.

References
----------
in-toto/attestation, pull requests 575 (eval-result) and 587 (PRML).
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

PREREGISTERED = "urn:trustreport:pre-registered-criteria:0.1"
EVALUATED = "urn:trustreport:eval-result:0.1"
Comparator = Literal[">", "<"]


class StatementPart(BaseModel):
    """Names as in-toto writes them; a field that is not known is left to whoever added it."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="ignore", strict=True, allow_inf_nan=False
    )


class StatementSigner(StatementPart):
    """Whoever signs."""

    name: str
    email: str


class PreRegistration(StatementPart):
    """The hash of the criteria as they were locked first."""

    alg: Literal["sha256"] = "sha256"
    value: str = Field(pattern="^[0-9a-f]{64}$")


class LockedCriterion(StatementPart):
    """A criterion as the manifest declares it, all else that was locked being in the lock file."""

    criterion: str
    metric: str | None
    hypothesis: str | None
    threshold: list[str] = Field(description="bound or margin, or both bounds, as decimal text")


class PreRegisteredCriteria(StatementPart):
    """Signed before the data are opened; the subject is the locked manifest in canonical form."""

    producer: StatementSigner
    created_at: str = Field(description="by the clock of whoever signs; a time stamp shows it to others")
    version: int = Field(ge=1, description="which version of the lock; 1 is the first one")
    manifest_sha256: str = Field(pattern="^[0-9a-f]{64}$", description="the same as of the subject")
    criteria: list[LockedCriterion]
    public_key: str


class ClaimBound(StatementPart):
    """The whole interval has to be on this side of the threshold."""

    comparator: Comparator
    threshold: str = Field(description="decimal text")


class EvaluatedClaim(StatementPart):
    """A criterion, the verdict on it, and the interval that was compared with its bounds."""

    criterion: str
    metric: str | None
    hypothesis: str | None
    bounds: list[ClaimBound]
    passed: bool = Field(description="true with the verdict pass only")
    verdict: Literal["pass", "fail", "inconclusive", "not assessable", "not tested"]
    value: float | None
    low: float | None
    high: float | None
    level: float | None
    sample_size: int | None


class Harness(StatementPart):
    """The program that gave the verdicts."""

    name: str
    version: str | None


class EvalResult(StatementPart):
    """Verdicts on the criteria of a report, whose files are the subjects."""

    act: str
    meaning: str
    at: int = Field(description="when it was signed, milliseconds since 1970 in UTC")
    signer: StatementSigner
    public_key: str
    study: dict[str, Any] | None
    answer: str | None
    claims: list[EvaluatedClaim] = Field(min_length=1)
    pre_registration: PreRegistration | None = Field(description="null where no lock was provided")
    assurance_level: Literal["self_attested"] = "self_attested"
    harness: Harness


MODELS: Mapping[str, type[StatementPart]] = {PREREGISTERED: PreRegisteredCriteria, EVALUATED: EvalResult}


def validated(kind: Any, predicate: Any) -> None:
    """Refuse a predicate of these types that has not their form; others are left as they are.

    Raises
    ------
    ValueError : names the first field that is wrong
    """
    model = MODELS.get(kind) if isinstance(kind, str) else None
    if model is None:
        return
    try:
        model.model_validate(predicate)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "predicate"
        raise ValueError(f"its {where} is not as {kind} has it: {first['msg']}") from error


def locked_criteria(criteria: Mapping[str, Any]) -> list[LockedCriterion]:
    """The criteria of a version of the lock, in its order."""
    return [
        LockedCriterion(
            criterion=one["endpoint"],
            metric=one.get("measure"),
            hypothesis=one.get("hypothesis"),
            threshold=_texts(one.get("bound_or_margin")),
        )
        for one in criteria.get("endpoints", ())
    ]


def _texts(bound: Any) -> list[str]:
    numbers = bound if isinstance(bound, list | tuple) else [] if bound is None else [bound]
    return [_text(number) for number in numbers]


def _text(number: float) -> str:
    return f"{number:.12f}".rstrip("0").rstrip(".") if abs(number) < 1e15 else repr(number)


def claims_of(verdicts: list[Mapping[str, Any]]) -> list[EvaluatedClaim]:
    """The verdicts of ``results.json`` as claims."""
    return [
        EvaluatedClaim(
            criterion=one["endpoint"],
            metric=one.get("measure"),
            hypothesis=one.get("hypothesis"),
            bounds=list(_bounds(one)),
            passed=one["verdict"] == "pass",
            verdict=one["verdict"],
            value=one.get("value"),
            low=one.get("low"),
            high=one.get("high"),
            level=one.get("level"),
            sample_size=one.get("n"),
        )
        for one in verdicts
    ]


def _bounds(verdict: Mapping[str, Any]) -> list[ClaimBound]:
    ends: tuple[tuple[Comparator, str], ...] = ((">", "above"), ("<", "below"))
    return [
        ClaimBound(comparator=comparator, threshold=_text(verdict[end]))
        for comparator, end in ends
        if verdict.get(end) is not None
    ]
