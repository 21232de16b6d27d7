"""The data set on which the device does worst, beside the others."""

from collections.abc import Sequence
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.verdicts.judge import amount
from trustreport.report.answer.sentences import Statement
from trustreport.report.tables import in_words
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result

MEASURES = ("advice_accuracy.sensitivity", "advice_accuracy.auc")


def of_data_sets(assessment: Assessment, id: str, candidate: str | None = None) -> list[Result]:
    """The primary entries of a measure, one for each data set outside training and tuning."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    plain = {"subgroup": None, "site": None, "parameters": None, "threshold": None, "candidate": candidate}
    plain = {key: value for key, value in plain.items() if key != "threshold"}
    found: dict[str, Result] = {}
    chosen = assessment.plan.operating_point.threshold
    for r in assessment.results:
        if r.id != id or not r.primary or not r.place.dataset or not r.within(**plain):
            continue
        if roles.get(r.place.dataset) in DEVELOPMENT_ROLES or isnan(r.estimate.value):
            continue
        if r.place.dataset not in found or r.place.threshold == chosen:
            found[r.place.dataset] = r
    return list(found.values())


def worst_data(assessment: Assessment, say: Catalogue) -> Statement | None:
    """The lowest sensitivity, or else area, of several data sets, and what the others reach at least."""
    for id in MEASURES:
        found = of_data_sets(assessment, id)
        if len(found) > 1:
            return _sentence(id.rpartition(".")[2], found, assessment, say)
    return None


def _sentence(measure: str, found: Sequence[Result], assessment: Assessment, say: Catalogue) -> Statement:
    low = min(found, key=lambda r: r.estimate.value)
    rest = [r for r in found if r is not low]
    least = min(r.estimate.value for r in rest)
    trained = any(d.role in DEVELOPMENT_ROLES for d in assessment.study.datasets)
    e = low.estimate
    values = {
        "place": low.place.dataset,
        "estimate": in_words(low, say),
        "missed": round(e.n * (1 - e.value)),
        "n": e.n,
        "least": amount(low, least),
    }
    where = say("answer.worst.outside_training") if trained else say("answer.worst.of_all", n=len(found))
    several = "others" if len(rest) > 1 else "other"
    elsewhere = say(f"answer.worst.{several}", least=values["least"], place=rest[0].place.dataset)
    return Statement(say(f"answer.worst.{measure}", where=where, elsewhere=elsewhere, **values), (low, *rest))
