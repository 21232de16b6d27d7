"""The variance components of the readers' change between two arms, whatever the design."""

import numpy as np

from trustreport.assessment.performance.readers import AIDED, FIRST_COVARIANCE, UNAIDED, ReaderEndpoint
from trustreport.measures.mrmc.power import Components, components, components_with_gaps
from trustreport.measures.mrmc.ustatistic import UStatistic
from trustreport.study.study import Readings


def components_of(endpoint: ReaderEndpoint, readings: Readings) -> Components | None:
    """Of the change: by Obuchowski and Rockette, or from the U-statistic where readings are missing.

    None of Youden's index with readings missing: its two classes have sources of their own.
    """
    fit = endpoint.whole.fits.get(FIRST_COVARIANCE)
    if fit is not None:
        return components(fit)
    statistic = endpoint.whole.centred
    if not isinstance(statistic, UStatistic):
        return None
    read = ~np.isnan(endpoint.outcome).all(axis=(0, 1))
    if endpoint.name != "auc":
        return components_with_gaps(statistic, [int(read.sum())], AIDED, UNAIDED)
    truth = readings.cases.truth
    positive = truth[truth >= 0] == 1
    sizes = [int((read & of).sum()) for of in (positive, ~positive)]
    return components_with_gaps(statistic, sizes, AIDED, UNAIDED)
