"""The answer that a report opens with, made by rule from the results, and what supports it."""

from trustreport.report.answer.answer import Answer, answer
from trustreport.report.answer.said import Said

__all__ = ["Answer", "Said", "answer"]
