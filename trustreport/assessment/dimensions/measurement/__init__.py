"""Measurement: do measured values agree with their reference, and how were outputs rated or counted?

Two questions: of devices by themselves, and of readers with and without the aid.
"""

from dataclasses import replace

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.measurement import judge_words, preferences
from trustreport.assessment.dimensions.measurement.judges import results_of_judges
from trustreport.assessment.dimensions.measurement.parts import completed
from trustreport.assessment.dimensions.measurement.ranking import ranked
from trustreport.assessment.dimensions.measurement.results import NAME, READERS, measured
from trustreport.assessment.dimensions.measurement.words import claim, part, text
from trustreport.assessment.finding import Finding, Part
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.results import Result


def measured_by_devices(study: Study, plan: Plan) -> bool:
    """Whether there are values of a device, or of what it made, for each case."""
    return any(one.readers is None and not one.judges for one in study.values)


def measured_by_readers(study: Study, plan: Plan) -> bool:
    """Whether readers gave values of cases, or preferred one output to another."""
    return bool(study.preferences) or any(one.readers is not None for one in study.values)


def answer(study: Study, plan: Plan) -> Finding:
    """Agreement of devices with the reference, or their means, and the differences between them."""
    return _finding(NAME, study, plan, by_readers=False)


def answer_of_readers(study: Study, plan: Plan) -> Finding:
    """The same of readers: the mean of each condition, its change, and the agreement between readers."""
    return _finding(READERS, study, plan, by_readers=True)


def _finding(name: str, study: Study, plan: Plan, *, by_readers: bool) -> Finding:
    own = [one for one in measured(study, plan) if (one.values.readers is not None) == by_readers]
    every = completed([replace(one, results=(*one.results, *ranked(one))) for one in own])
    alone = len(study.values) == 1 and not study.preferences and not study.values[0].measurement
    parts: tuple[Part, ...] = ()
    results: tuple[Result, ...] = ()
    limits: dict[str, None] = dict.fromkeys(claim(one) for one in every)
    for number, one in enumerate(every, 1):
        by_judges = list(results_of_judges(one, study))
        parts = (*parts, part(one, number, alone=alone), *judge_words.parts(one, by_judges, number))
        results = (*results, *one.results, *by_judges)
        limits |= {"judge": None} if by_judges else {}
    for number, choices in enumerate(study.preferences if by_readers else (), 1):
        preferred = list(preferences.results_of(choices, plan))
        parts = (*parts, preferences.part_of(choices, preferred, number))
        results = (*results, *preferred)
        limits["preference"] = None
    return Finding(name, parts, results, tuple(text(f"not_shown.{key}") for key in limits))


DIMENSION = Dimension(NAME, measured_by_devices, answer, applies=measured_by_devices)
BY_READERS = Dimension(READERS, measured_by_readers, answer_of_readers, applies=measured_by_readers)
