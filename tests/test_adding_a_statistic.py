"""Adding a statistic takes its measure, its texts and its test: all else follows from the measure.

Toys of the cells are the share of false alarms among all cases, the fewer the better, and the balanced error
rate of docs/extending.md, whose interval in clusters must be that of balanced accuracy turned round. One of
scores is the mean probability of the cases with the condition. One of readers weighs missed cases twice as
much as false alarms.
"""

import csv
import json
import re
from collections.abc import Iterator
from math import nan
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from tests.performance.test_cases import scored
from trustreport.api import assess, read_study, write_report
from trustreport.assessment.assess import Assessment
from trustreport.assessment.performance.measures import NOT_RISKS
from trustreport.assessment.performance.measures import lead as lead_of
from trustreport.assessment.verdicts.judge import measure
from trustreport.measures import notes
from trustreport.measures.confusion.measure import CaseShare, Delta, OfClasses, measured
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.score_measure import SCORES, ScoreMeasure
from trustreport.study import criteria
from trustreport.study.criteria import Bound
from trustreport.study.plan import Endpoint
from trustreport.vocabulary import messages, quantities
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import UnknownQuantityError
from trustreport.vocabulary.quantity import Quantity
from trustreport.vocabulary.results import Result

TOY = "alarm_share"
BALANCED = "balanced_error_rate"
MEAN = "mean_probability"
WEIGHED, RIGHT = "weighed_rate", "mean_rate"
EACH, ARM, CHANGE, MEAN_BENEFIT = (
    f"decision_benefit.{name}"
    for name in ("reader_estimate", "arm_mean", "arm_difference", "mean_benefit")
)


def alarm_share(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """False positives among all cases."""
    return fp / (tp + fp + fn + tn)


def shown_in(guide: str) -> str:
    """The measure of the cells that a guide shows."""
    text = (Path(__file__).parents[1] / "docs" / guide).read_text(encoding="utf-8")
    (block,) = re.findall(r"^ +@measured\(.*?^ +return [^\n]+$", text, re.MULTILINE | re.DOTALL)
    return dedent(block)


def weighed_rate(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Two thirds of sensitivity and a third of specificity."""
    return (2 * tp / (tp + fn) + tn / (fp + tn)) / 3


def mean_rate(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """The mean of sensitivity and specificity."""
    return (tp / (tp + fn) + tn / (fp + tn)) / 2


def mean_probabilities(truth: Any, score: Any, *, level: float, **_: Any) -> list[Estimate]:
    """The mean probability of the cases with the condition, with an interval of 0.1."""
    value = float(score[truth].mean())
    return [Estimate(value, value - 0.05, value + 0.05, int(truth.sum()), level, "toy_mean")]


CHOSEN_HERE = {"threshold": 0.5, "threshold_origin": "tuned on this data"}
CHOSEN_BEFORE = {
    "threshold": 0.5,
    "threshold_origin": "tuned on development data",
    "threshold_fixed_on": "2025-01-01",
}


def named(monkeypatch: pytest.MonkeyPatch, row: Quantity) -> None:
    """A row with its name, until the test is over."""
    for texts in (catalogue(), catalogue("en")):  # as asked for by name, and without
        monkeypatch.setitem(texts._texts["quantity"], row.id, row.id.replace("_", " "))
    monkeypatch.setitem(quantities._BY_ID, row.id, row)


@pytest.fixture
def of_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """A measure of scores, until the test is over."""
    toy = ScoreMeasure(MEAN, mean_probabilities, "risks", ("toy_mean",), low=0.0, high=1.0)
    monkeypatch.setitem(SCORES, MEAN, toy)
    named(monkeypatch, quantities.of_score_measure(toy))


@pytest.fixture
def of_readers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A measure of readers, until the test is over."""
    measured(OfClasses(0.0, 2 / 3, 1 / 3), "positives", "negatives", of_readers=True)(weighed_rate)
    named(monkeypatch, quantities.of_measure(MEASURES[WEIGHED]))
    yield
    del MEASURES[WEIGHED]


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The measures and their texts, until the test is over."""
    measured(Delta(), better="down", by_prevalence=True)(alarm_share)
    known = {"measured": measured, "OfClasses": OfClasses}
    exec(shown_in("extending.md"), known)  # noqa: S102 -- the guide is to be followed to the letter
    for name, text in ((TOY, "share of false alarms"), (BALANCED, "balanced error rate")):
        monkeypatch.setitem(catalogue()._texts["quantity"], name, text)
        quantities.add(quantities.of_measure(MEASURES[name]))
    yield
    for name in (TOY, BALANCED):
        del MEASURES[name], quantities._BY_ID[name]
    quantities.quantity.cache_clear()


def assessed(
    folder: Path,
    point: dict[str, object],
    bound: float,
    *,
    patients: bool = False,
    measure: str = TOY,
) -> Assessment:
    """240 cases, half of them with the condition; 12 false alarms, six of them of one patient."""
    alarms = {*range(1, 12, 2), *range(101, 112, 2)}
    with (folder / "s.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "truth", "score", *(["patient"] if patients else [])])
        for i in range(240):
            row = [f"c{i}", int(i % 2 == 0), 0.9 if i % 2 == 0 or i in alarms else 0.1]
            writer.writerow(row + ([f"p{i // 12}"] if patients else []))
    manifest = {
        "report": {"kind": "certification"},
        "device": {"trade_name": "Toy"},
        "study": {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"},
        "operating_point": point,
        "datasets": [{"dataset": "ext", "role": "external", "file": "s.csv"}],
        "endpoints": [
            {
                "endpoint": "few alarms",
                "measure": f"advice_accuracy.{measure}",
                "hypothesis": "performance goal",
                "bound_or_margin": bound,
                "alpha": 0.025,
            }
        ],
    }
    (folder / "study.yaml").write_text(json.dumps(manifest))
    return assess(*read_study(folder))


def lead(assessment: Assessment, name: str = TOY) -> Result:
    (found,) = (r for r in assessment.results if r.name == name and r.primary and not r.parameters)
    return found


@pytest.mark.usefixtures("toys")
def test_it_is_reported_with_its_unit_and_name(tmp_path: Path) -> None:
    r = lead(assessed(tmp_path, CHOSEN_BEFORE, 0.1))
    assert (r.estimate.value, r.estimate.n, r.unit, r.written) == (12 / 240, 240, "proportion", "proportion")
    assert catalogue()(measure(r)) == "share of false alarms (ext)"


@pytest.mark.usefixtures("toys")
def test_its_direction_decides_the_verdict(tmp_path: Path) -> None:
    """12 in 240 has an interval of .029 to .085."""
    for bound, word in ((0.1, "pass"), (0.06, "inconclusive"), (0.02, "fail")):
        (verdict,) = assessed(tmp_path, CHOSEN_BEFORE, bound).verdicts
        assert (verdict.word, verdict.bound) == (word, Bound(high=bound))


@pytest.mark.usefixtures("toys")
def test_a_block_on_counted_decisions_reaches_it(tmp_path: Path) -> None:
    (verdict,) = assessed(tmp_path, CHOSEN_HERE, 0.1).verdicts
    assert (verdict.word, verdict.checks) == ("not assessable", ("P33",))


@pytest.mark.usefixtures("toys")
def test_clusters_widen_its_interval_on_its_scale(tmp_path: Path) -> None:
    """Against the delta method by hand: the logit, 20 patients of 12 cases, 19 degrees of freedom."""
    r = lead(assessed(tmp_path, CHOSEN_BEFORE, 0.1, patients=True))
    alarms = np.zeros(20)
    np.add.at(alarms, [i // 12 for i in (*range(1, 12, 2), *range(101, 112, 2))], 1)
    p = alarms.sum() / 240
    se = np.sqrt(20 / 19 * ((alarms - 12 * p) ** 2).sum()) / 240
    t = 2.0930240544
    ends = [1 / (1 + np.exp(-(np.log(p / (1 - p)) + side * t * se / (p * (1 - p))))) for side in (-1, 1)]
    assert r.method == "cluster_delta"
    assert [r.estimate.low, r.estimate.high] == pytest.approx(ends, rel=1e-9)


@pytest.mark.usefixtures("toys")
def test_in_clusters_an_error_rate_is_its_accuracy_turned_round(tmp_path: Path) -> None:
    """One demand in two words has one verdict: an error rate of at most .08, an accuracy of at least .92."""
    found = assessed(tmp_path, CHOSEN_BEFORE, 0.08, patients=True, measure=BALANCED)
    error, accuracy = (lead(found, name).estimate for name in (BALANCED, "balanced_accuracy"))
    assert error.method == accuracy.method == "cluster_mover"
    assert (error.value, error.low, error.high) == pytest.approx(
        (1 - accuracy.value, 1 - accuracy.high, 1 - accuracy.low), abs=1e-12
    )
    (one,) = found.verdicts
    (other,) = assessed(tmp_path, CHOSEN_BEFORE, 0.92, patients=True, measure="balanced_accuracy").verdicts
    assert one.word == other.word == "inconclusive"


@pytest.mark.usefixtures("toys")
def test_its_change_follows_from_its_row() -> None:
    e = Estimate(-0.1, -1.7, 0.2, 100)
    r = Result("vigilance.period_change", Place(dataset="q1", period="q1"), e, endpoint=TOY)
    assert (r.quantity.id, r.unit, r.quantity.better, r.quantity.no_effect) == (
        f"{TOY}_difference",
        "difference",
        "down",
        0.0,
    )
    assert r.estimate.low == -1.0  # no difference of shares is beyond it
    criterion = Endpoint(
        endpoint="no more alarms",
        measure="vigilance.period_change",
        of=TOY,
        hypothesis="non-inferiority",
        bound_or_margin=0.02,
    )
    assert criteria.bound_of(criterion) == Bound(high=0.02)


@pytest.mark.usefixtures("of_scores")
@pytest.mark.parametrize("score, value, note", [(0.25, 0.5, NO_NOTE), (2.5, nan, NOT_RISKS)])
def test_a_measure_of_scores_is_estimated_where_its_needs_are_met(
    score: float, value: float, note: Note
) -> None:
    case = scored(np.array([1, 1, 0], bool), np.array([score, 0.75, 0.1]))
    e = lead_of(case, MEAN, 0.95)
    assert (e.value, e.method, e.note) == (pytest.approx(value, nan_ok=True), "toy_mean", note)


def read(folder: Path, of: str, *, variant: str = "", arms: tuple[str, ...] = ("unaided", "aided")) -> Path:
    """Six readers (or one) see 20 positive and 20 negative cases, and are right more often with the aid."""
    rng = np.random.default_rng(3)
    chance = {"unaided": 0.7, "aided": 0.9, "late": 0.8}
    words = ["reader", "case", "arm", "truth", "decision", *(["patient"] if variant == "patients" else [])]
    with (folder / "readings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(words)
        for reader in range(1 if variant == "one reader" else 6):
            for case in range(40):
                for arm in arms:
                    said = (case < 20) == (rng.random() < chance[arm])
                    row = [f"r{reader}", f"c{case}", arm, int(case < 20), int(said), f"p{case % 15}"]
                    if variant != "gaps" or (reader + case) % 7:
                        writer.writerow(row[: len(words)])
    manifest = {
        "report": {"kind": "certification"},
        "device": {"trade_name": "Toy"},
        "study": {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"},
        "arms": [{"arm": arm, **({} if arm == "unaided" else {"aided": True})} for arm in arms],
        "tables": {"readings": {"file": "readings.csv"}},
        "endpoints": [
            {
                "endpoint": "fewer errors",
                "measure": "decision_benefit.mean_benefit",
                "of": of,
                "arm_or_contrast": ["aided", "unaided"],
                "hypothesis": "superiority",
                "alpha": 0.025,
                "role": "primary",
            }
        ],
    }
    (folder / "study.yaml").write_text(json.dumps(manifest))
    return folder / "study.yaml"


def by_endpoint(found: Assessment, id: str) -> dict[str, list[Result]]:
    """The primary results of an id of all cases, by endpoint."""
    by: dict[str, list[Result]] = {}
    for r in found.results:
        if r.id == id and r.primary and not r.place.subgroup:
            by.setdefault(r.endpoint, []).append(r)
    return by


@pytest.mark.usefixtures("of_readers")
def test_a_measure_of_readers_has_its_change_and_a_verdict(tmp_path: Path) -> None:
    found = assess(*read_study(read(tmp_path, WEIGHED)))
    of = {name: one[0].estimate.value for name, one in by_endpoint(found, CHANGE).items()}
    assert of[WEIGHED] == pytest.approx((2 * of["sensitivity"] + of["specificity"]) / 3, abs=1e-12)
    (verdict,) = found.verdicts
    assert verdict.word == "pass"


@pytest.fixture
def of_both(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The measure that the guide shows, of readers as the guide says, and its mirror image."""
    shown = shown_in("extending.md")
    as_said = shown.replace(', better="down")', ', better="down", of_readers=True)')
    assert as_said != shown
    exec(as_said, {"measured": measured, "OfClasses": OfClasses})  # noqa: S102 -- to the letter
    measured(OfClasses(0.0, 0.5, 0.5), "positives", "negatives", of_readers=True)(mean_rate)
    for name in (BALANCED, RIGHT):
        named(monkeypatch, quantities.of_measure(MEASURES[name]))
    yield
    for name in (BALANCED, RIGHT):
        del MEASURES[name]


@pytest.mark.usefixtures("of_both")
@pytest.mark.parametrize("variant", ["", "patients", "gaps", "one reader"])
def test_errors_of_readers_are_right_decisions_turned_round(tmp_path: Path, variant: str) -> None:
    """Of each reader, of each arm and of the change: lower limits of errors are upper ones of the others."""
    found = assess(*read_study(read(tmp_path, BALANCED, variant=variant)))
    for id, whole in ((EACH, 1.0), (ARM, 1.0), (CHANGE, 0.0)):
        results = by_endpoint(found, id)
        wrong, right = results.get(BALANCED, []), results.get(RIGHT, [])
        assert len(wrong) == len(right)
        assert wrong or variant == "one reader", id
        for one, other in zip(wrong, right, strict=True):
            e, turned = one.estimate, other.estimate
            assert one.place == other.place
            assert (e.value, e.low, e.high) == pytest.approx(
                (whole - turned.value, whole - turned.high, whole - turned.low), abs=1e-9
            )
            assert e.note == notes.mirrored(turned.note)
            low, high = (0.0, 1.0) if whole else (-1.0, 1.0)
            assert low <= e.low <= e.value <= e.high <= high


@pytest.mark.usefixtures("of_both")
def test_a_measure_of_readers_by_the_guide_is_in_the_results_with_its_verdict(tmp_path: Path) -> None:
    study, plan = read_study(read(tmp_path, BALANCED, arms=("unaided", "aided", "late")))
    write_report(assess(study, plan), tmp_path / "out", formats=("json",))
    written = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    entries = [r for r in written["results"] if r["scope"].get("endpoint") == BALANCED and r["primary"]]
    assert {r["id"] for r in entries} >= {EACH, ARM, CHANGE, MEAN_BENEFIT, "decision_benefit.global_test"}
    each = [(r["scope"]["reader"], r["scope"]["arm"]) for r in entries if r["id"] == EACH]
    assert {*each} == {(f"r{i}", arm) for i in range(6) for arm in ("unaided", "aided", "late")}
    (change,) = (
        r for r in entries if r["id"] == MEAN_BENEFIT and r["scope"]["arms"] == ["aided", "unaided"]
    )
    assert (change["quantity"], change["unit"]) == (f"{BALANCED}_difference", "difference")
    assert change["high"] < 0
    (verdict,) = written["verdicts"]
    assert (verdict["verdict"], verdict["below"], verdict["high"]) == ("pass", 0.0, change["high"])


@pytest.mark.parametrize(
    "interval, needs",
    [(Delta(), ()), (CaseShare((1,)), ()), (CaseShare((0,)), ("called_positive",)), (CaseShare((0,)), ())],
)
def test_what_no_reader_can_be_analysed_by_is_refused(interval: Any, needs: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="alarm_share is no share of right decisions"):
        measured(interval, *needs, of_readers=True)(alarm_share)
    assert TOY not in MEASURES


def test_a_statistic_without_a_row_does_not_start() -> None:
    with pytest.raises(UnknownQuantityError, match=TOY):
        Result(f"advice_accuracy.{TOY}", Place(dataset="ext"), Estimate(0.1, 0.0, 0.2, 10))


def test_a_quantity_without_a_name_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    nameless = Quantity(TOY, clustered="cluster_guess")
    monkeypatch.setattr(messages, "ROWS", (*messages.ROWS, nameless))
    for language in ("en", "it"):
        said = rf"templates/messages/{language} lacks quantity.{TOY}, method.cluster_guess"
        with pytest.raises(LookupError, match=said):
            catalogue.__wrapped__(language)


def test_a_row_is_added_once() -> None:
    with pytest.raises(ValueError, match="sensitivity has a row already"):
        quantities.add(Quantity("sensitivity"))
