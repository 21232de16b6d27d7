"""Verdicts: every declared criterion compared with its result, and why a verdict cannot be given."""

from trustreport.verdicts.families import AtLevel, verdicts
from trustreport.verdicts.requirements import (
    Requirement,
    Standing,
    candidate_names,
    requirements,
    standings,
    status,
)
from trustreport.verdicts.verdict import (
    WORDS,
    FamilyOutcome,
    Locked,
    Verdict,
    Word,
    counted,
    named_family,
    worst,
)

__all__ = [
    "WORDS",
    "AtLevel",
    "FamilyOutcome",
    "Locked",
    "Requirement",
    "Standing",
    "Verdict",
    "Word",
    "candidate_names",
    "counted",
    "named_family",
    "requirements",
    "standings",
    "status",
    "verdicts",
    "worst",
]
