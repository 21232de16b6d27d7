"""Every measure of the four cells: importing this module has each family make its own."""

from trustreport.measures.confusion import overlap, shares
from trustreport.measures.confusion.measure import MEASURES as MEASURES

FAMILIES = (shares, overlap)

# In a report these come first, in this order.
FIRST = (
    *("prevalence", "accuracy", "sensitivity", "specificity", "ppv", "npv", "f1", "f1_negative", "mcc"),
    *("threat_score", "balanced_accuracy", "youden_j", "fowlkes_mallows"),
    *("lr_positive", "lr_negative", "diagnostic_odds_ratio"),
)
for _id in (*FIRST, *(set(MEASURES) - set(FIRST))):
    MEASURES[_id] = MEASURES.pop(_id)
