"""Data on which the device misses the least accuracy that users declared to accept."""

from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.verdicts.judge import bound_amount
from trustreport.report.answer.sentences import Statement
from trustreport.report.tables import in_words
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result

ACCURACIES = ("advice_accuracy.accuracy", "advice_accuracy.class_accuracy")
MOST_NAMED = 3


def missed(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """The accuracies below the declared minimum, the lowest first; none where none is declared.

    Those whose whole interval is below it, then those whose interval includes it. Of the periods of routine
    use the latest speaks; data that the device was made with never do.
    """
    least = assessment.plan.utility.minimum_accuracy
    if least is None:
        return []
    below = sorted(
        (r for r in _accuracies(assessment) if r.estimate.value < least), key=lambda r: r.estimate.value
    )
    surely = [r for r in below if r.estimate.high < least]
    kinds = {"missed": surely, "unsure": [r for r in below if r not in surely]}
    said = []
    for key, found in kinds.items():
        if found:
            items = [
                say("answer.minimum.item", data=r.place.set or r.place.data_name, estimate=in_words(r, say))
                for r in found[:MOST_NAMED]
            ]
            if len(found) > MOST_NAMED:
                items.append(say("word.more", n=len(found) - MOST_NAMED))
            bound = say(bound_amount(found[0].quantity, least))
            text = say(f"answer.minimum.{key}", items=items, least=bound)
            said.append(Statement(text, tuple(found[:MOST_NAMED])))
    return said


def _accuracies(assessment: Assessment) -> list[Result]:
    """The accuracy of each set and candidate that the device was not made with."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    periods = [name for name, role in roles.items() if role == "period"]
    earlier = set(periods[:-1])
    plain = {"subgroup": None, "site": None, "parameters": None}
    return [
        r
        for r in assessment.results
        if r.id in ACCURACIES
        and r.primary
        and r.within(**plain)
        and roles.get(str(r.place.dataset)) not in DEVELOPMENT_ROLES
        and r.place.dataset not in earlier
        and not isnan(r.estimate.value)
    ]
