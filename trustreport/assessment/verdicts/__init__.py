"""Verdicts: every declared criterion compared with its result, and why a verdict cannot be given."""

from trustreport.assessment.verdicts.families import AtLevel, verdicts
from trustreport.assessment.verdicts.verdict import (
    WORDS,
    FamilyOutcome,
    Locked,
    Requirement,
    Standing,
    Verdict,
    Word,
    candidate_names,
    counted,
    named_family,
    requirements,
    standings,
    status,
    worst,
)

__all__ = ["AtLevel", "verdicts"]
__all__ += ["WORDS", "FamilyOutcome", "Locked", "Requirement", "Standing", "Verdict", "Word"]
__all__ += ["candidate_names", "counted", "named_family", "requirements", "standings", "status", "worst"]
