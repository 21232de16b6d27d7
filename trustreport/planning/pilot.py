"""The variance components of a pilot study, estimated as its report does."""

from math import isfinite, isnan
from typing import Any

import numpy as np

from trustreport.assessment.performance.reader_analysis import FIRST_COVARIANCE, UNAIDED, ReaderEndpoint
from trustreport.assessment.performance.reader_errors import components_of
from trustreport.assessment.performance.readers import endpoint
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette
from trustreport.measures.mrmc.power import CLIPPED, NEGATIVE_COMPONENT, Components
from trustreport.planning.moments import EstimateParts, expected_variance
from trustreport.planning.origins import TEXT, PilotParts, filled_parts
from trustreport.planning.request import SizingRequest
from trustreport.study.plan import Plan
from trustreport.study.study import Readings, Study
from trustreport.vocabulary.errors import Problem, StudyError
from trustreport.vocabulary.messages import say

LEAST_MEAN, MOST_MEAN = 0.02, 0.98  # a pilot in which nothing goes wrong is no mean to plan with


def pilot_parts(study: Study, plan: Plan, request: SizingRequest) -> PilotParts:
    """The components of the first readings that hold both arms and the endpoint.

    Raises
    ------
    StudyError : the pilot has no such readings, or no components can be estimated from them
    """
    level = plan.report.confidence_level
    for readings in study.readings:
        for arms in plan.contrasts:
            if not set(arms) <= set(readings.arms):
                continue
            found = endpoint(readings, arms, level, request.endpoint)
            if found is not None:
                return _parts(found, readings, request)
    raise _refused(request, f"has no readings of {request.endpoint} in two arms")


def _parts(found: ReaderEndpoint, readings: Readings, request: SizingRequest) -> PilotParts:
    area, device = request.endpoint == "auc", request.design == "device"
    n_readers = found.outcome.shape[1]
    mean = found.whole.lead_mean(UNAIDED, 0.95).value
    known = components_of(found, readings)
    if n_readers < 2 or known is None or isnan(known.own + known.shared + known.arm_reader) or isnan(mean):
        raise _refused(
            request, f"gives no variance components of {request.endpoint}: two readers or more are needed"
        )
    fit = found.whole.fits.get(FIRST_COVARIANCE)
    if device and fit is None:
        raise _refused(request, "has missing readings: components of one arm need complete readings")
    truth = readings.cases.truth[readings.cases.truth >= 0]
    positives = int((truth == 1).sum()) if area else known.n_cases
    parts = _of_arm(fit) if device and fit is not None else _of_difference(known, fit)
    if not device and fit is None:
        inside = min(max(mean, LEAST_MEAN), MOST_MEAN)
        error = expected_variance(inside, request.endpoint, positives, known.n_cases - positives or 1)
        parts = filled_parts(known.arm_reader, known.own, known.shared, error)
    notes = []
    if NEGATIVE_COMPONENT in known.note and not device:
        notes.append(say(f"{TEXT}.pilot.negative"))
    if CLIPPED in known.note and not device:
        notes.append(say(f"{TEXT}.pilot.clipped"))
    if not LEAST_MEAN <= mean <= MOST_MEAN:
        notes.append(say(f"{TEXT}.pilot.extreme", mean=mean))
    mean = min(max(mean, LEAST_MEAN), MOST_MEAN)
    return PilotParts(parts, mean, n_readers, known.n_cases, positives, tuple(notes))


def _of_difference(known: Components, fit: ObuchowskiRockette | None) -> EstimateParts:
    """As they are fitted, negative ones as 0 (as `components` does)."""
    if fit is None:
        return filled_parts(known.arm_reader, known.own, known.shared, 0.0)
    reader = fit.components().reader
    reader = max(reader, 0.0) if isfinite(reader) else 0.0
    return EstimateParts(
        reader, known.arm_reader, fit.var, fit.var - known.own, fit.cov3 + known.shared, fit.cov3
    )


def _of_arm(fit: ObuchowskiRockette) -> EstimateParts:
    """Of the readers without the device: the spread between them less what cases add to it."""
    error, alike = (
        float(fit.same_reader[UNAIDED, UNAIDED]),
        max(float(fit.other_reader[UNAIDED, UNAIDED]), 0.0),
    )
    spread = float(np.var(fit.theta[UNAIDED], ddof=1)) - (error - alike)
    return EstimateParts(max(spread, 0.0), 0.0, error, 0.0, alike, 0.0)


def _refused(request: SizingRequest, why: str) -> StudyError:
    given: Any = request.pilot
    return StudyError([Problem(str(given), f"the pilot study {why}")])
