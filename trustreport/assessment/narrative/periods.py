"""Periods of routine use, as every dimension treats them: cases still in follow-up, and what is plotted."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from trustreport.assessment.finding import Part
from trustreport.assessment.performance.keys import cut_of, is_mature
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Message, say


def immature(study: Study, plan: Plan) -> Iterator[Message]:
    """How many cases of each period are not analysed, for their follow-up is incomplete."""
    for dataset in study.datasets:
        n = int(np.count_nonzero((dataset.cases.truth >= 0) & ~is_mature(dataset, study, plan)))
        if n:
            days, cut = plan.reference_standard.maturity_days, cut_of(study.datasets, plan)
            yield say("follow_up.left_out", n=n, name=dataset.name, days=days, cut=cut)


def prepend_sentences(sentences: Iterable[Message], parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts, the first of which ends with these sentences."""
    if not parts:
        return ()
    return (replace(parts[0], finding=(*parts[0].finding, *sentences)), *parts[1:])


def not_plotted(study: Study) -> frozenset[str]:
    """Names of the periods before the last one, which a dimension does not plot.

    The vigilance chapter plots every period in one figure; panels of each would repeat it. Tables have all.
    """
    return frozenset([d.name for d in study.datasets if d.role == "period"][:-1])
