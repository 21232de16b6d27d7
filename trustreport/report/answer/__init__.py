"""The answer that a report opens with, made by rule from the results, and what supports it."""

from trustreport.report.answer.answer import Answer, answer
from trustreport.report.answer.sentences import Statement

__all__ = ["Answer", "Statement", "answer"]
