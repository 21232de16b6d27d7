"""The equalised-odds difference over the groups of an attribute."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isnan

import numpy as np

from trustreport.assessment.dimensions.subgroups.groups import Division
from trustreport.assessment.dimensions.subgroups.small import Least
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.measures.subgroups import equalised_odds_difference
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

ID = "subgroups.equalised_odds_difference"
LEFT_OUT = "left out, too few cases: {names}"


def equalised_odds(case: ScoredCases, division: Division, plan: Plan) -> Result | None:
    """The largest difference between groups in either rate; None without decisions or where groups overlap.

    A group too small for a percentage of its own is left out, and the note names it.
    """
    if case.decision is None or not division.disjoint:
        return None
    codes = division.codes[case.rows]
    left_out = []
    for i, group in enumerate(division.groups):
        own, least = codes == i, Least.of(plan, group)
        positives, negatives = int((own & case.truth).sum()), int((own & ~case.truth).sum())
        if any(least.short(name, positives, negatives) for name in ("sensitivity", "specificity")):
            codes = np.where(own, -1, codes)
            left_out.append(group.name)
    e = equalised_odds_difference(
        case.truth, case.decision, codes, case.cluster, level=plan.report.confidence_level
    )
    if left_out:
        e = replace(e, note="; ".join(filter(None, (e.note, LEFT_OUT.format(names=", ".join(left_out))))))
    prespecified = all(group.declared.prespecified is True for group in division.groups)
    return Result(
        ID,
        case.place,
        e,
        parameters={"attribute": division.attribute},
        details={"prespecified": prespecified},
        cases=case.part(codes >= 0).key,
        primary=True,
    )


def odds_in_words(found: Iterable[Result]) -> Iterator[Message]:
    """How far apart the groups of each attribute are in the rates of true and of false positives."""
    for r in found:
        e = r.estimate
        if isnan(e.value):
            continue
        yield say(
            f"subgroups.odds.{'no_interval' if isnan(e.low) else 'interval'}",
            n=int(e.details["groups"]),
            attribute=r.parameters["attribute"],
            value=100 * e.value,
            low=100 * e.low,
            high=100 * e.high,
            level=e.level,
            true=100 * e.details["true_positive_difference"],
            false=100 * e.details["false_positive_difference"],
            reason=e.note,
        )
