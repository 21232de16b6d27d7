"""The measures that a criterion may name, in the groups of the report's chapters."""

from collections.abc import Iterable

from trustreport.vocabulary.quantities import ROWS

# The first row of each chapter, in the order of the rows.
FIRST = {
    "tp": "advice_accuracy",
    "wafroc_auc": "localisation",
    "bias": "measurement",
    "alarm_rate": "candidates",
    "brier": "advice_value",
    "percent_agreement": "source_reliability",
    "arr": "pragmatic_utility",
    "mean_seconds": "decision_benefit",
    "rair": "reliance",
    "degree_of_correspondence": "potential_robustness",
    "interaction": "subgroups",
    "exposure": "vigilance",
    "consistent_matrices": "reported",
}
OF_READERS = ("mean_benefit", "arm_difference")  # of an endpoint, which `of` names


def measure_groups(names: Iterable[str] = ()) -> dict[str, list[str]]:
    """The names of measures by chapter; of others than those of `ROWS` only changes between arms.

    Parameters
    ----------
    names : what criteria name already, which no list has to hold
    """
    found: dict[str, list[str]] = {}
    chapter = ""
    for row in ROWS:
        chapter = FIRST.get(row.id, chapter)
        found.setdefault(chapter, []).append(row.id)
    found["decision_benefit"][:0] = OF_READERS
    known = {name for group in found.values() for name in group}
    others = [name for name in dict.fromkeys(names) if name and name.rpartition(".")[2] not in known]
    return {**found, **({"": others} if others else {})}
