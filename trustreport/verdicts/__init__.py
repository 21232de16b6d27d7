"""Verdicts: every declared criterion held against its result, and why a verdict cannot be given."""

from trustreport.verdicts.families import AtLevel, verdicts
from trustreport.verdicts.verdict import WORDS, Family, Verdict, Word, counted, worst

__all__ = ["WORDS", "AtLevel", "Family", "Verdict", "Word", "counted", "verdicts", "worst"]
