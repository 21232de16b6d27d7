"""What was planned: components of variance, and tests of non-inferiority.

Designs differ in what is independent in them. Readers may be in *groups* that read cases of their own
(split plot), and in *sites*, whose mean takes the place of a reader; cases may be several of one patient.
"""

from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt
from typing import Literal

from scipy.special import ndtr, stdtr

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.in_range import reference_df, statistic
from trustreport.measures.mrmc.interval import NEGLIGIBLE, NORMAL_FROM, quantile
from trustreport.measures.mrmc.power import Components, equivalence_power, one_sided_power, two_sided_power
from trustreport.measures.note import NO_NOTE, Note, note

Hypothesis = Literal["superiority", "non_inferiority", "equivalence"]


@dataclass(frozen=True, slots=True)
class PlannedDifference:
    """What to expect of the estimated difference: its standard error and degrees of freedom.

    `df` is infinite for the normal distribution. NaN where the design cannot be analysed; `note` says why.
    """

    se: float
    df: float
    note: Note = NO_NOTE

    def power(
        self, difference: float, hypothesis: Hypothesis, *, alpha: float = 0.05, margin: float = nan
    ) -> float:
        """Chance that the test comes out as wished where the true difference is `difference`.

        Superiority is tested on both sides at `alpha`, the margins on one side each at `alpha` / 2: what
        the interval of level 1 - `alpha` shows.
        """
        if not self.se > 0:
            return nan
        if hypothesis == "superiority":
            return two_sided_power((difference / self.se) ** 2, self.df, alpha)
        if hypothesis == "non_inferiority":
            return one_sided_power((difference + margin) / self.se, self.df, alpha / 2)
        return equivalence_power(difference, margin, self.se, self.df, alpha / 2)

    def width(self, level: float = 0.95) -> float:
        """Width of the interval to expect."""
        return 2 * quantile(self.df, level) * self.se if self.se > 0 else nan


def planned_difference(
    pilot: Components, n_readers: int, n_cases: float, *, groups: int = 1, fixed_readers: bool = False
) -> PlannedDifference:
    """The difference of two arms, readers in groups of equal size that read equal shares of the cases.

    With r readers, G groups of m = r / G, s = G x the pilot's cases / `n_cases`::

        among = arm_reader + s (own - shared),  D = among + m s shared,  variance = 2 D / r
        df = D^2 (r - G) / among^2,  with one reader in each group r - 1
        fixed readers: D = s (own + (m - 1) shared), normal

    G = 1 is the crossed design of `power`. Each reader with cases of the own is G = r.

    Parameters
    ----------
    pilot : Components
        For a study of `pilot.n_cases` cases.
    n_readers, groups : int
        Readers must divide among the groups.
    n_cases : float
        Of the class that the endpoint needs, in all groups together.

    References
    ----------
    Obuchowski (2009), Acad. Radiol. 16, 764-771 (split plot).
    Hillis (2014), Stat. Med. 33, 330-360 (degrees of freedom).
    """
    if n_readers % groups:
        raise ValueError(f"{n_readers} readers do not divide into {groups} groups.")
    within, scale = n_readers // groups, groups * pilot.n_cases / n_cases
    if fixed_readers:
        error = scale * (pilot.own + (within - 1) * pilot.shared)
        return _planned(error, inf, n_readers)
    if n_readers < 2:
        return PlannedDifference(nan, nan, note("one_reader_nothing_can_be_said"))
    if within == 1:
        return _planned(pilot.arm_reader + scale * pilot.own, n_readers - 1.0, n_readers)
    among = pilot.arm_reader + scale * (pilot.own - pilot.shared)
    error = among + within * scale * pilot.shared
    df = error**2 * (n_readers - groups) / among**2 if among > NEGLIGIBLE else inf
    return _planned(error, df, n_readers)


def _planned(error: float, df: float, n_readers: int) -> PlannedDifference:
    if not error > NEGLIGIBLE:
        return PlannedDifference(nan, nan, note("variance_components_add_up_to_nothing"))
    return PlannedDifference(sqrt(2 * error / n_readers), df)


def by_site(pilot: Components, readers_per_site: int, site_share: float) -> Components:
    """The components of a site's mean, for an analysis in which each site is a reader.

    With m readers at a site and the share p of `arm_reader` that is common to a site::

        arm_reader (p + (1 - p) / m),  own = (own + (m - 1) shared) / m,  shared as it is
    """
    m = readers_per_site
    arm_reader = pilot.arm_reader * (site_share + (1 - site_share) / m)
    return replace(pilot, arm_reader=arm_reader, own=(pilot.own + (m - 1) * pilot.shared) / m)


def carried_over(pilot: Components, share: float) -> Components:
    """The components where a reader's second reading of a case repeats a share of the first one's own error.

    ``own - shared`` is what a reader differs on one case from one arm to the other; a second look that
    begins with the first keeps 1 - `share` of it.
    """
    return replace(pilot, own=pilot.shared + (1 - share) * (pilot.own - pilot.shared))


def design_effect(per_patient: float, correlation: float) -> float:
    """How many cases of which several are one patient's weigh as one independent case: 1 + (m - 1) ICC.

    References
    ----------
    Obuchowski (1997), Biometrics 53, 567-578. Donner, Klar (2000), chapter 5.
    """
    return 1 + (per_patient - 1) * correlation


def non_inferiority(difference: Estimate, margin: float, *, higher_is_better: bool = True) -> Estimate:
    """Whether the compared arm is worse than the baseline by less than a margin.

    With d the difference, compared minus baseline, where more is better::

        t = (d + margin) / SE,  one-sided p = P(T > t) with the degrees of freedom of the difference

    p below alpha says the same as a lower limit of the interval with level 1 - 2 alpha above -margin. Where
    less is better (errors, seconds) t = (margin - d) / SE, and the upper limit counts.

    Estimand: that of the difference; the margin must have been fixed before the data were seen.

    Parameters
    ----------
    difference : Estimate
        With `se` and `df`, as from an Obuchowski-Rockette fit or a U-statistic.
    margin : float
        The largest loss that is acceptable, 0 or more, in the unit of the difference.

    Returns
    -------
    The difference with its two-sided interval and the one-sided p; `details` holds margin, t and df.
    Without a standard error p is NaN, and the note of the difference says why.

    References
    ----------
    Chen, Petrick, Sahiner (2012), Acad. Radiol. 19, 1158-1165.
    Hillis (2014), Stat. Med. 33, 330-360.

    Examples
    --------
    >>> d = Estimate(-0.01, -0.05, 0.03, 570, se=0.02, df=15)
    >>> round(non_inferiority(d, 0.05).p, 3)
    0.032
    """
    _check_margin(margin)
    null = -margin if higher_is_better else margin
    return _tested(difference, null, {"margin": margin}, more=higher_is_better)


def equivalence(difference: Estimate, margin: float | tuple[float, float]) -> Estimate:
    """Whether two arms differ by less than a margin either way: two one-sided tests.

    ::

        t_low = (d - low) / SE,  t_high = (high - d) / SE,  p = the larger of both one-sided p

    p below alpha says the same as an interval of level 1 - 2 alpha within the margins: that of 90 % for .05.

    Parameters
    ----------
    margin : float, or (low, high) with low < 0 < high

    References
    ----------
    Schuirmann (1987), J. Pharmacokinet. Biopharm. 15, 657-680.

    Examples
    --------
    >>> d = Estimate(-0.01, -0.05, 0.03, 570, se=0.02, df=15)
    >>> round(equivalence(d, 0.05).p, 3), round(equivalence(d, (-0.05, 0.02)).p, 3)
    (0.032, 0.077)
    """
    low, high = margin if isinstance(margin, tuple) else (-margin, margin)
    if not low < 0 < high:
        raise ValueError(f"margins must lie on either side of 0, got {low:g} and {high:g}.")
    above_low, below_high = statistic(difference, low), -statistic(difference, high)
    details = {"margin_low": low, "margin_high": high}
    return _tested(
        difference, low if above_low <= below_high else high, details, more=above_low <= below_high
    )


def performance_goal(value: Estimate, goal: float, *, higher_is_better: bool = True) -> Estimate:
    """Whether one arm reaches a goal: t = (value - goal) / SE, one-sided.

    Parameters
    ----------
    value : Estimate
        An arm's mean with `se` and `df`.
    goal : float
        What must be exceeded, or with `higher_is_better=False` undercut.

    Examples
    --------
    >>> sensitivity = Estimate(0.91, 0.86, 0.96, 450, se=0.023, df=12)
    >>> round(performance_goal(sensitivity, 0.85).p, 3)
    0.011
    """
    return _tested(value, goal, {"goal": goal}, more=higher_is_better)


def _tested(estimate: Estimate, null: float, details: dict[str, float], *, more: bool) -> Estimate:
    """With the one-sided p of lying above a value (`more`) or below it, on the scale of the limits."""
    t = nan if estimate.se == 0 else statistic(estimate, null) * (1 if more else -1)
    if isnan(t):
        why = estimate.note or (notes.NO_TEST if estimate.low < estimate.high else notes.NO_VARIATION)
        return replace(estimate, p=nan, note=why, details={**estimate.details, **details})
    df = reference_df(estimate)
    details = details | {"t": t} | ({"test_df": df} if df < inf else {})
    return replace(estimate, p=_upper_tail(t, df), details={**estimate.details, **details})


def _upper_tail(t: float, df: float) -> float:
    return float(ndtr(-t)) if df > NORMAL_FROM else float(stdtr(df, -t))


def _check_margin(margin: float) -> None:
    if not 0 <= margin < inf:
        raise ValueError(f"the margin is the largest acceptable loss, 0 or more; got {margin:g}.")
