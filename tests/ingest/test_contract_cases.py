"""Every contract case is read, with the shapes and counts that awk and hand count in its files."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trustreport.study.ingest import read
from trustreport.study.study import Study

CONTRACT = Path(__file__).resolve().parents[1] / "reference" / "contract"
FOLDERS = sorted(folder.name for folder in CONTRACT.iterdir())


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_case_is_read(folder: str) -> None:
    study, plan = read(CONTRACT / folder)
    assert plan.report.title == folder
    assert study.sources[0].file == "study.yaml"
    assert all(s.n_used == s.n_rows and not s.dropped for s in study.sources)
    assert not study.cautions
    assert all(not array.flags.writeable for array in arrays(study))


def arrays(thing: Any) -> list[np.ndarray]:
    if isinstance(thing, np.ndarray):
        return [thing]
    if dataclasses.is_dataclass(thing):
        return [a for f in dataclasses.fields(thing) for a in arrays(getattr(thing, f.name))]
    if isinstance(thing, tuple):
        return [a for item in thing for a in arrays(item)]
    return [a for item in thing.values() for a in arrays(item)] if hasattr(thing, "values") else []


def study_of(folder: str) -> Study:
    return read(CONTRACT / folder)[0]


def test_vandyke() -> None:
    readings = study_of("vandyke").readings[0]
    assert readings.arms == ("unaided", "aided")
    assert tuple(readings.readers.labels) == ("1", "2", "3", "4", "5")
    assert len(readings.cases) == 114
    assert int(readings.cases.truth.sum()) == 45
    assert readings.cases.labels[:4] == ("1", "2", "3", "4")
    assert len(readings) == 1140
    assert readings.decision is not None
    # awk -F, 'NR>1 && $5>=3 {n[$2" "$4]++} END {for (k in n) print k, n[k]}' vandyke.csv
    calls = [
        [int(readings.decision[(readings.arm == a) & (readings.truth == t)].sum()) for t in (0, 1)]
        for a in (0, 1)
    ]
    assert calls == [[50, 185], [55, 207]]


def test_sequential_rows_are_two_readings() -> None:
    readings = study_of("sequential").readings[0]
    assert readings.sequential
    assert len(readings) == 480
    wrong = readings.decision != readings.truth
    assert [int(wrong[readings.arm == a].sum()) for a in (0, 1)] == [52, 47]  # 0.21667 and 0.19583 of 240
    assert readings.advice is not None
    assert set(readings.advice[readings.arm == 0].tolist()) == {-1}
    assert set(readings.advice[readings.arm == 1].tolist()) == {0, 1}


def test_missing_readings_are_absent_rows() -> None:
    readings = study_of("sim-missing10").readings[0]
    assert len(readings) == 1728
    grid = readings.grid(readings.score, ("unaided", "aided"))
    assert grid.shape == (2, 8, 120)
    assert int(np.isnan(grid).sum()) == 2 * 8 * 120 - 1728


def test_split_plot_has_decisions_and_scores() -> None:
    readings = study_of("viper-screening-high").readings[0]
    assert (len(readings), len(readings.readers), len(readings.cases)) == (2390, 20, 239)
    assert readings.decision is not None
    assert readings.score is not None
    assert readings.score.max() > 100


def test_heart_has_features_and_sites() -> None:
    study = study_of("heart")
    train = study.datasets[0]
    assert [d.name for d in study.datasets] == [
        "heart_train",
        "heart_ext_hungarian",
        "heart_ext_switzerland",
        "heart_ext_va",
    ]
    assert [len(d.cases) for d in study.datasets] == [303, 294, 123, 200]
    assert [int(d.cases.truth.sum()) for d in study.datasets] == [139, 106, 115, 149]
    assert train.feature_names[:2] == ("age", "sex")
    assert train.features is not None
    assert train.features[0].tolist() == [63, 1, 1, 145, 2, 150, 0, 2.3]
    assert train.scores[""].score is not None
    assert train.scores[""].score[:2].tolist() == [0.4128787, 0.97913867]
    assert train.cases.site is not None
    assert tuple(train.cases.site.labels) == ("cleveland",)
    assert train.cases.labels[:3] == ("1", "2", "3")


def test_class_scores_and_complexity() -> None:
    study = study_of("h-accuracy")
    ha02 = next(d for d in study.datasets if d.name == "ha02")
    scores = ha02.scores[""]
    assert scores.class_scores is not None
    assert scores.class_scores.shape == (22, 2)
    assert scores.class_names == ("0", "1") == ha02.cases.classes
    assert scores.class_scores[0].tolist() == [0.47368421052631576, 0.5263157894736842]
    assert ha02.cases.complexity is not None
    assert ha02.cases.complexity[:3].tolist() == [0.25, 0.5, 1.0]


def test_raters(mrnet: Path) -> None:
    ratings = read(mrnet)[0].raters[0]
    assert (len(ratings.raters), len(ratings.cases), ratings.classes) == (13, 427, ("0", "1"))
    assert ratings.confidence is not None
    assert ratings.label.shape == ratings.confidence.shape == ratings.rater.shape
    assert tuple(ratings.raters)[:2] == ("r01", "r02")


def test_published_tables() -> None:
    counts = study_of("counts").counts
    assert counts[0].name == "seed003_table1"
    assert (counts[0].arms["unaided"].errors, counts[0].arms["unaided"].n) == (367, 1548)
    assert tuple(counts[0].arms) == ("unaided", "aided")
    assert max(c.arms["aided"].n for c in counts) == 10**9
    assert len(study_of("confusion-counts").confusion) == 17
    assert len(study_of("nomogram").nomogram) == 42
    assert len(study_of("reliance").reliance_counts) == 10
    reported = study_of("published-figures").reported
    assert reported[12].metrics["ppv"] == "0.90"
    assert reported[2].metrics == {"ppv": "0.89", "sensitivity": "0.68"}
