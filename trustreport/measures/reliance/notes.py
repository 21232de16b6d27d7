"""Why a rate of reliance is undefined or its interval special: fixed fragments."""

NO_READING = "no reading with both decisions, advice and truth"
NO_ADVICE = "no reading with advice"
WRONG_THEN_RIGHT_ADVICE = "no reader was wrong where the advice was right"
RIGHT_THEN_WRONG_ADVICE = "no reader was right where the advice was wrong"
WRONG_THEN_WRONG_ADVICE = "no reader was wrong where the advice was wrong"
RIGHT_THEN_RIGHT_ADVICE = "no reader was right where the advice was right"
NO_DISAGREEMENT = "no reader differed from the advice before seeing it"
NO_RIGHT_ADVICE = "the advice was never right"
NO_WRONG_ADVICE = "the advice was never wrong"
ALL_ALIKE = "all readings alike: exact limits, for fewer readings as readers or cases are few"
LARGER_ONE_WAY = "two-way variance not positive: the larger of those by case and by reader is used"
NO_NARROWER = "made as wide as for independent readings"
ONLY_THESE = (
    "one reader, one case, or no spread to judge by: readings taken as independent, for these readers only"
)
