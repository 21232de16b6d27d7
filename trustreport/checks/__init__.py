"""The pitfall register: every check, grouped by dimension, in the order of its number."""

from trustreport.checks import pragmatic_utility
from trustreport.checks.check import Check, Evidence

__all__ = ["CHECKS", "Check", "Evidence"]

CHECKS: tuple[Check, ...] = tuple(sorted(pragmatic_utility.CHECKS, key=lambda check: check.id))
