"""Result tables of OHDSI's PatientLevelPrediction, which sites share where they cannot share patients.

Columns as `getThresholdSummary_binary` and `getEvaluationStatistics_binary` of PatientLevelPrediction 5 and 6
write them (github.com/OHDSI/PatientLevelPrediction, R/ThresholdSummary.R and R/EvaluationSummary.R).
"""

from collections import defaultdict
from pathlib import Path

from trustreport.study.ingest import values
from trustreport.study.ingest.tables import Raw
from trustreport.study.proposal.parts import Entry, Proposal, squeezed, vocabulary

OF_MODEL = ("Train", "CV")  # evaluations on data that the model was made with
WHOLE = "no interval or comparison can be computed from it without the patients"
OTHERS = {"observed_incidence": "calibration in groups", "person_count_at_risk": "risk by age and sex"}


def take_results(path: Path, raw: Raw, made: Proposal) -> bool:
    """Whether a file is a result table; its 2x2 tables go into the proposal, or why it is not used."""
    words = {squeezed(header): header for header in raw.header if header}
    counts = {word: words.get(name) for word, name in vocabulary()["thresholds"].items()}
    if None not in counts.values():
        _take_tables(path, raw, words, {word: str(header) for word, header in counts.items()}, made)
    elif {"evaluation", "metric", "value"} <= set(words):
        made.unread[path.name] = _statistics(raw, words)
    elif "evaluation" in words and (said := next((t for w, t in OTHERS.items() if w in words), "")):
        made.unread[path.name] = f"{said} that was computed elsewhere; {WHOLE}"
    else:
        return False
    return True


def _cells(raw: Raw, header: str) -> list[str]:
    return [cell or "" for cell in values.text(raw.columns[raw.header.index(header)]).to_pylist()]


def _take_tables(path: Path, raw: Raw, words: dict[str, str], counts: dict[str, str], made: Proposal) -> None:
    """A table of each evaluation, at the threshold nearest to its prevalence; none was chosen by results."""
    sets = _cells(raw, counts["set"])
    threshold = words["prediction_threshold"]
    cells = {word: _cells(raw, counts[word]) for word in ("tp", "fp", "fn", "tn")}
    at = _cells(raw, threshold)
    rows = defaultdict[str, list[int]](list)
    for i, name in enumerate(sets):
        # Counts below the least that a site shares are negative there, or empty.
        if at[i] and all(own[i].isdigit() for own in cells.values()):
            rows[name].append(i)
    tested = [name for name in rows if name not in OF_MODEL] or list(rows)
    for name in tested:
        i = rows[name][0]
        n = [int(cells[word][i]) for word in ("tp", "fn", "fp", "tn")]
        prevalence = sum(n[:2]) / max(sum(n), 1)
        nearest = min(rows[name], key=lambda i: abs(float(at[i]) - prevalence))
        about = f"which threshold is used on {name}? {at[nearest]} is the one nearest to the prevalence there"
        rest = [header for header in raw.header if header and header not in counts.values()]
        form = {
            "columns": counts,
            "where": {words["evaluation"]: name, threshold: at[nearest]},
            "ignore": rest,
        }
        made.entries.append(Entry(path, "confusion", form, {"where": about}))
    if left := [name for name in rows if name not in tested]:
        made.notes.append(
            f"{path.name}: {' and '.join(left)} is not used: the model was made with these data"
        )
    if not rows:
        made.unread[path.name] = "no row has a threshold and four counts"


def _statistics(raw: Raw, words: dict[str, str]) -> str:
    """Why statistics of whole evaluations are not used, with the areas that they give."""
    found = zip(*(_cells(raw, words[word]) for word in ("evaluation", "metric", "value")))
    said = {(evaluation, metric): value for evaluation, metric, value in found}
    areas = [
        f"{evaluation} {value} ({said.get((evaluation, '95% lower AUROC'), '?')} to "
        f"{said.get((evaluation, '95% upper AUROC'), '?')})"
        for (evaluation, metric), value in said.items()
        if metric == "AUROC"
    ]
    given = f"; AUROC (95% CI) there: {', '.join(areas)}" if areas else ""
    return f"figures of whole evaluations, which reported: has no place for; {WHOLE}{given}"
