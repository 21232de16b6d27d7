"""Power and width of a planned study by simulation: readings of a known model, analysed as a study is.

Readings are sums of draws of `planning.simulate.roe_metz`: of readers and cases, of patients, of sites.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isnan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.auc import auc_covariance, auc_ustatistic, reader_auc
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.interval import symmetric
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, leading, obuchowski_rockette
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.proportion import wilson
from trustreport.measures.roc.auc import placements
from trustreport.measures.seeds import generator
from trustreport.planning.moments import NoModel, excess
from trustreport.planning.origins import Origin
from trustreport.planning.request import SizingRequest
from trustreport.planning.simulate import Variances, roe_metz
from trustreport.vocabulary.messages import Message, say

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
NOTHING = Variances(0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Simulated:
    """What simulated studies showed: the share that succeeded with its Monte Carlo interval, the mean width.

    `undefined` counts studies without an interval, which did not succeed. None where nothing was simulated;
    `reason` says why.
    """

    power: Estimate | None
    width: Estimate | None
    undefined: int
    seed: int
    reason: Message | None = None


def simulated_study(request: SizingRequest, origin: Origin, n_readers: int, n_cases: int) -> Simulated:
    """`request.simulate` studies of this size, each analysed by the primary analysis of its design."""
    try:
        drawn = _drawer(request, origin, n_readers, n_cases)
    except NoModel as error:
        return Simulated(None, None, 0, request.seed, say("sizing.reason.no_model", why=str(error)))
    except _NotSimulated as error:
        return Simulated(None, None, 0, request.seed, error.reason)
    rng = generator(request.seed, "sizing", request.design, str(n_readers), str(n_cases))
    succeeded, widths, undefined = 0, [], 0
    for _ in range(request.simulate):
        lead = drawn(rng)
        if isnan(lead.low):
            undefined += 1
            continue
        widths.append(lead.high - lead.low)
        succeeded += success(request, lead)
    n = request.simulate
    power = None if request.hypothesis == "superiority" and not request.effect else wilson(succeeded, n, 0.95)
    width = None
    if len(widths) > 1:
        mean, spread = float(np.mean(widths)), float(np.var(widths, ddof=1)) / len(widths)
        width = symmetric(mean, max(spread, 1e-30), len(widths))
    return Simulated(power, width, undefined, request.seed)


def success(request: SizingRequest, lead: Estimate) -> bool:
    """Whether the interval of a study shows what it was planned to show."""
    margin = request.margin or 0.0
    if request.hypothesis == "superiority":
        return lead.low > 0 or lead.high < 0
    return lead.low > -margin and (request.hypothesis == "non_inferiority" or lead.high < margin)


class _NotSimulated(Exception):
    def __init__(self, reason: Message) -> None:
        super().__init__(reason.key)
        self.reason = reason


def _drawer(
    request: SizingRequest, origin: Origin, n_readers: int, n_cases: int
) -> Callable[[np.random.Generator], Estimate]:
    """A function that draws one study and gives its primary estimate."""
    per_patient = round(request.cases_per_patient)
    if abs(per_patient - request.cases_per_patient) > 1e-9:
        raise _NotSimulated(say("sizing.reason.patients_not_whole"))
    own_cases = request.design == "sites" and request.site_cases == "own"
    blocks = request.groups or (request.sites if own_cases else None) or 1
    patients = max(round(n_cases * _positive(request) / blocks / per_patient), 2)
    others = max(round(n_cases * (1 - _positive(request)) / blocks / per_patient), 2) if origin.area else 0
    size = _Size(n_readers, patients, others, per_patient, blocks)
    means = np.array([origin.mean + request.true_difference, origin.mean])
    middle = origin.mean if request.design == "device" else float(means.mean())
    of_block = (patients * per_patient, others * per_patient if origin.area else 1)
    variances = origin.variances(of_block[0], of_block[1], middle)
    if request.carry_over and origin.exact is None:
        repeated = request.carry_over * variances.error
        variances = replace(
            variances, reader_case=variances.reader_case + repeated, error=variances.error - repeated
        )
    level = 1 - request.alpha
    if request.design == "device":
        return lambda rng: _device(rng, request, origin.area, means, variances, size, level)
    return lambda rng: _arms(rng, request, origin.area, means, variances, size, level)


def _positive(request: SizingRequest) -> float:
    return request.share_positive if request.endpoint == "auc" else 1.0


@dataclass(frozen=True, slots=True)
class _Size:
    """Patients of each class in one block, cases of a patient, and blocks with readers of their own."""

    readers: int
    patients: int
    others: int
    per_patient: int
    blocks: int


def _arms(
    rng: np.random.Generator,
    request: SizingRequest,
    area: bool,
    means: Floats,
    variances: Variances,
    size: _Size,
    level: float,
) -> Estimate:
    site_share = request.site_share or 0.0
    common = replace(NOTHING, arm_reader=site_share * variances.arm_reader)
    of_reader = replace(variances, arm_reader=(1 - site_share) * variances.arm_reader)
    within = size.readers // size.blocks
    sites_of_block = (request.sites or 1) // size.blocks if request.sites else 1
    blocks = []
    for _ in range(size.blocks):
        truth, rating = _rated(rng, request, area, means, of_reader, size, within)
        if request.sites and site_share:
            rating = rating + _of_sites(rng, common, truth, sites_of_block, within)
        blocks.append((truth, rating))
    if request.sites:
        return _sites_difference(blocks, request, area, size, level)
    if size.blocks > 1:
        return _split(blocks, area, size, level)
    truth, rating = blocks[0]
    fit = fitted(rating, truth, area, size.per_patient)
    return _lead(fit, lambda mode: fit.difference(0, 1, mode=mode, level=level))


def _rated(
    rng: np.random.Generator,
    request: SizingRequest,
    area: bool,
    means: Floats,
    variances: Variances,
    size: _Size,
    readers: int,
) -> tuple[Bools, Floats]:
    """Truth and ratings (2, readers, cases) of a block; the cases of a patient are next to each other.

    Ratings of decisions are about their threshold, 0.
    """
    mu = ndtri(means) * sqrt(variances.total * (2 if area else 1))
    alike = _rating_correlation(request, area, float(means.mean())) if size.per_patient > 1 else 0.0
    names = ("case", "arm_case", "reader_case", "error")
    own = {name: (1 - alike) * getattr(variances, name) for name in names}
    shared = {name: alike * getattr(variances, name) for name in names}
    m = size.per_patient
    many: dict[str, Any] = {
        "n_readers": readers,
        "n_positives": size.patients * m,
        "n_negatives": max(size.others * m, 1),
    }
    truth, rating = roe_metz(mu, replace(variances, **own), rng=rng, **many)
    if alike:
        many = {"n_readers": readers, "n_positives": size.patients, "n_negatives": max(size.others, 1)}
        of_patient, part = roe_metz(np.zeros_like(mu), replace(NOTHING, **shared), rng=rng, **many)
        # Without others the one negative case is left out below.
        repeats = np.where(of_patient | bool(size.others), m, 1)
        rating = rating + np.repeat(part, repeats, axis=-1)
    if not area:
        truth, rating = truth[truth], rating[..., truth]
    return truth, rating


def _rating_correlation(request: SizingRequest, area: bool, mean: float) -> float:
    """The correlation of a patient's ratings that gives the declared one, which for decisions is theirs."""
    declared = request.patient_correlation or 0.0
    if area or not 0 < declared < 1:
        return declared
    z = float(ndtri(mean))
    wanted = declared * excess(z, z, 1.0)
    return float(brentq(lambda rho: excess(z, z, rho) - wanted, 0.0, 1.0))


def _of_sites(rng: np.random.Generator, common: Variances, truth: Bools, sites: int, readers: int) -> Floats:
    """What the readers of a site have in common, by class of truth."""
    of_class, drawn = roe_metz(np.zeros(2), common, n_readers=sites, n_positives=1, n_negatives=1, rng=rng)
    site = np.arange(readers) * sites // readers
    by_class = drawn[:, site]
    found: Floats = np.where(truth, by_class[..., of_class], by_class[..., ~of_class])
    return found


def fitted(rating: Floats, truth: Bools, area: bool, per_patient: int) -> ObuchowskiRockette:
    """The fit of crossed ratings (arms, readers, cases), with patients as the unit."""
    theta, covariance, n = estimates(rating, truth, area, per_patient)
    return obuchowski_rockette(theta, covariance, n)


def estimates(rating: Floats, truth: Bools, area: bool, per_patient: int) -> tuple[Floats, Floats, int]:
    """Each reader's estimate in each arm, their covariance over patients, and the patients."""
    n = rating.shape[-1] // per_patient
    if not area:
        outcome = _by_patient((rating >= 0).astype(np.float64), per_patient)
        return proportions(outcome), proportion_covariance(outcome), n
    if per_patient == 1:
        return reader_auc(rating, truth), auc_covariance(rating, truth, "delong"), n
    rows = rating.reshape(-1, rating.shape[-1])
    parts = [placements(truth, row) for row in rows]
    theta = np.array([one.mean() for one, _ in parts]).reshape(rating.shape[:2])
    covariance = np.zeros((len(rows), len(rows)))
    for k in (0, 1):
        values = _by_patient(np.array([part[k] for part in parts]), per_patient)
        covariance += np.cov(values) / values.shape[1]
    return theta, covariance, n


def _by_patient(values: Floats, per_patient: int) -> Floats:
    if per_patient == 1:
        return values
    return values.reshape(*values.shape[:-1], -1, per_patient).mean(axis=-1)


def _lead(fit: ObuchowskiRockette, of: Callable[..., Estimate]) -> Estimate:
    return leading(of("or_rrrc"), of("or_frrc"), fit.n_readers)


def _split(blocks: list[tuple[Bools, Floats]], area: bool, size: _Size, level: float) -> Estimate:
    """Groups of readers with cases of their own, by the U-statistic."""
    if area and size.per_patient > 1:
        raise _NotSimulated(say("sizing.reason.not_simulated"))
    if size.readers == size.blocks:  # each reader has cases of the own: nobody shares any
        return _independent([_mean_difference(*one, area, size) for one in blocks], level)
    values = [_outcomes(rating, area, size.per_patient) for _, rating in blocks]
    within, cases = values[0].shape[1:]
    whole = np.full((2, size.readers, cases * size.blocks), np.nan)
    for g, one in enumerate(values):
        whole[:, g * within : (g + 1) * within, g * cases : (g + 1) * cases] = one
    if not area:
        return ustatistic(whole, centred=True).difference(0, 1, level=level)
    truth = np.concatenate([truth for truth, _ in blocks])
    return auc_ustatistic(whole, truth, centred=True).difference(0, 1, level=level)


def _outcomes(rating: Floats, area: bool, per_patient: int) -> Floats:
    return rating if area else _by_patient((rating >= 0).astype(np.float64), per_patient)


def _mean_difference(truth: Bools, rating: Floats, area: bool, size: _Size) -> float:
    theta = estimates(rating, truth, area, size.per_patient)[0]
    return float((theta[0] - theta[1]).mean())


def _independent(differences: list[float], level: float) -> Estimate:
    """Student's t of independent differences."""
    n = len(differences)
    variance = float(np.var(differences, ddof=1)) / n
    return symmetric(float(np.mean(differences)), max(variance, 1e-30), n, df=n - 1.0, level=level)


def _sites_difference(
    blocks: list[tuple[Bools, Floats]], request: SizingRequest, area: bool, size: _Size, level: float
) -> Estimate:
    """Each site's mean in the place of a reader."""
    sites = request.sites or 1
    if size.blocks > 1:
        return _independent([_mean_difference(*one, area, size) for one in blocks], level)
    truth, rating = blocks[0]
    theta, covariance, n = estimates(rating, truth, area, size.per_patient)
    within = size.readers // sites
    mean = np.kron(np.eye(2 * sites), np.full((1, within), 1 / within))
    fit = obuchowski_rockette((mean @ theta.ravel()).reshape(2, sites), mean @ covariance @ mean.T, n)
    return _lead(fit, lambda mode: fit.difference(0, 1, mode=mode, level=level))


def _device(
    rng: np.random.Generator,
    request: SizingRequest,
    area: bool,
    means: Floats,
    variances: Variances,
    size: _Size,
    level: float,
) -> Estimate:
    """A device that reads every case like one more reader, less the mean of the readers."""
    if size.per_patient > 1:
        raise _NotSimulated(say("sizing.reason.not_simulated"))
    one_arm = Variances(
        variances.reader + variances.arm_reader,
        0,
        variances.case + variances.arm_case,
        0,
        variances.reader_case + variances.error,
        0,
    )
    total, rho = one_arm.total, request.device_correlation or 0.0
    if rho**2 * total > one_arm.case + 1e-12:
        raise _NotSimulated(say("sizing.reason.device"))
    many: dict[str, Any] = {"n_positives": size.patients, "n_negatives": max(size.others, 1), "rng": rng}
    truth, shared = roe_metz([0.0], replace(NOTHING, case=one_arm.case), n_readers=1, **many)
    mu = ndtri(means) * sqrt(total * (2 if area else 1))
    rating = shared + roe_metz([mu[1]], replace(one_arm, case=0.0), n_readers=size.readers, **many)[1]
    weight = rho * total / one_arm.case if one_arm.case else 0.0
    rest = max(total - weight**2 * one_arm.case, 0.0)
    device = weight * shared + roe_metz([mu[0]], replace(NOTHING, error=rest), n_readers=1, **many)[1]
    every = np.concatenate([device, rating], axis=1)
    if not area:
        truth, every = truth[truth], every[..., truth]
    theta, covariance, n = estimates(every, truth, area, 1)
    less = np.hstack([np.ones((size.readers, 1)), -np.eye(size.readers)])
    fit = obuchowski_rockette((less @ theta[0])[None], less @ covariance @ less.T, n)
    return _lead(fit, lambda mode: fit.arm_mean(0, mode=mode, level=level))
