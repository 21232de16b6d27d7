"""What sentences say of an estimate: its numbers, and where its interval is."""

from math import isnan

from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say


def numbers(e: Estimate) -> dict[str, float]:
    """The values that a sentence with an interval names."""
    return {"value": e.value, "low": e.low, "high": e.high, "level": e.level}


def side_of(
    e: Estimate, bound: float, above: str = "above", below: str = "below", across: str = "either"
) -> str:
    """Whether the whole interval is above or below a bound, or includes it."""
    return above if e.low > bound else below if e.high < bound else across


def failed_cases(plan: Plan) -> Message:
    """How cases without an output are analysed, as the rule of the manifest says, else as errors."""
    return say(f"failed_cases.{plan.operating_point.indeterminate_as or 'wrong'}")


def known(x: float) -> float | None:
    """A number, None where it is not known."""
    return None if isnan(x) else x
