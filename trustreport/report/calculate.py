"""Calculators of single numbers: a table of counts, the nomogram, robustness scores, H-accuracy.

Each takes what a reader has at hand and answers in sentences and tables, as the report writes them. The
statistics are those of `trustreport.measures`; nothing is stored.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose, isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.finding import EstimateRow, EstimateTable
from trustreport.assessment.infer import Inference, infer
from trustreport.assessment.narrative.texts import heading
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.h_accuracy.measure import h_accuracy, two_class_scores
from trustreport.measures.label_accuracy import NO_SAMPLING_ERROR, actual_accuracy, nomogram_accuracy
from trustreport.measures.reported.printed import CELLS, Rounding, metric_named
from trustreport.measures.seeds import generator
from trustreport.measures.sites.robustness import p_acceptability, p_performance, spr, wpr
from trustreport.report.tables import (
    FIGURE_SPACE,
    PUNCTUATION_SPACE,
    Cell,
    Head,
    Line,
    Table,
    align,
    table,
    value_text,
)
from trustreport.vocabulary.messages import Catalogue, catalogue, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

MOST_CASES = 10_000  # rows of scores that H-accuracy takes
DELIMITERS = (";", "\t", ",")
SCORE = "score"  # column of the positive class, or the beginning of score_0, score_1, ...


@dataclass(frozen=True, slots=True)
class Calculation:
    """An answer in a language: sentences and tables, and whether what was given contradicts itself."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    contradictory: bool = False

    def lines(self) -> list[str]:
        """The answer as lines of text."""
        found = list(self.sentences)
        for one in self.tables:
            found += [*([""] if found else []), *_aligned(one)]
        return found


# ---------------------------------------------------------------- a table of counts


def of_counts(
    figures: Mapping[str, str] | Iterable[tuple[str, str]],
    *,
    positives: int | None = None,
    negatives: int | None = None,
    total: int | None = None,
    rounding: Rounding = "rounded",
    level: float = 0.95,
    language: str = "en",
) -> Calculation:
    """What cells or printed figures say of a table of counts; where one table fits, every measure of it.

    Parameters
    ----------
    figures : names and texts as printed
        Cells (``tp`` ...) and measures (`assessment.infer.infer`). The cells of a class give its number of
        cases; of one class alone its share is given, with an interval.
    positives, negatives, total : number of cases, as far as it is known
    rounding : how the source cut its figures
    level : of the intervals, in (0, 1)

    Raises
    ------
    ValueError
        Every fault of the input, a line each.

    Examples
    --------
    >>> found = of_counts({"tp": "97", "fn": "46", "fp": "12", "tn": "55"})
    >>> [cell.text for cell in found.tables[0].lines[2].cells[:4]]
    ['Sensitivity', '0.678', '0.598 to 0.749', '143']
    """
    given = list(figures.items() if isinstance(figures, Mapping) else figures)
    positives = _of_class(given, "tp", "fn") if positives is None else positives
    negatives = _of_class(given, "tn", "fp") if negatives is None else negatives
    found = infer(positives, negatives, total, given, rounding=rounding, language=language)
    words, cells = catalogue(language), found.data["cells"]
    if found.data["consistent_matrices"] != 1:
        return Calculation(found.sentences, tuple(_ranges(found, words)), found.contradictory)
    counts = ConfusionCounts(**{name: cells[name][0] if name in cells else 0 for name in CELLS})
    own = [name for name in MEASURES if len(cells) == len(CELLS) or name in found.data["metrics"]]
    rows = [_row("advice_accuracy", name, estimated(MEASURES[name], counts, level=level)) for name in own]
    return Calculation(found.sentences, (_table("counts", rows, words),))


def _of_class(figures: Sequence[tuple[str, str]], right: str, wrong: str) -> int | None:
    """The number of cases of a class, where both of its cells are given as whole numbers."""
    cells = {metric_named(name): text.strip() for name, text in figures}
    texts = [cells.get(right, ""), cells.get(wrong, "")]
    return sum(map(int, texts)) if all(text.isascii() and text.isdigit() for text in texts) else None


def _ranges(found: Inference, words: Catalogue) -> Iterator[Table]:
    """Least and greatest value of each cell and measure over the tables that fit."""
    if found.rows:
        first, *others = found.rows
        heads = tuple(Head(text, i > 0) for i, text in enumerate(first))
        lines = tuple(Line(tuple(Cell(text, i > 0) for i, text in enumerate(row))) for row in others)
        yield Table(words("calculate.ranges"), heads, lines)


# ---------------------------------------------------------------- single numbers


def of_nomogram(
    concordance: float, measured: float, *, n_categories: int = 2, language: str = "en"
) -> Calculation:
    """Label accuracy and actual accuracy behind a weighted concordance and a measured accuracy.

    Parameters
    ----------
    concordance, measured : float in [0, 1]
        Weighted concordance rho of the raters; accuracy against their labels.
    n_categories : int, at least 2

    Raises
    ------
    ValueError
        Every fault of the input, a line each.

    Examples
    --------
    >>> print(of_nomogram(0.57, 0.9).sentences[0])
    With a weighted concordance of 0.57, 87.7% of the labels are right, and a measured accuracy of 90.0% corresponds to an actual accuracy of 80.2%.
    """  # noqa: E501 -- the sentence is one line
    words = catalogue(language)
    _all_shares({"concordance": concordance, "measured": measured}, words)
    if n_categories < 2:
        raise ValueError(words("calculate.fault.categories", found=n_categories))
    rho = Estimate(concordance, nan, nan, 0, note=NO_SAMPLING_ERROR)
    label = nomogram_accuracy(rho, n_categories=n_categories)
    actual = actual_accuracy(measured, label, n_categories=n_categories)
    found = {
        "label_accuracy": label,
        "actual_accuracy": actual.value,
        "actual_accuracy_low_bound": actual.low_bound,
        "actual_accuracy_high_bound": actual.high_bound,
    }
    values = {"label": label.value, "actual": actual.value.value}
    told = words("calculate.nomogram", concordance=concordance, measured=measured, **values)
    rows = [_row("source_reliability", name, e) for name, e in found.items()]
    return Calculation((told, words("calculate.nomogram_assumes")), (_values("nomogram_table", rows, words),))


@dataclass(frozen=True, slots=True)
class Area:
    """An area under the ROC curve with its standard error and number of cases."""

    auc: float
    se: float
    n: int


def of_robustness(
    similarity: float,
    *,
    performance: float | None = None,
    acceptability: float | None = None,
    external: Area | None = None,
    internal: Area | None = None,
    least: float | None = None,
    language: str = "en",
) -> Calculation:
    """Strong and weak potential robustness, from p-values or from the areas that they are of.

    Parameters
    ----------
    similarity : float in [0, 1]
        Degree of correspondence.
    performance : float in [0, 1], optional
        p of equal performance, two-sided; else made of the `external` and the `internal` area.
    acceptability : float in [0, 1], optional
        p of an acceptable performance, one-sided; else made of the `external` area and the `least` one
        acceptable, the smallest of the internal splits.

    Raises
    ------
    ValueError
        Every fault of the input, a line each; also where neither score can be computed.

    Examples
    --------
    >>> found = of_robustness(0.05, performance=0.8)
    >>> [cell.text for cell in found.tables[0].lines[1].cells[:2]]
    ['Strong potential robustness', '0.969']
    """
    words = catalogue(language)
    asked = {
        "similarity": similarity,
        "performance": performance,
        "acceptability": acceptability,
        "auc": external.auc if external else None,
        "baseline_auc": internal.auc if internal else None,
        "least": least,
    }
    _all_shares({name: x for name, x in asked.items() if x is not None}, words)
    found: dict[str, Estimate] = {}
    if performance is not None:
        found["p_performance"] = _stated(performance)
    elif external and internal:
        found["p_performance"] = p_performance(
            external.auc, external.se**2, external.n, internal.auc, internal.se**2, internal.n
        )
    if acceptability is not None:
        found["p_acceptability"] = _stated(acceptability)
    elif external and least is not None:
        found["p_acceptability"] = p_acceptability(external.auc, external.se**2, least, n=external.n)
    if not found:
        raise ValueError(words("calculate.fault.robustness"))
    for name, of, score in (("p_performance", "spr", spr), ("p_acceptability", "wpr", wpr)):
        if name in found:
            found[of] = score(found[name].value, similarity)
    rows = [_row("potential_robustness", name, e, **_AUC) for name, e in found.items()]
    return Calculation((words("calculate.robustness"),), (_values("robustness_table", rows, words),))


_AUC = {"endpoint": "auc", "parameters": {"metric": "auc"}}


def _stated(p: float) -> Estimate:
    return Estimate(p, nan, nan, 0, note=NO_SAMPLING_ERROR, p=p)


# ---------------------------------------------------------------- H-accuracy of a table


def of_scores(
    text: str, *, tau: float | None = None, priority: Sequence[float] | None = None, language: str = "en"
) -> Calculation:
    """H-accuracy of the cases of a table of text.

    Parameters
    ----------
    text : a header and a row a case, separated by commas, semicolons or tabs
        Columns ``truth`` (0, 1, ...) and ``score`` (of class 1), or ``score_0``, ``score_1`` ...;
        ``complexity`` where cases weigh differently. Other columns are not read.
    tau : float in [1/k, 1], optional
    priority : k numbers that sum to 1, optional

    Raises
    ------
    ValueError
        The first fault of the input, with its row and column.

    Examples
    --------
    >>> found = of_scores("truth,score\\n1,0.9\\n0,0.2\\n0,0.6\\n1,0.7\\n", tau=0.8)
    >>> [cell.text for cell in found.tables[0].lines[0].cells[:2]]
    ['H-accuracy', '0.67']
    """
    words = catalogue(language)
    columns = _columns(text, words)
    names = [name for name in columns if name.startswith(f"{SCORE}_")]
    scores = (
        np.stack([columns[f"{SCORE}_{i}"] for i in range(len(names))], axis=1)
        if names
        else two_class_scores(columns[SCORE])
    )
    k = scores.shape[1]
    if tau is not None and not 1 / k - 1e-12 <= tau <= 1:
        raise ValueError(words("calculate.fault.tau", least=1 / k, found=tau))
    if priority is not None and not (
        len(priority) == k and min(priority) >= 0 and isclose(sum(priority), 1, rel_tol=1e-9)
    ):
        raise ValueError(words("calculate.fault.priority", n=len(priority), k=k))
    chosen: dict[str, Any] = {"tau": tau, "priority": priority, "complexity": columns.get("complexity")}
    found = h_accuracy(columns["truth"].astype(np.int64), scores, rng=generator(None, "calculate"), **chosen)
    values = {"tau": 1 / k if tau is None else tau, "k": k, "n": len(scores)}
    priorities = [1 / k] * k if priority is None else priority
    told = words("calculate.h_accuracy", shares=[words.numbers.percent(p, 0) for p in priorities], **values)
    return Calculation(
        (told,), (_table("h_accuracy_table", [_row("advice_accuracy", "h_accuracy", found)], words),)
    )


def _columns(text: str, words: Catalogue) -> dict[str, np.ndarray]:
    """The columns that are read, as numbers."""
    lines = text.strip("\ufeff\r\n ").splitlines()
    delimiter = next((sign for sign in DELIMITERS if lines and sign in lines[0]), ",")
    header, *rows = list(csv.reader(lines, delimiter=delimiter)) or [[]]
    place = {name.strip().casefold(): i for i, name in enumerate(header)}
    classes = [f"{SCORE}_{i}" for i in range(len(place)) if f"{SCORE}_{i}" in place]
    wanted = ["truth", *(classes if len(classes) > 1 else [SCORE])]
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(words("calculate.fault.columns", names=missing))
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not 0 < len(rows) <= MOST_CASES:
        raise ValueError(words("calculate.fault.rows", n=len(rows), most=MOST_CASES))
    k = max(len(classes), 2)
    found = {}
    for name in (*wanted, *(["complexity"] if "complexity" in place else [])):
        values = []
        for number, row in enumerate(rows, 2):
            cell = row[place[name]].strip() if place[name] < len(row) else ""
            value = _number(cell if delimiter == "," else cell.replace(",", "."))
            if not _fits(value, name, k):
                expected = {"truth": "class", "complexity": "weight"}.get(name, "share")
                what = words(f"calculate.fault.{expected}", most=k - 1)
                raise ValueError(
                    words("calculate.fault.cell", row=number, column=name, found=cell, expected=what)
                )
            values.append(value)
        found[name] = np.array(values)
    return found


def _fits(value: float, name: str, k: int) -> bool:
    """Whether a number may stand in a column; NaN may in none."""
    if name == "truth":
        return value in range(k)
    return value >= 0 and (value <= 1 or name == "complexity")


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return nan
    return value if abs(value) < 1e9 else nan


# ---------------------------------------------------------------- in words


def _all_shares(given: Mapping[str, float], words: Catalogue) -> None:
    wrong = [
        words("calculate.fault.not_a_share", name=words(f"calculate.name.{name}"), found=f"{x:g}")
        for name, x in given.items()
        if not 0 <= x <= 1
    ]
    if wrong:
        raise ValueError("\n".join(wrong))


def _row(dimension: str, name: str, e: Estimate, **more: Any) -> EstimateRow:
    return EstimateRow(heading(name), Result(f"{dimension}.{name}", Place(), e, primary=True, **more))


def _table(caption: str, rows: Sequence[EstimateRow], words: Catalogue) -> Table:
    return table(EstimateTable("calculation", say(f"calculate.{caption}"), tuple(rows)), words)


def _values(caption: str, rows: Sequence[EstimateRow], words: Catalogue) -> Table:
    """A table of numbers that have neither an interval nor a number of cases."""
    heads = (Head(words("table.measure")), Head(words("table.estimate"), True))
    texts = align([value_text(row.result, words) for row in rows])
    lines = []
    for row, text in zip(rows, texts):
        e = row.result.estimate
        lines.append(
            Line((Cell(words(row.label)), Cell(text, True, words(e.note) if isnan(e.value) else "")))
        )
    return Table(words(f"calculate.{caption}"), heads, tuple(lines))


def _aligned(one: Table) -> Iterator[str]:
    """A table as columns of text, numbers flush right."""
    rows = [[head.text for head in one.heads]]
    rows += [
        [f"{cell.text} ({cell.aside})" if cell.aside else cell.text for cell in line.cells]
        for line in one.lines
    ]
    plain = [
        [text.replace(FIGURE_SPACE, " ").replace(PUNCTUATION_SPACE, " ") for text in row] for row in rows
    ]
    widths = [max(len(row[i]) for row in plain) for i in range(len(one.heads))]
    for row in plain:
        cells = zip(row, widths, one.heads)
        yield "  ".join(t.rjust(w) if head.numeric else t.ljust(w) for t, w, head in cells).rstrip()
