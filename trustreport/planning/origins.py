"""How much readers and cases vary: from declared components, a published study or a pilot."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

from scipy.special import ndtri

from trustreport.measures.mrmc.interval import quantile
from trustreport.planning.moments import (
    Endpoint,
    EstimateParts,
    OutcomeMoments,
    expected_variance,
    fitted_variances,
    outcome_moments,
    paired_covariance,
    parts_of,
)
from trustreport.planning.request import (
    BdgInput,
    ObuchowskiRocketteInput,
    Published,
    RoeMetzInput,
    SizingRequest,
)
from trustreport.planning.simulate import STRUCTURES, Variances
from trustreport.vocabulary.messages import Message, say

TEXT = "sizing"
Kind = Literal["obuchowski_rockette", "roe_metz", "bdg", "published", "pilot"]
# Of what a published interval is taken to be due to where nobody says it.
THIRD = 1 / 3
MIDDLE = 0.8  # the endpoint of the readers where none is declared
# Others that could be so, for how much it matters.
OTHER_SHARES = {"readers": (0.6, 0.2, 0.2), "cases": (0.2, 0.6, 0.2), "both": (0.2, 0.2, 0.6)}


@dataclass(frozen=True)
class Origin:
    """Where the variation is known from.

    `parts` gives the readers' and cases' parts for a study of so many positives and negatives (of decisions:
    cases and 1). `exact` is the model of the ratings where that is what was declared.
    """

    kind: Kind
    parts: Callable[[float, float], EstimateParts]
    area: bool
    mean: float
    assumptions: tuple[Message, ...]
    exact: Variances | None = None

    def variances(self, n_positives: float, n_negatives: float, mean: float) -> Variances:
        """The model of the ratings, for a simulation of a study of this size.

        Raises
        ------
        NoModel : none has these components
        """
        if self.exact is not None:
            return self.exact
        parts = self.parts(n_positives, n_negatives)
        return fitted_variances(parts, mean, n_positives, n_negatives, area=self.area)


@dataclass(frozen=True, slots=True)
class PilotParts:
    """The components of a pilot study, of its cases (of the endpoint's class; of an area both)."""

    parts: EstimateParts
    mean: float
    n_readers: int
    n_cases: int
    n_positives: int
    notes: tuple[Message, ...] = ()


def origin_of(request: SizingRequest, pilot: PilotParts | None = None) -> Origin:
    area = request.endpoint == "auc"
    if pilot is not None:
        mean = request.expected if request.expected is not None else pilot.mean
        scaled = _scaled(pilot.parts, request.endpoint, mean, pilot.n_cases, pilot.n_positives)
        said = say(f"{TEXT}.origin.pilot", readers=pilot.n_readers, cases=pilot.n_cases)
        return Origin("pilot", scaled, area, mean, (said, *pilot.notes, *_carried(request)))
    if request.published is not None:
        return _published(request, request.published)
    given = request.components
    if isinstance(given, RoeMetzInput):
        return _roe_metz(request, given)
    if isinstance(given, BdgInput):
        return _bdg(request, given)
    assert given is not None
    return _obuchowski_rockette(request, given)


def _roe_metz(request: SizingRequest, given: RoeMetzInput) -> Origin:
    assert request.expected is not None
    area, mean = request.endpoint == "auc", request.expected
    if given.structure:
        variances = STRUCTURES[given.structure]
        said = say(f"{TEXT}.origin.structure", name=given.structure, mean=mean)
    else:
        six = {name: getattr(given, name) or 0.0 for name in Variances.__slots__}
        variances = Variances(**six)
        said = say(f"{TEXT}.origin.roe_metz", mean=mean, **six)
    kept = request.carry_over or 0.0
    if kept:  # the part of the first reading's own error that the second one repeats
        repeated = kept * variances.error
        variances = replace(
            variances, reader_case=variances.reader_case + repeated, error=variances.error - repeated
        )
    moments = outcome_moments([mean, mean + _shift(request)], variances, area=area)
    assumptions = (said, say(f"{TEXT}.assumption.normal"), *_carried(request))
    return Origin("roe_metz", lambda p, n: parts_of(moments, p, n), area, mean, assumptions, variances)


def _shift(request: SizingRequest) -> float:
    """The difference of the two arms; a device alone is not an arm of the readers."""
    return 0.0 if request.design == "device" else request.true_difference


def _bdg(request: SizingRequest, given: BdgInput) -> Origin:
    area = request.endpoint == "auc"

    def less(values: tuple[float, ...]) -> tuple[float, ...]:
        eight = values if area else (values[0], 0, 0, values[1], values[2], 0, 0, values[3])
        return tuple(v - eight[7] for v in eight)

    arms = [less(one) for one in given.arms]
    same = tuple(sum(values) / len(arms) for values in zip(*arms))
    moments = OutcomeMoments(same, less(given.across), area)
    last = [one[-1] for one in given.arms]
    mean = request.expected if request.expected is not None else sqrt(last[-1])
    said = say(f"{TEXT}.origin.bdg")
    return Origin("bdg", lambda p, n: parts_of(moments, p, n), area, mean, (said, *_carried(request)))


def _obuchowski_rockette(request: SizingRequest, given: ObuchowskiRocketteInput) -> Origin:
    mean = request.expected if request.expected is not None else MIDDLE
    positives = given.positives or max(round(given.cases * request.share_positive), 1)
    assumptions = [say(f"{TEXT}.origin.obuchowski_rockette", cases=given.cases)]
    error = given.error
    if error is None:
        error = _reading_variance(request.endpoint, mean, given.cases, positives)
        assumptions.append(say(f"{TEXT}.assumption.error", mean=mean))
    by_r = given.r2 is not None

    def covariance(own: float | None, r: float | None) -> float:
        return (r or 0.0) * error if by_r else own or 0.0

    if given.reader is None:
        assumptions.append(say(f"{TEXT}.assumption.reader"))
    parts = EstimateParts(
        reader=given.arm_reader if given.reader is None else given.reader,
        arm_reader=given.arm_reader,
        error=error,
        cov1=covariance(given.cov1, given.r1),
        cov2=covariance(given.cov2, given.r2),
        cov3=covariance(given.cov3, given.r3),
    )
    scaled = _scaled(parts, request.endpoint, mean, given.cases, positives)
    everything = (*assumptions, *_carried(request))
    return Origin("obuchowski_rockette", scaled, request.endpoint == "auc", mean, everything)


def _published(request: SizingRequest, given: Published) -> Origin:
    mean = request.expected if request.expected is not None else MIDDLE
    positives = given.positives or max(round(given.cases * request.share_positive), 1)
    shares = (given.readers_share, given.cases_share, given.both_share)
    declared = shares[0] is not None
    readers, cases, both = (share if share is not None else THIRD for share in shares)
    parts = parts_of_interval(given, (readers, cases, both))
    error = _reading_variance(request.endpoint, mean, given.cases, positives)
    said = say(
        f"{TEXT}.origin.published",
        difference=given.difference,
        low=given.low,
        high=given.high,
        readers=given.readers,
        cases=given.cases,
    )
    of_shares = say(
        f"{TEXT}.assumption.{'shares' if declared else 'thirds'}", readers=readers, cases=cases, both=both
    )
    filled = filled_parts(parts.arm_reader, parts.error - parts.cov1, parts.cov2 - parts.cov3, error)
    scaled = _scaled(filled, request.endpoint, mean, given.cases, positives)
    return Origin("published", scaled, request.endpoint == "auc", mean, (said, of_shares, *_carried(request)))


def parts_of_interval(given: Published, shares: tuple[float, float, float]) -> EstimateParts:
    """The parts of a published difference whose variance is due to readers, cases and both in these shares.

    With r readers and t of df = (r - 1) / (1 - cases)^2 degrees of freedom::

        D = r / 2 ((high - low) / (2 t))^2
        arm_reader = readers D,  shared = cases D / r,  own - shared = both D

    Examples
    --------
    >>> one = Published(difference=0.05, low=0.01, high=0.09, readers=10, cases=200)
    >>> found = parts_of_interval(one, (0.2, 0.5, 0.3))
    >>> round(1e4 * found.arm_reader, 3), round(1e4 * (found.cov2 - found.cov3), 3)
    (3.89, 0.972)
    """
    readers, cases, both = shares
    r = given.readers
    df = (r - 1) / (1 - cases) ** 2 if cases < 1 else float("inf")
    error = r / 2 * ((given.high - given.low) / (2 * quantile(df, given.level))) ** 2
    shared = cases * error / r
    return filled_parts(readers * error, shared + both * error, shared, 0.0)


def filled_parts(arm_reader: float, own: float, shared: float, error: float) -> EstimateParts:
    """The parts with those filled in that the difference of two arms does not depend on."""
    error = max(error, own + shared)
    other = (error - own) / 2
    return EstimateParts(arm_reader, arm_reader, error, error - own, min(other + shared, error), other)


def _scaled(
    parts: EstimateParts, endpoint: Endpoint, mean: float, n_cases: int, n_positives: int
) -> Callable[[float, float], EstimateParts]:
    """The parts for other sizes: those of the cases as 1 / cases, times what another prevalence does.

    That is the ratio of the variances of one reader's area, of as many cases with either share.
    """
    share = n_positives / n_cases

    def parts_of_counts(positives: float, negatives: float) -> EstimateParts:
        n = positives + negatives if endpoint == "auc" else positives
        s = n_cases / n
        if endpoint == "auc":
            before = expected_variance(mean, endpoint, share * n, (1 - share) * n)
            s *= expected_variance(mean, endpoint, positives, negatives) / before
        four = {name: s * getattr(parts, name) for name in ("error", "cov1", "cov2", "cov3")}
        return replace(parts, **four)

    return parts_of_counts


def _reading_variance(endpoint: Endpoint, mean: float, n_cases: float, n_positives: float) -> float:
    if endpoint == "auc":
        return expected_variance(mean, endpoint, n_positives, n_cases - n_positives)
    return expected_variance(mean, endpoint, n_cases)


def _carried(request: SizingRequest) -> tuple[Message, ...]:
    if request.design != "sequential":
        return ()
    kept = request.carry_over
    return (
        say(f"{TEXT}.assumption.carry_over", share=kept) if kept else say(f"{TEXT}.assumption.no_carry_over"),
    )


def device_parts(
    origin: Origin, request: SizingRequest, n_positives: float, n_negatives: float
) -> EstimateParts:
    """The parts of the difference between the device and a reader, as those of a difference of two arms.

    With d the device's variance over cases and g its covariance with a reader's estimate::

        arm_reader = (reader + arm_reader) / 2
        error - cov1 = (error + d - 2 g) / 2,  cov2 - cov3 = (cov2 + d - 2 g) / 2

    so that 2 D / r is the variance of the device less the mean of r readers.
    """
    of = origin.parts(n_positives, n_negatives)
    means = origin.mean + request.true_difference, origin.mean
    z = [float(ndtri(mean)) for mean in means]
    rho = request.device_correlation or 0.0
    own = paired_covariance(z[0], z[0], 1.0, n_positives, n_negatives, area=origin.area)
    alike = paired_covariance(z[0], z[1], rho, n_positives, n_negatives, area=origin.area)
    arm = (of.reader + of.arm_reader) / 2
    error, shared = (of.error + own - 2 * alike) / 2, max((of.cov2 + own - 2 * alike) / 2, 0.0)
    return EstimateParts(0.0, arm, error, 0.0, shared, 0.0)
