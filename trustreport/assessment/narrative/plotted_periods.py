"""Which sets a dimension does not plot: of the periods of routine use, all but the last.

The vigilance chapter plots every period in one figure; panels of each would repeat it. Tables have them all.
"""

from trustreport.study.study import Study


def not_plotted(study: Study) -> frozenset[str]:
    """Names of the periods before the last one."""
    return frozenset([d.name for d in study.datasets if d.role == "period"][:-1])
