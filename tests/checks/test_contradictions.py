"""Data that contradict what they are said to be: each fault in a small study, and the study without it.

Each study has one criterion, which passes without the fault: what the fault changes is the verdict alone.
"""

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.studies import plan
from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.checks import Evidence
from trustreport.assessment.checks.contradictions import more_than_read
from trustreport.study.plan import Plan
from trustreport.study.study import ArmCounts, CountsSet, Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
ARMS = ("unaided", "aided")
Rows = list[dict[str, Any]]
IN_TIME = {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"}
POINT = {"threshold": 0.5, "threshold_origin": "tuned on other data", "threshold_fixed_on": "2025-01-01"}


@dataclass
class Files:
    """A manifest and its tables, by the names of their files."""

    manifest: dict[str, Any]
    tables: dict[str, Rows] = field(default_factory=dict)

    def read(self, folder: Path) -> tuple[Study, Plan]:
        for name, rows in self.tables.items():
            with (folder / name).open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
        fixed = {"report": {"kind": "certification"}, "device": {"trade_name": "Drawn"}, "study": IN_TIME}
        (folder / "study.yaml").write_text(json.dumps(fixed | self.manifest))
        return read_study(folder)

    def assessed(self, folder: Path) -> Assessment:
        return assess(*self.read(folder))


def goal(measure: str, bound: float, **more: Any) -> dict[str, Any]:
    said = {"hypothesis": "performance goal", "bound_or_margin": bound, "alpha": 0.025}
    return {"endpoint": "E", "role": "primary", "measure": measure, **said, **more}


def gain(measure: str = "decision_benefit.mean_benefit", **more: Any) -> dict[str, Any]:
    said = {"hypothesis": "superiority", "alpha": 0.025, "of": "accuracy"}
    return {"endpoint": "E", "role": "primary", "measure": measure, **said, **more}


# ---------------------------------------------------------------- scores


def cases(n: int = 240, *, seed: int = 1, digits: int = 6, name: str = "c") -> Rows:
    """Cases of which four in ten have the condition, with a good score."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) % 5 < 2).astype(int)
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + 4 * truth - 2)))
    return [
        {"case": f"{name}{i}", "truth": int(t), "score": round(float(s), digits), "sex": "fm"[i % 3 > 0]}
        for i, (t, s) in enumerate(zip(truth, score))
    ]


def scored(rows: Rows, *criteria: dict[str, Any], **more: Any) -> Files:
    declared = {"dataset": "ext", "role": "external", "file": "e.csv", **more.pop("facts", {})}
    manifest = {"datasets": [declared], "operating_point": POINT, **more}
    manifest["endpoints"] = list(criteria) or [goal("advice_accuracy.sensitivity", 0.7, dataset="ext")]
    return Files(manifest, {"e.csv": rows})


def with_patients(rows: Rows) -> Rows:
    return [row | {"patient": f"p{i // 3}"} for i, row in enumerate(rows)]


def of_frames() -> Files:
    return scored(cases(), facts={"unit_of_analysis": "frame", "cluster_keys": ["patient"]})


def of_frames_of_patients() -> Files:
    return scored(with_patients(cases()), facts={"unit_of_analysis": "frame"})


def of_frames_of_few_patients() -> Files:
    rows = with_patients(cases())
    return scored([r | {"patient": r["patient"] if i > 100 else ""} for i, r in enumerate(rows)], **FRAMES)


FRAMES = {"facts": {"unit_of_analysis": "frame"}}


def twice(rows: Rows, upto: int | None = None) -> Rows:
    """The rows, and the first of them again under other names."""
    return [*rows, *(row | {"case": f"again {row['case']}"} for row in rows[:upto])]


def copied_from_training(n: int) -> Files:
    """Two hundred test cases, of which the first are training cases."""
    training, test = cases(600, seed=2, name="t"), cases(200, seed=3)
    test[:n] = [row | {"case": f"c{i}"} for i, row in enumerate(training[:n])]
    files = scored(test)
    files.manifest["datasets"].append({"dataset": "base", "role": "training", "file": "t.csv"})
    files.tables["t.csv"] = training
    return files


def score_is_truth(wrong: int = 0) -> Files:
    """No threshold: the area under the curve needs none."""
    rows = [row | {"score": row["truth"] if i >= wrong else 0.5} for i, row in enumerate(cases(400))]
    files = scored(rows, goal("advice_accuracy.auc", 0.7, dataset="ext"))
    del files.manifest["operating_point"]
    return files


def group(prespecified: bool, role: str = "primary") -> Files:
    criterion = goal("advice_accuracy.sensitivity", 0.6, dataset="ext", subgroup="sex: f", role=role)
    return scored(cases(), criterion, subgroups=[{"name": "sex", "prespecified": prespecified}])


def followed(by_score: float) -> Files:
    """A thousand cases followed for a year, censored at a rate that may rise with the score."""
    rng = np.random.default_rng(5)
    n = 1000
    score = rng.random(n)
    time = rng.exponential(1 / (0.05 + 4 * score**3))
    ends = np.minimum(rng.exponential(1 / (0.2 + by_score * score)), rng.uniform(1, 2, n))
    rows = [
        {"case": f"c{i}", "score": f"{s:.6f}", "follow_up": f"{min(t, e):.6f}", "event": int(t <= e)}
        for i, (s, t, e) in enumerate(zip(score, time, ends))
    ]
    event = {"horizon": "1", "event": "relapse", "competing": []}
    columns = {"columns": {"follow_up": "follow_up", "event": "event"}}
    criterion = goal("advice_accuracy.auc_at_horizon", 0.6, dataset="ext")
    return scored(rows, criterion, time_to_event=event, facts=columns)


# ---------------------------------------------------------------- published counts


def published(errors: tuple[int, int], n: int, **known: int) -> Files:
    arms = zip(ARMS, errors)
    rows = [{"set": "T", "arm": a, "errors": k, "correct": n - k, **known} for a, k in arms]
    return Files({"counts": rows, "endpoints": [gain("pragmatic_utility.arr", set="T", of=None)]})


def paired(**known: int) -> Files:
    cells = {"both_right": 180, "aided_right_unaided_wrong": 60, "aided_wrong_unaided_right": 10}
    row = {"set": "T", **cells, "both_wrong": 50, **known}
    return Files({"paired_counts": [row], "endpoints": [gain("pragmatic_utility.arr", set="T", of=None)]})


def confusion(**known: int) -> Files:
    row = {"set": "T", "tp": 90, "fp": 15, "fn": 10, "tn": 185, **known}
    return Files({"confusion": [row], "endpoints": [goal("advice_accuracy.sensitivity", 0.7, set="T")]})


# ---------------------------------------------------------------- readings


@dataclass
class Drawn:
    """Decisions of readers in two arms, with advice and truth: (n_readers, n_cases) and (n_cases,)."""

    truth: Any
    advice: Any
    unaided: Any
    aided: Any

    def rows(self, **more: Any) -> Rows:
        found: Rows = []
        for j, i in np.ndindex(self.aided.shape):
            for arm, decisions in (("unaided", self.unaided), ("aided", self.aided)):
                row = {"reader": f"R{j}", "case": f"k{i}", "arm": arm, "truth": int(self.truth[i])}
                advice = int(self.advice[i]) if arm == "aided" else ""
                found.append(row | {"decision": int(decisions[j, i]), "advice": advice})
                found[-1] |= {name: values(j, i, arm) for name, values in more.items()}
        return found


def drawn(n_readers: int = 5, n: int = 200, *, seed: int = 4) -> Drawn:
    """Readers right in seven of ten cases alone; hard cases are hard for all of them."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.45).astype(int)
    hard = rng.normal(0, 0.6, n)

    def decided(skill: float) -> Any:
        right = rng.normal(hard, 0.8, (n_readers, n)) < skill
        return np.where(right, truth, 1 - truth)

    advice = np.where(rng.random(n) < 0.85, truth, 1 - truth)
    return Drawn(truth, advice, decided(0.45), decided(1.05))


def majority(votes: Any) -> Any:
    return (2 * votes.sum(axis=0) > len(votes)).astype(int)


def read(rows: Rows, **more: Any) -> Files:
    manifest = {"tables": {"readings": {"file": "r.csv"}}, "endpoints": [gain()], **more}
    return Files(manifest, {"r.csv": rows})


def advice_is_truth(wrong: int = 0) -> Files:
    of = drawn()
    of.advice = of.truth.copy()
    of.advice[:wrong] = 1 - of.advice[:wrong]
    return read(of.rows())


def advice_score(copied: bool) -> Files:
    of = drawn()

    def shown(j: int, i: int, arm: str) -> Any:
        return "" if arm == "unaided" else int(of.truth[i]) if copied else 0.2 + 0.6 * float(of.advice[i])

    return read(of.rows(advice_score=shown))


def decisions_are_advice(other: int = 0) -> Files:
    of = drawn()
    of.aided = np.tile(of.advice, (5, 1))
    of.aided[0, :other] = 1 - of.aided[0, :other]
    return read(of.rows())


def judged_by_themselves(n_readers: int = 3, **standard: str) -> Files:
    of = drawn(n_readers, 300)
    of.truth = majority(of.aided)
    return read(of.rows(), reference_standard=standard)


def judged_by_another() -> Files:
    return read(drawn(3, 300).rows(), reference_standard={"type": "Consensus of three other readers"})


def readers_as_raters(names: str) -> Files:
    of = drawn()
    files = read(of.rows())
    rng = np.random.default_rng(9)
    labels = np.where(rng.random((3, 200)) < 0.97, of.truth, 1 - of.truth)
    files.tables["l.csv"] = [
        {"case": f"k{i}", "rater": f"{names}{j}", "label": int(labels[j, i])} for j, i in np.ndindex(3, 200)
    ]
    files.manifest["tables"]["raters"] = {"file": "l.csv"}
    return files


def read_twice(**more: Any) -> Files:
    """Sixty cases, all their readings, and all of it again under other names."""
    rows = drawn(n=60, seed=7).rows(**more)
    return read(twice(rows))


def seconds(j: int, i: int, arm: str) -> float:
    return round(float(np.random.default_rng([j, i, len(arm)]).gamma(4, 10)), 1)


def lesions_read() -> Files:
    facts = {"dataset": "reader study", "role": "external", "unit_of_analysis": "lesion"}
    return read(drawn().rows(), datasets=[facts])


def patients_read() -> Files:
    facts = {"dataset": "reader study", "role": "external", "unit_of_analysis": "patient"}
    return read(drawn().rows(), datasets=[facts])


# What contradicts itself, the check that says so, and the same study in order.
FAULTS: dict[str, tuple[str, Callable[[], Files], Callable[[], Files]]] = {
    "frames without patients": ("P69", of_frames, of_frames_of_patients),
    "frames of unknown patients": ("P69", of_frames_of_few_patients, of_frames_of_patients),
    "lesions read": ("P69", lesions_read, patients_read),
    "one reader, too many decisions": (
        "P70",
        lambda: published((100, 50), 300, readers=1, cases=50),
        lambda: published((100, 50), 300, readers=1, cases=300),
    ),
    "paired, too many decisions": (
        "P70",
        lambda: paired(readers=1, cases=100),
        lambda: paired(readers=1, cases=300),
    ),
    "of a device, too many decisions": ("P70", lambda: confusion(cases=50), lambda: confusion(cases=300)),
    "score copied from the reference": ("P12", score_is_truth, lambda: score_is_truth(8)),
    "advice never wrong": ("P12", advice_is_truth, lambda: advice_is_truth(1)),
    "score shown copied": ("P12", lambda: advice_score(True), lambda: advice_score(False)),
    "decisions copied from the advice": ("P72", decisions_are_advice, lambda: decisions_are_advice(1)),
    "own consensus": ("P71", judged_by_themselves, judged_by_another),
    "own consensus, as declared": (
        "P71",
        lambda: judged_by_themselves(7, adjudication="Majority of the readers with the aid"),
        judged_by_another,
    ),
    "readers as raters": ("P71", lambda: readers_as_raters("R"), lambda: readers_as_raters("G")),
    "group chosen afterwards": ("P38", lambda: group(False), lambda: group(True)),
    "every case twice": ("P61", lambda: scored(twice(cases())), lambda: scored(cases())),
    "half of the cases twice": ("P61", lambda: scored(twice(cases(), 120)), lambda: scored(cases())),
    "rounded cases twice": (
        "P61",
        lambda: scored(twice(cases(digits=2))),
        lambda: scored(cases(480, digits=2)),
    ),
    "every reading twice": ("P61", lambda: read_twice(seconds=seconds), lambda: read(drawn().rows())),
    "training cases tested": ("P10", lambda: copied_from_training(40), lambda: copied_from_training(0)),
    "censored by the score": ("P64", lambda: followed(1.5), lambda: followed(0.0)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_withholds_the_verdict_and_nothing_else_does(name: str, tmp_path: Path) -> None:
    check, faulty, _ = FAULTS[name]
    assessment = faulty().assessed(tmp_path)
    (verdict,) = assessment.verdicts
    assert verdict.word == "not assessable"
    assert verdict.checks == (check,)
    said = [EN(o.message) for o in assessment.checks if (o.check, o.status) == (check, "fired")]
    assert said
    assert all(text.endswith(".") for text in said)


@pytest.mark.parametrize("name", FAULTS)
def test_without_the_fault_the_criterion_passes(name: str, tmp_path: Path) -> None:
    check, _, sound = FAULTS[name]
    assessment = sound().assessed(tmp_path)
    fired = {o.check for o in assessment.checks if o.status == "fired" and o.severity == "B"}
    assert fired <= {"P39"}, "the minimum sizes of other measures than the one judged"
    assert [v.word for v in assessment.verdicts] == ["pass"]
    looked = {o.check for o in assessment.checks if o.status != "cannot run"}
    assert check in looked or name == "lesions read", "there a unit that no patient has several of"


def said(files: Files, check: str, folder: Path) -> list[str]:
    return [EN(o.message) for o in files.assessed(folder).checks if (o.check, o.status) == (check, "fired")]


def test_what_is_said_of_too_many_decisions(tmp_path: Path) -> None:
    (text,) = said(published((100, 50), 300, readers=1, cases=50), "P70", tmp_path)
    assert text.startswith(
        "The table counts 300 decisions in one arm, but 1 x 50 (readers x cases, as declare"
    )
    assert "allow 50 at most" in text


def test_decisions_of_reliance_are_counted_by_the_table_of_their_name() -> None:
    cells = {f"n{a}{b}{c}": 50 for a in "01" for b in "01" for c in "01"}
    arms = [{"set": "T", "arm": a, "errors": 50, "correct": 250, "readers": 1, "cases": 300} for a in ARMS]
    given = plan(counts=arms, reliance_counts=[{"set": "T", **cells}])
    counts = CountsSet("T", {arm: ArmCounts(50, 250) for arm in ARMS}, 1, 300)
    study = Study(counts=(counts,), reliance_counts=given.reliance_counts)
    (found,) = more_than_read(Evidence(study, given, ()))
    assert found.message is not None
    assert "counts 400 decisions in one arm, but 1 x 300" in EN(found.message)


def test_a_group_chosen_afterwards_may_be_explored(tmp_path: Path) -> None:
    assessment = group(False, role="exploratory").assessed(tmp_path)
    assert [v.word for v in assessment.verdicts] == ["pass"]
    assert {o.severity for o in assessment.checks if (o.check, o.status) == ("P38", "fired")} == {"W"}


def test_cases_of_one_patient_may_be_alike(tmp_path: Path) -> None:
    rows = [row | {"patient": f"p{i}"} for i, row in enumerate(cases())]
    files = scored(twice(rows))
    assert not said(files, "P61", tmp_path), "the intervals know that they belong together"


def test_features_that_differ_tell_cases_apart(tmp_path: Path) -> None:
    rows = [row | {"age": 30 + i % 37, "size": i} for i, row in enumerate(twice(cases()))]
    assert not said(scored(rows, facts={"features": ["age", "size"]}), "P61", tmp_path)


def test_a_weak_dependence_of_censoring_warns(tmp_path: Path) -> None:
    files = followed(0.45)  # p is 0.002, and 71% against 67% are followed
    files.manifest["limits"] = {"P64_gap": 0.02}
    assessment = files.assessed(tmp_path)
    found = [o for o in assessment.checks if o.check == "P64"]
    assert [(o.status, o.severity) for o in found] == [("fired", "W")]
    assert [v.word for v in assessment.verdicts] == ["pass"]
