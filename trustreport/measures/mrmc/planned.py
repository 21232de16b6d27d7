"""The difference of two arms in a study to come: its variance and degrees of freedom by design.

Designs differ in what is independent in them. Readers may be in *groups* that read cases of their own
(split plot), and in *sites*, whose mean takes the place of a reader; cases may be several of one patient.
"""

from dataclasses import dataclass, replace
from math import inf, nan, sqrt
from typing import Literal

from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile
from trustreport.measures.mrmc.power import Components, equivalence_power, one_sided_power, two_sided_power

Hypothesis = Literal["superiority", "non_inferiority", "equivalence"]


@dataclass(frozen=True, slots=True)
class PlannedDifference:
    """What to expect of the estimated difference: its standard error and degrees of freedom.

    `df` is infinite for the normal distribution. NaN where the design cannot be analysed; `note` says why.
    """

    se: float
    df: float
    note: str = ""

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

    Examples
    --------
    >>> pilot = Components(arm_reader=2e-4, own=4e-4, shared=1e-4, n_cases=114)
    >>> [round(planned_difference(pilot, 10, 228, groups=g).se, 4) for g in (2, 1)]
    [0.0141, 0.013]
    """
    if n_readers % groups:
        raise ValueError(f"{n_readers} readers do not divide into {groups} groups.")
    within, scale = n_readers // groups, groups * pilot.n_cases / n_cases
    if fixed_readers:
        error = scale * (pilot.own + (within - 1) * pilot.shared)
        return _planned(error, inf, n_readers)
    if n_readers < 2:
        return PlannedDifference(nan, nan, "one reader: readers in general cannot be judged")
    if within == 1:
        return _planned(pilot.arm_reader + scale * pilot.own, n_readers - 1.0, n_readers)
    among = pilot.arm_reader + scale * (pilot.own - pilot.shared)
    error = among + within * scale * pilot.shared
    df = error**2 * (n_readers - groups) / among**2 if among > NEGLIGIBLE else inf
    return _planned(error, df, n_readers)


def _planned(error: float, df: float, n_readers: int) -> PlannedDifference:
    if not error > NEGLIGIBLE:
        return PlannedDifference(nan, nan, "the variance components add up to nothing")
    return PlannedDifference(sqrt(2 * error / n_readers), df)


def by_site(pilot: Components, readers_per_site: int, site_share: float) -> Components:
    """The components of a site's mean, for an analysis in which each site is a reader.

    With m readers at a site and the share p of `arm_reader` that is common to a site::

        arm_reader (p + (1 - p) / m),  own = (own + (m - 1) shared) / m,  shared as it is

    Examples
    --------
    >>> by_site(Components(arm_reader=2e-4, own=4e-4, shared=1e-4, n_cases=114), 2, 0.5)
    Components(arm_reader=0.00015000000000000001, own=0.00025, shared=0.0001, n_cases=114, note='')
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

    Examples
    --------
    >>> design_effect(1.25, 0.5)
    1.125
    """
    return 1 + (per_patient - 1) * correlation
