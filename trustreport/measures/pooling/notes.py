"""Why a number of pooled studies is undefined, and what bears on one that is there: fixed fragments."""

NO_STUDY = "no study with cases of both classes"
ONE_STUDY = "there is one study"
TWO_STUDIES = (
    "with two studies, how far studies differ cannot be estimated, and a mean would have no interval"
)
THREE_STUDIES = (
    "three studies: sensitivity and specificity are pooled separately, their correlation cannot be estimated"
)
NO_NEW_STUDY = "an interval for a new study needs at least four studies"
NO_CLASS = "a study without positive or without negative cases cannot be pooled"
CORRECTED = "a cell is zero: 0.5 is added to all cells of all studies"
CORRECTED_ZEROS = "a cell is zero: 0.5 is added to all cells of the studies with a zero"
AT_THE_END = "the correlation between studies is estimated at the end of its range"
NO_SPREAD = "no spread between studies beyond chance"
NO_CURVE = "studies do not differ in sensitivity or in specificity: no summary curve"
CURVE_WITHOUT_INTERVAL = "an area under a summary curve: no interval is known that covers"
NO_UPPER_LIMIT = "the spread between studies has no upper limit"
