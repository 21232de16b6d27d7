"""Measurement: do measured values agree with their reference, and how were outputs rated or counted?"""

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.measurement.results import NAME, measured
from trustreport.assessment.dimensions.measurement.words import claim, part, text
from trustreport.assessment.finding import Finding
from trustreport.study.plan import Plan
from trustreport.study.study import Study


def has_data(study: Study, plan: Plan) -> bool:
    """Whether there are measurements, ratings or counts of cases."""
    return bool(study.values)


def answer(study: Study, plan: Plan) -> Finding:
    """Agreement with the reference, means, changes by the aid, agreement between readers."""
    every = list(measured(study, plan))
    parts = [part(one, number, alone=len(every) == 1) for number, one in enumerate(every, 1)]
    limits = dict.fromkeys(claim(one) for one in every)
    return text.finding(parts, [r for one in every for r in one.results], limits)


DIMENSION = Dimension(NAME, has_data, answer, applies=has_data)
