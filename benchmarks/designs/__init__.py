"""How whole studies of known truth are drawn, by class of design (`benchmarks/false_verdicts.py`)."""

from collections.abc import Callable, Mapping

from numpy.random import Generator

from designs.drawn import Drawn
from designs.of_candidates import candidates
from designs.of_counts import counts, paired, published
from designs.of_families import families
from designs.of_monitoring import groups, periods
from designs.of_readers import advice, complete, crossover, missing, patients
from designs.of_scores import clusters, decisions, enriched, independent, verified, weighted
from designs.of_sites import sites

CLASSES: Mapping[str, Callable[[Generator], Drawn]] = {
    "readers, complete": complete,
    "readers, missing readings": missing,
    "readers, patients of several cases": patients,
    "readers, crossover": crossover,
    "readers, sequential advice": advice,
    "arms, paired counts": paired,
    "scores, independent": independent,
    "scores, clusters": clusters,
    "scores, enriched": enriched,
    "scores, partly verified": verified,
    "scores, sampling weights": weighted,
    "decisions without scores": decisions,
    "confusion matrices": counts,
    "sites": sites,
    "published studies, pooled": published,
    "candidates, paired": candidates,
    "periods": periods,
    "groups": groups,
    "families": families,
}
"""By name, what draws a study of the class."""
