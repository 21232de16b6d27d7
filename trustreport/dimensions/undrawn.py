"""Which sets a dimension does not draw: of the periods of routine use, all but the last.

The vigilance part draws every period in one figure; panels of each would repeat it. Tables have all of them.
"""

from trustreport.study import Study


def undrawn(study: Study) -> frozenset[str]:
    """Names of the periods before the last, in the order in which they were handed in."""
    return frozenset([d.name for d in study.datasets if d.role == "period"][:-1])
