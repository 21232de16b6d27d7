"""What a person who describes a study is shown of it: what is missing, the first rows, how sure it can be."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trustreport.service.engine import (
    Bound,
    Layout,
    Plan,
    Problems,
    bound_of,
    confirmatory,
    read_table,
    row_of,
    undeclared_fields,
)

if TYPE_CHECKING:
    from trustreport.service.engine import Study

FIRST_ROWS = 10
MOST_COLUMNS = 12
LONGEST_CELL = 40
UNANSWERED = ("answers_nothing", "no_truth")  # cautions of a study of which no question is answered
OF_ONE = {"sensitivity": 1, "specificity": 0}
OF_DEVICE = ("advice_accuracy", "candidates")
DEVELOPMENT = ("training", "tuning")
# Readers are taken to vary as in the typical studies of Roe and Metz, and to gain what many of them gain.
STRUCTURE, GAIN, USUAL = "HL", 0.05, 0.8


def not_declared(plan: Plan) -> list[list[Any]]:
    """What the report will print as NOT DECLARED: the first place of each field, and in how many it lacks."""
    return [[places[0], len(places)] for places in undeclared_fields(plan).values()]


def first_rows(study: Path, files: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The first rows of each table, short cells of its first columns."""
    found: dict[str, dict[str, Any]] = {}
    for name in files:
        try:
            raw = read_table(study / name, name, Layout(), Problems())
        except (ValueError, LookupError, OSError):
            continue
        if raw is not None:
            columns = [c.slice(0, FIRST_ROWS).to_pylist() for c in raw.columns[:MOST_COLUMNS]]
            cells = [["" if c is None else str(c)[:LONGEST_CELL] for c in row] for row in zip(*columns)]
            left_out = max(len(raw.header) - MOST_COLUMNS, 0)
            found[name] = {"header": list(raw.header[:MOST_COLUMNS]), "rows": cells, "left_out": left_out}
    return found


def chances(study: "Study", plan: Plan) -> Iterator[tuple[int, dict[str, Any]]]:
    """How probably each criterion would be met at this study's size, for a plain assumption of what is true.

    Only numbers of readers and of cases are taken from the data, never what was decided of a case.
    """
    for i, criterion in enumerate(plan.endpoints):
        bound = bound_of(criterion) if criterion.measure and confirmatory(criterion) else ""
        if not isinstance(bound, Bound) or len(bound.ends) != 1:
            continue
        name = criterion.quantity
        if name in OF_ONE and isinstance(criterion.arm_or_contrast, str | None) and bound.low is not None:
            if (n := _cases_of(study, plan, criterion.dataset, OF_ONE[name])) > 0:
                true = round(bound.low + (1 - bound.low) / 2, 4)
                yield i, {"key": name, "n": n, "true": true, "chance": chance_of_share(n, bound.low, true)}
        elif criterion.of in (None, "accuracy", *OF_ONE) and name in ("arr", "mean_benefit"):
            yield from ((i, one) for one in _of_readers(study, criterion.of or "accuracy", bound))


def _cases_of(study: "Study", plan: Plan, dataset: str | None, truth: int) -> int:
    """How many cases a criterion of the device is tested on: of the set named, else of the first test set."""
    sets = [d for d in study.datasets if d.role not in DEVELOPMENT and dataset in (None, d.name)]
    return int((sets[0].cases.truth == truth).sum()) if sets else 0


@cache
def chance_of_share(n: int, low: float, true: float) -> float:
    """The probability that the whole interval (Wilson) of a share of `n` cases is above `low`."""
    from scipy.stats import binom

    from trustreport.service.engine import wilson

    enough = bisect_left(range(n + 1), True, key=lambda k: wilson(k, n).low > low)
    return float(binom.sf(enough - 1, n, true))


def _of_readers(study: "Study", endpoint: str, bound: Bound) -> Iterator[dict[str, Any]]:
    from trustreport.service.engine import SizingRequest, size_study

    for readings in study.readings[:1]:
        truth = readings.cases.truth[readings.cases.truth >= 0]
        n = int(len(truth) if endpoint == "accuracy" else (truth == OF_ONE[endpoint]).sum())
        superiority = bound.low == 0
        asked: dict[str, Any] = {
            "endpoint": endpoint,
            "components": {"model": "roe_metz", "structure": STRUCTURE},
            "expected": USUAL,
            "readers": (len(readings.readers),),
            "cases": (n,),
            "hypothesis": "superiority" if superiority else "non_inferiority",
            "effect": GAIN if superiority else 0.0,
            **({} if superiority or bound.low is None else {"margin": -bound.low}),
        }
        if n < 1 or bound.low is None or bound.low > 0:
            return
        cell = size_study(SizingRequest.model_validate(asked)).grid[0][0]
        if cell.reason is None:
            key = "gain" if superiority else "no_loss"
            values = {"readers": len(readings.readers), "true": 100 * GAIN, "chance": cell.power}
            yield {"key": key, "n": n, **values}


def without_result(study: "Study", plan: Plan) -> Iterator[int]:
    """The criteria of the device's decisions where no data set has any, and no threshold makes some."""
    point, candidates = plan.operating_point.threshold, [c.threshold for c in plan.candidates]
    decided = any(s.decision is not None for d in study.datasets for s in d.scores.values())
    if decided or any(threshold is not None for threshold in (point, *candidates)):
        return
    for i, criterion in enumerate(plan.endpoints):
        room, row = (criterion.measure or "").rpartition(".")[0], row_of(criterion)
        of_device = room in OF_DEVICE or (not room and not study.readings)
        if of_device and row is not None and row.counts_decisions and criterion.threshold is None:
            yield i


def answers(cautions: Iterable[tuple[str, Mapping[str, Any]]]) -> bool:
    """Whether any question of a report would be answered."""
    return not any(key in UNANSWERED for key, _ in cautions)
