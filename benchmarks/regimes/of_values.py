"""Regimes of measured values, counts and preferences, and of labels that are wrong at a known rate.

Values are normal about a reference; the error of a device has a bias, and in clusters a part of its own for
each patient. Readers have a bias each, and every case an error that all readers share. Labels and decisions
err independently, as the correction takes them to.
"""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import combinations, product
from math import hypot

import numpy as np

from regimes.regime import Found, Regime, coded, plan
from trustreport.assessment.dimensions.measurement import preferences
from trustreport.assessment.dimensions.measurement.judges import results_of_judges
from trustreport.assessment.dimensions.measurement.results import MeasuredValues, measured
from trustreport.measures.confusion.label_error import NAMES, LabelError, corrected_for_labels
from trustreport.measures.confusion.latent_class import latent_classes
from trustreport.measures.measured.preference import strengths
from trustreport.study.clusters import with_clusters
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Labels, Preferences, Readers, Study, Values
from trustreport.vocabulary.place import Place

BIAS, MIDDLE, SPREAD, ERROR, SHARED = 1.0, 50.0, 8.0, 2.0, 1.2
ACCEPTABLE = 3.0
BY_READER, BY_CASE, BY_READING = 1.0, 1.5, 2.0
UNAIDED = 1.6  # times the error of a reading without the aid
BY_PERSON, BY_AID = 0.4, 0.2  # SD of the logarithm of what a reader finds, and of what the aid changes
MANY = 400_000
LEADS = (0.5, 0.2, -0.7)  # of three outputs, in log odds


def _plan(**facts: object) -> Plan:
    return plan(measurements=[{"measurement": "value", **facts}])


def _cases(n: int, patient: np.ndarray | None = None) -> Cases:
    return Cases(Labels(n=n), np.full(n, -1, np.int8), patient=None if patient is None else coded(patient))


def _found(values: Values, given: Plan) -> Found:
    for one in measured(Study(arms=("unaided", "aided"), values=(values,)), given):
        for r in one.results:
            if r.place.reader is None and r.name not in ("linearity", "icc"):
                arm = f", {r.place.arm}" if r.place.arm else ", change" if r.place.arms else ""
                yield f"{r.name}{arm}", r.estimate


def _slope(sd: float) -> float:
    """Deming's slope of values with an error of that SD against the reference, which has none."""
    apart, p = sd**2, SPREAD**2
    return (apart + hypot(apart, 2 * p)) / (2 * p)


def _true_of_device(of: int = MANY) -> dict[str, float]:
    rng = np.random.default_rng(1)
    x = rng.normal(MIDDLE, SPREAD, of)
    d = BIAS + rng.normal(0, hypot(ERROR, SHARED), of)
    y, size, sd = x + d, np.abs(d), hypot(ERROR, SHARED)
    u, w, p = SPREAD**2, SPREAD**2 + sd**2, SPREAD**2
    slope = _slope(sd)
    return {
        "bias": BIAS,
        "lower_limit_of_agreement": BIAS - 1.96 * sd,
        "upper_limit_of_agreement": BIAS + 1.96 * sd,
        "mean_absolute_error": float(size.mean()),
        "root_mean_square_error": hypot(BIAS, sd),
        "total_deviation_index": float(np.quantile(size, 0.95)),
        "acceptable_share": float((size <= ACCEPTABLE).mean()),
        "concordance_correlation": 2 * p / (u + w + BIAS**2),
        "deming_slope": slope,
        "deming_intercept": float(y.mean() - slope * x.mean()),
    }


@cache
def _device() -> Mapping[str, float]:
    return _true_of_device()


@cache
def _readers() -> Mapping[str, float]:
    """Of a reader and a case drawn at random, the readings without the aid with a wider error."""
    rng = np.random.default_rng(2)
    reader, case, own = rng.standard_normal((3, MANY))
    found: dict[str, float] = {}
    for arm, times in (("unaided", UNAIDED), ("aided", 1.0)):
        error = BY_READER * reader + BY_CASE * case + times * BY_READING * own
        found[f"bias, {arm}"] = 0.0
        found[f"mean_absolute_error, {arm}"] = float(np.abs(error).mean())
        between = 1.96 * np.sqrt(2 * (BY_READER**2 + (times * BY_READING) ** 2))
        found[f"limit_between_readers, {arm}"] = float(between)
        spread = float(np.sqrt(BY_READER**2 + BY_CASE**2 + (times * BY_READING) ** 2))
        slope = _slope(spread)
        found |= {
            f"root_mean_square_error, {arm}": spread,
            f"total_deviation_index, {arm}": float(np.quantile(np.abs(error), 0.95)),
            f"concordance_correlation, {arm}": 2 * SPREAD**2 / (2 * SPREAD**2 + spread**2),
            f"deming_slope, {arm}": slope,
            f"deming_intercept, {arm}": MIDDLE * (1 - slope),
        }
        within = 1.96 * np.sqrt(BY_READER**2 + BY_CASE**2 + (times * BY_READING) ** 2)
        found[f"lower_limit_of_agreement, {arm}"] = -float(within)
        found[f"upper_limit_of_agreement, {arm}"] = float(within)
    change = found["mean_absolute_error, aided"] - found["mean_absolute_error, unaided"]
    found["bias_difference, change"], found["mean_absolute_error_difference, change"] = 0.0, change
    within = BY_READING**2 * (1 + UNAIDED**2)
    return found | {
        "limit_within_reader, change": float(1.96 * np.sqrt(within)),
        "limit_between_arms, change": float(1.96 * np.sqrt(within + 2 * BY_READER**2)),
    }


def values() -> Iterator[Regime]:
    """A device beside a reference, alone and in patients; readers; counts of two devices."""
    given = _plan(acceptable=ACCEPTABLE)
    for n, patients in ((30, 0), (100, 0), (90, 30), (200, 50)):

        def device(rng: np.random.Generator, n: int = n, patients: int = patients) -> Found:
            patient = np.arange(n) % patients if patients else np.arange(n)
            x = rng.normal(MIDDLE, SPREAD, n)
            d = BIAS + rng.normal(0, SHARED, n)[patient] + rng.normal(0, ERROR, n)
            cases = _cases(n, patient if patients else None)
            yield from _found(Values("value", cases, ("",), (x + d)[None, None], reference=x), given)

        topic = "measured values in clusters" if patients else "measured values"
        design = f"{n} cases" + (f" of {patients} patients" if patients else "")
        yield Regime(topic, design, _device, device, cost=0.01)
    for readers, n in ((4, 40), (8, 60)):

        def read(rng: np.random.Generator, readers: int = readers, n: int = n) -> Found:
            x = rng.normal(MIDDLE, SPREAD, n)
            shared = BY_READER * rng.standard_normal((readers, 1)) + BY_CASE * rng.standard_normal(n)
            own = BY_READING * rng.standard_normal((2, readers, n))
            grid = x + shared + own * np.array([UNAIDED, 1.0])[:, None, None]
            people = Readers(Labels(n=readers))
            arms = ("unaided", "aided")
            yield from _found(Values("value", _cases(n), arms, grid, "arm", x, readers=people), _plan())

        yield Regime("values of readers", f"{readers} readers, {n} cases", _readers, read, cost=0.05)
    counted = _plan(kind="count", better="down")
    for n, rate in product((60, 200), (0.5, 2.0)):

        def counts(rng: np.random.Generator, n: int = n, rate: float = rate) -> Found:
            shared = rng.gamma(2.0, 0.5, n)
            grid = np.stack([rng.poisson(times * rate * shared) for times in (0.8, 1.0)])[:, None]
            yield from _found(Values("value", _cases(n), ("new", "old"), grid.astype(float)), counted)

        true = partial(dict, count_ratio=0.8, mean_loss_difference=-0.2 * rate)
        yield Regime("counts of cases", f"{n} cases, {rate:g} a case", true, counts, cost=0.01)
    yield from _counts_of_readers(counted)
    yield from _ratings_of_readers(_plan(kind="ordinal", scale=[1, 5], better="up"))


def _counts_of_readers(given: Plan) -> Iterator[Regime]:
    """Counts by readers who differ in how much they find, and in what the aid does to it."""
    for (readers, n), rate in product(((4, 40), (8, 60)), (0.5, 2.0)):

        def study(rng: np.random.Generator, readers: int = readers, n: int = n, rate: float = rate) -> Found:
            strict = np.exp(rng.normal(0, BY_PERSON, (readers, 1))) * rng.gamma(2.0, 0.5, n)
            aid = 0.8 * np.exp(rng.normal(0, BY_AID, (readers, 1)))
            grid = np.stack([rng.poisson(rate * strict), rng.poisson(rate * strict * aid)]).astype(float)
            people = Readers(Labels(n=readers))
            arms = ("unaided", "aided")
            yield from _found(Values("value", _cases(n), arms, grid, "arm", readers=people), given)

        true = {"count_ratio, change": 0.8 * float(np.exp(BY_AID**2 / 2))}
        design = f"{readers} readers, {n} cases, {rate:g} a case"
        yield Regime("counts of readers", design, partial(dict, true), study, cost=0.05)


def _rated(rng: np.random.Generator, readers: int, n: int) -> np.ndarray:
    """Ratings of 1 to 5 by readers of fixed strictness, (n_readers, n)."""
    seen = rng.normal(3, 1, n) + np.linspace(-0.4, 0.4, readers)[:, None] + rng.normal(0, 0.7, (readers, n))
    return np.asarray(np.clip(np.round(seen), 1, 5))


@cache
def _kappa_of_ratings(readers: int) -> Mapping[str, float]:
    """The mean of Cohen's kappa with quadratic weights over the pairs of the readers."""
    rated = _rated(np.random.default_rng(4), readers, MANY)
    pairs = []
    for one, other in combinations(rated, 2):
        apart = np.mean((one - other) ** 2)
        pairs.append(1 - apart / (np.var(one) + np.var(other) + (one.mean() - other.mean()) ** 2))
    return {"weighted_kappa": float(np.mean(pairs))}


def _ratings_of_readers(given: Plan) -> Iterator[Regime]:
    """Ratings of images, read once by each reader."""
    for readers, n in product((2, 5), (40, 150)):

        def study(rng: np.random.Generator, readers: int = readers, n: int = n) -> Found:
            people = Readers(Labels(n=readers))
            grid = _rated(rng, readers, n)[None]
            yield from _found(Values("value", _cases(n), ("aided",), grid, "arm", readers=people), given)

        design = f"{readers} readers, {n} cases"
        yield Regime("ratings of readers", design, partial(_kappa_of_ratings, readers), study, cost=0.02)


def _true_of_labels(p: float, se: float, sp: float) -> dict[str, float]:
    called = p * se + (1 - p) * (1 - sp)
    truth = {"sensitivity": se, "specificity": sp, "prevalence": p, "ppv": p * se / called}
    truth["npv"] = (1 - p) * sp / (1 - called)
    return {f"label_corrected_{name}": value for name, value in truth.items()}


def labels() -> Iterator[Regime]:
    """Decisions against labels of known or measured error."""
    for (n, p), (se, sp), measured_in in product(
        ((500, 0.3), (2000, 0.1)), ((0.8, 0.9), (0.95, 0.95)), (None, 200)
    ):

        def study(
            rng: np.random.Generator,
            n: int = n,
            p: float = p,
            se: float = se,
            sp: float = sp,
            measured_in: int | None = measured_in,
        ) -> Found:
            right = (0.95, 0.97)
            ill = rng.random(n) < p
            called = rng.random(n) < np.where(ill, se, 1 - sp)
            label = rng.random(n) < np.where(ill, right[0], 1 - right[1])
            rates = [rng.binomial(measured_in, x) / measured_in if measured_in else x for x in right]
            error = LabelError(rates[0], rates[1], measured_in, measured_in)
            for name in NAMES:
                yield f"label_corrected_{name}", corrected_for_labels(name, label, called, error)

        how = f"measured in {measured_in} of a class" if measured_in else "known"
        design = f"{n} cases, prevalence {p:g}, {se:g} and {sp:g}, error {how}"
        yield Regime("labels with error", design, partial(_true_of_labels, p, se, sp), study, cost=0.005)


def latent() -> Iterator[Regime]:
    """A device and reference tests that err independently of each other, none taken as right."""
    good, weak = ((0.85, 0.95), (0.8, 0.9)), ((0.7, 0.85), (0.75, 0.8))
    for n, patients, p, device, references in (
        (300, 0, 0.3, (0.9, 0.9), good),
        (1000, 0, 0.3, (0.9, 0.9), good),
        (1000, 0, 0.1, (0.95, 0.95), good),
        (1000, 0, 0.3, (0.8, 0.9), weak),
        (1000, 0, 0.1, (0.9, 0.9), (*good, (0.9, 0.85))),
        (1000, 100, 0.3, (0.9, 0.9), good),
    ):
        rates = np.array([device, *references])[:, :, None]

        def study(
            rng: np.random.Generator,
            n: int = n,
            patients: int = patients,
            p: float = p,
            rates: np.ndarray = rates,
        ) -> Found:
            patient = np.arange(n) % patients if patients else None
            share = p if patient is None else rng.beta(2 * p, 2 * (1 - p), patients)[patient]
            ill = rng.random(n) < share
            results = rng.random((len(rates), n)) < np.where(ill, rates[:, 0], 1 - rates[:, 1])
            found = latent_classes(results, rng=rng, cluster=patient)
            yield from ((f"label_corrected_{name}", e) for name, e in found.device.items())
            yield from zip(("reference_sensitivity", "reference_specificity"), found.references[0])

        true = _true_of_labels(p, *device)
        true |= dict(zip(("reference_sensitivity", "reference_specificity"), references[0]))
        tests = ", ".join(f"{se:g} and {sp:g}" for se, sp in (device, *references))
        design = f"{n} cases" + (f" of {patients} patients" if patients else "")
        design = f"{design}, prevalence {p:g}, tests {tests}"
        yield Regime("latent class", design, partial(dict, true), study, cost=0.1)


def choices() -> Iterator[Regime]:
    """Choices of readers between two outputs, of readers and cases that differ."""
    for readers, n, lead in product((4, 8), (30, 60), (0.0, 0.8)):

        def study(rng: np.random.Generator, readers: int = readers, n: int = n, lead: float = lead) -> Found:
            reader, case = (index.ravel() for index in np.indices((readers, n)))
            pull = lead + 0.4 * rng.standard_normal(readers)[reader] + 0.6 * rng.standard_normal(n)[case]
            won = (rng.random(reader.size) < 1 / (1 + np.exp(-pull))).astype(float)
            turned = (reader + case) % 2
            share = np.where(turned == 1, 1 - won, won)
            one = Preferences(
                "", Readers(Labels(n=readers)), _cases(n), ("a", "b"),
                reader.astype(np.int32), case.astype(np.int32),
                turned.astype(np.int32), (1 - turned).astype(np.int32), share,
            )  # fmt: skip
            for r in preferences.results_of(one, plan()):
                yield r.name, r.estimate

        yield Regime(
            "preferences",
            f"{readers} readers, {n} cases, lead {lead:g}",
            partial(_preferred, lead),
            study,
            cost=0.01,
        )
    for readers, n in product((4, 8), (30, 60)):

        def among_three(rng: np.random.Generator, readers: int = readers, n: int = n) -> Found:
            of = _three(
                rng, np.repeat(np.arange(readers), 3 * n), np.tile(np.repeat(np.arange(n), 3), readers)
            )
            one = Preferences("", Readers(Labels(n=readers)), _cases(n), ("a", "b", "c"), *of)
            for r in preferences.results_of(one, plan()):
                if r.name == "preference_strength":
                    yield f"{r.name}, {r.place.candidate}", r.estimate

        yield Regime(
            "preferences of three", f"{readers} readers, {n} cases", _strengths, among_three, cost=0.05
        )


def _three(rng: np.random.Generator, reader: np.ndarray, case: np.ndarray) -> tuple[np.ndarray, ...]:
    """Choices in turn between a and b, a and c, b and c: reader, case, first, second and share."""
    taste = 0.4 * rng.standard_normal((int(reader.max()) + 1, 3))
    shown = 0.6 * rng.standard_normal((int(case.max()) + 1, 3))
    worth = np.array(LEADS) + taste[reader] + shown[case]
    first, second = (np.tile(side, len(reader) // 3) for side in ((0, 0, 1), (1, 2, 2)))
    rows = np.arange(len(reader))
    pull = worth[rows, first] - worth[rows, second]
    share = (rng.random(len(reader)) < 1 / (1 + np.exp(-pull))).astype(float)
    return (*(part.astype(np.int32) for part in (reader, case, first, second)), share)


@cache
def _strengths() -> Mapping[str, float]:
    """What the model gives for readers and cases of which each makes one choice only."""
    each = np.arange(3 * MANY)
    _, _, first, second, share = _three(np.random.default_rng(5), each, each)
    found = strengths(first, second, share, 3)
    return {f"preference_strength, {name}": float(value) for name, value in zip("abc", found)}


@cache
def _preferred(lead: float) -> dict[str, float]:
    rng = np.random.default_rng(3)
    pull = lead + hypot(0.4, 0.6) * rng.standard_normal(MANY)
    return {"preference_share": float((1 / (1 + np.exp(-pull))).mean()), "first_shown_share": 0.5}


SEVERITY, LENIENCY, FINENESS = (
    0.25,
    0.3,
    0.5,
)  # of people, of the judge, of a rating
LEVELS = {"new": 3.8, "old": 4.1}
FIXED = (-0.3, 0.0, 0.2)  # the severity of people who are always the same


def _ratings(level: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.clip(np.round(level + FINENESS * rng.standard_normal(level.shape)), 1, 5)


def _quality(n: int, patients: int, rng: np.random.Generator) -> np.ndarray:
    """How good the outputs for a case are, apart from their source: half of the variance is the patient's."""
    patient = np.arange(n) % patients if patients else np.arange(n)
    return 0.5 * rng.standard_normal(n)[patient] + 0.5 * rng.standard_normal(n)


@cache
def _judged(good: float, fixed: bool, bound: int) -> Mapping[str, float]:
    rng = np.random.default_rng(4)
    quality = _quality(MANY, 0, rng)
    severity = np.array(FIXED)[:, None] if fixed else SEVERITY * rng.standard_normal((1, MANY))
    found: dict[str, float] = {}
    for source, level in LEVELS.items():
        people, judge = (
            _ratings(level + quality - severity, rng),
            _ratings(level + LENIENCY + good * quality, rng),
        )
        of = f", {source}"
        if fixed:
            of_person = [_kappas(judge, person, bound) for person in people]
            found["judge_weighted_kappa" + of], found["judge_acceptable_kappa" + of] = np.mean(
                of_person, axis=0
            )
        else:
            found["judge_bias" + of] = float(judge.mean() - people.mean())
            found["judge_corrected_mean_score" + of] = float(people.mean())
            found["judge_corrected_acceptable_share" + of] = float((people >= bound).mean())
    for name in () if fixed else ("mean_score", "acceptable_share"):
        new, old = (found[f"judge_corrected_{name}, {source}"] for source in LEVELS)
        found[f"judge_corrected_{name}_difference"] = new - old
    return found


def _kappas(first: np.ndarray, second: np.ndarray, bound: int) -> tuple[float, float]:
    """Quadratic weighted kappa, and kappa of what is acceptable, of two raters."""
    apart = (first - second) ** 2
    by_chance = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    yes, too = first >= bound, second >= bound
    chance = yes.mean() * too.mean() + (1 - yes.mean()) * (1 - too.mean())
    return float(1 - apart.mean() / by_chance), float(((yes == too).mean() - chance) / (1 - chance))


def judges() -> Iterator[Regime]:
    """A model that rated all outputs, and people, drawn or always the same, who rated a random part."""
    for people, read, n, patients, good, bound in (
        (3, 20, 200, 0, 1.0, 3), (3, 60, 300, 0, 1.0, 4), (5, 30, 300, 0, 1.0, 3), (5, 60, 300, 0, 0.0, 4),
        (8, 100, 400, 0, 1.0, 4), (5, 60, 300, 60, 1.0, 3), (4, 40, 120, 60, 1.0, 4),
        (0, 100, 300, 0, 1.0, 4), (0, 150, 500, 0, 1.0, 4), (0, 150, 300, 100, 1.0, 4),
    ):  # fmt: skip
        facts = {"kind": "ordinal", "scale": [1, 5], "better": "up", "acceptable": bound}
        declared = _plan(**facts, judges=["J"], read_by_people="at_random")

        def study(
            rng: np.random.Generator,
            people: int = people,
            read: int = read,
            n: int = n,
            patients: int = patients,
            good: float = good,
            given: Plan = declared,
        ) -> Found:
            quality, many = _quality(n, patients, rng), people or len(FIXED)
            severity = SEVERITY * rng.standard_normal((many, 1)) if people else np.array(FIXED)[:, None]
            levels = np.array(list(LEVELS.values()))[:, None, None]
            by_people = _ratings(levels + quality - severity, rng)
            by_people[..., rng.permutation(n)[read:]] = np.nan
            by_judge = _ratings(levels + LENIENCY + good * quality, rng)
            labels = Labels(tuple(map(str, range(n))))
            of = {"labels": labels, "truth": np.full(n, -1, np.int8)}
            cases = Cases(**of, patient=coded(np.arange(n) % patients) if patients else None)
            of_people = Values("value", cases, tuple(LEVELS), by_people, readers=Readers(Labels(n=many)))
            of_judge = Values("value", cases, tuple(LEVELS), by_judge, judges=("J",))
            drawn = with_clusters(Study(values=(of_people, of_judge)), given)
            place = (MeasuredValues(drawn.values[0], given.measurements[0], Place(), given), drawn)
            for r in results_of_judges(*place):
                yield f"{r.name}{f', {r.place.candidate}' if r.place.candidate else ''}", r.estimate

        who = f"{people} people drawn" if people else "3 people, always the same"
        design = f"{who}, {read} of {n} cases" + (f" of {patients} patients" if patients else "")
        design += f", acceptable from {bound}" + ("" if good else ", a judge that guesses")
        yield Regime("judges", design, partial(_judged, good, not people, bound), study, cost=0.02)
