"""The studies on which the intervals of a report are tried, each drawn from a model whose truth is known.

A regime draws studies of one design, has them estimated by what a report calls, and knows the true value of
each quantity. Where outcomes are few (shares, small tables) they are enumerated in place of drawn.
"""

from collections.abc import Callable, Iterator, Mapping

from regimes.of_baselines import baselines, slopes
from regimes.of_cases import (
    areas,
    candidates,
    equalised,
    groups,
    near_one,
    periods,
    sets,
    shares,
    sites,
)
from regimes.of_cells import cells
from regimes.of_classes import several_classes
from regimes.of_curves import confident, curves, parts
from regimes.of_follow_up import time_to_event
from regimes.of_lesions import lesion_readers, lesions
from regimes.of_measured_parts import parts as measured_parts
from regimes.of_monitoring import monitoring
from regimes.of_ranks import ranks
from regimes.of_readers import (
    counts,
    device_and_readers,
    gains,
    one_reader,
    pairs_of_raters,
    raters,
    readers,
    readers_of_patients,
)
from regimes.of_recalibration import recalibration
from regimes.of_reliance import reliance
from regimes.of_repeats import repeats
from regimes.of_samples import samples
from regimes.of_similarity import of_sites, similarity
from regimes.of_studies import pooled_studies
from regimes.of_thresholds import thresholds
from regimes.of_use import beside, protocols
from regimes.of_utilities import changed_utilities, to_readers, utilities
from regimes.of_values import choices, judges, labels, latent, values
from regimes.regime import Regime

TOPICS: Mapping[str, Callable[[], Iterator[Regime]]] = {
    "shares": shares,
    "areas": areas,
    "sets": sets,
    "readers": readers,
    "readers of patients": readers_of_patients,
    "one reader": one_reader,
    "counts": counts,
    "raters": raters,
    "periods": periods,
    "groups": groups,
    "equalised odds": equalised,
    "candidates": candidates,
    "near 1": near_one,
    "several classes": several_classes,
    "device": device_and_readers,
    "gains": gains,
    "sites": sites,
    "time to event": time_to_event,
    "lesions": lesions,
    "lesion readers": lesion_readers,
    "reliance": reliance,
    "pooled studies": pooled_studies,
    "protocols": protocols,
    "beside the endpoint": beside,
    "four cells": cells,
    "agreement of pairs": pairs_of_raters,
    "monitoring": monitoring,
    "samples": samples,
    "the same case twice": repeats,
    "at thresholds": thresholds,
    "values": values,
    "measured parts": measured_parts,
    "labels with error": labels,
    "latent class": latent,
    "preferences": choices,
    "judges": judges,
    "gain by baseline": baselines,
    "slope on the baseline": slopes,
    "after recalibration": recalibration,
    "ranks": ranks,
    "utilities": utilities,
    "similarity": similarity,
    "similarity of sites": of_sites,
    "utilities of candidates": changed_utilities,
    "utilities of readings": to_readers,
    "confident": confident,
    "curves": curves,
    "parts": parts,
}
