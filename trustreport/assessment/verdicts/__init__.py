"""Verdicts: every declared criterion compared with its result, and why a verdict cannot be given."""

from trustreport.assessment.verdicts.families import AtLevel, verdicts
from trustreport.assessment.verdicts.requirements import (
    Requirement,
    Standing,
    candidate_names,
    requirements,
    standings,
    status,
)
from trustreport.assessment.verdicts.verdict import (
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
