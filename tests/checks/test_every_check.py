"""Every check of the register, run on evidence that it must find something in and on evidence in order.

The other files of this folder hold what a check says and where its limits lie; this one holds that none is
left out: a check without a pair here fails, and so does one that cannot even look at what is in order.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from tests import monitored as m
from tests.checks import test_advice_accuracy as accuracy
from tests.checks import test_checks_of_data as of_data
from tests.checks import test_contradictions as contradicting
from tests.checks import test_pragmatic_utility as utility
from tests.checks import test_prespecification as fixed
from tests.checks import test_reader_study as reading
from tests.checks import test_reliance_checks as relying
from tests.checks import test_robustness_checks as robust
from tests.checks import test_source_reliability_check as raters
from tests.checks import test_time_to_event_checks as followed
from tests.checks import test_vigilance_checks as watched
from tests.dimensions import test_candidates as chosen
from tests.dimensions.test_subgroups import cases, counted, declared, scored
from tests.identity.test_identity import study as read_by
from tests.marked import by_radius
from tests.studies import counts, plan, readings
from trustreport.assessment.assess import assess
from trustreport.assessment.checks import CHECKS, Evidence
from trustreport.assessment.finding import CheckOutcome
from trustreport.study import lock
from trustreport.study.plan import Plan
from trustreport.study.pooled.pool import PooledSites, ReceivedFile
from trustreport.study.pooled.site_file import SiteFile
from trustreport.study.study import Source, Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
BY_ID = {check.id: check for check in CHECKS}
Pair = Callable[[], tuple[Evidence, Evidence]]


def alone(study: Study, given: Plan | None = None) -> Evidence:
    """Evidence for a check that looks at study and manifest only."""
    return Evidence(study, given or plan(), ())


def whole(study: Study, given: Plan | None = None) -> Evidence:
    """Evidence with every result."""
    given = given or plan()
    return Evidence(study, given, assess(study, given).results)


# ---------------------------------------------------------------- studies


def right(*shares: tuple[int, int], n: int = 100) -> Study:
    """Readers who are right in the first so many of n cases, unaided and aided."""
    correct = np.zeros((2, len(shares), n), bool)
    for j, both in enumerate(shares):
        for a, k in enumerate(both):
            correct[a, j, :k] = True
    return readings(correct)


def one_gains() -> Study:
    """One reader gains much and four nothing: cases alone say benefit, readers and cases do not."""
    return right((20, 40), *[(20, 20)] * 4, n=40)


def all_gain() -> Study:
    correct = np.zeros((2, 5, 40), bool)
    correct[1] = True
    correct[1, :, 0] = False
    correct[0, np.arange(5), np.arange(5) + 1] = True
    return readings(correct)


def goals(*rule: str, n: int = 3, **dates: str) -> Plan:
    endpoints = [{"endpoint": f"E{i}", **fixed.GOAL, "multiplicity_family": "F"} for i in range(n)]
    return plan(endpoints=endpoints, families=[{"family": "F", "rule": r} for r in rule], study=dates)


def decided_at(beyond: float) -> Evidence:
    """Scores with a threshold so far beyond the best one."""
    data = fixed.scored()
    point = {"threshold": fixed.best_threshold(data) + beyond}
    return alone(Study(datasets=(data,)), plan(operating_point=point))


def primary(measure: str) -> Plan:
    return plan(endpoints=[{**fixed.GOAL, "endpoint": "E", "role": "primary", "measure": measure}])


def of_slope(bound: Any) -> Plan:
    goal = {**fixed.GOAL, "measure": "advice_value.calibration_slope", "bound_or_margin": bound}
    return plan(endpoints=[{"endpoint": "E", **goal}])


def verified_after(days: float) -> Study:
    return scored(replace(cases([0, 1]), numbers={"reference_days": np.array([3.0, days])}))


def aged(*ages: int) -> Study:
    return scored(cases([0, 1] * (len(ages) // 2), age=[str(a) for a in ages]))


def in_versions(*versions: str) -> Study:
    """Forty scored cases, made by these versions in turn."""
    return watched.scored(version=m.coded([versions[i % len(versions)] for i in range(40)]))


def with_plan(study: Study) -> Evidence:
    return alone(study, m.plan(study))


def used_on(*days: str) -> Study:
    """A study of one file, with a look at it on each of these days."""
    file = {"test.csv": "0" * 64}
    with TemporaryDirectory() as folder:
        for day in days:
            looks = lock.record(Path(folder), lock.Look(file, "", day, "", ()))
    return Study(sources=(Source("test.csv", "cases", "0" * 64, 1, 1, 1),), looks=looks)


def matured(days: int) -> tuple[Study, Plan]:
    study = m.over_time(0.9)
    at = {"data_cut": m.first_day(2).isoformat()}
    standard, limits = {"maturity_days": days}, {"P53_immature": 0.2}
    return study, m.plan(study, vigilance=at, reference_standard=standard, limits=limits)


def looked(n_planned: int) -> tuple[Study, Plan]:
    study = m.over_time(0.9, 0.9, 0.9)
    return study, m.plan(study, indicators=[m.SENSITIVITY], vigilance={"planned_looks": n_planned})


def of_mix(share: float, hard: float) -> tuple[Study, Plan]:
    """A period of another mix, or of another sensitivity of hard cases, than its baseline."""
    study = Study(datasets=(watched.mixed(0.1, 0.5, 1000, 0), watched.mixed(share, hard, 1000, 1)))
    return study, m.plan(study)


def between(**candidates: Any) -> Evidence:
    return whole(chosen.study(**candidates), chosen.procurement())


def rated(study: Study) -> Evidence:
    return Evidence(study, plan(), raters.answer(study, plan()).results)


def relied(study: Study) -> Evidence:
    """Evidence with the results of reliance, where there are any."""
    known = relying.DIMENSION.has_data(study, plan())
    return Evidence(study, plan(), relying.answer(study, plan()).results if known else ())


def contradicted(name: str) -> tuple[Evidence, Evidence]:
    """The study with a fault and the one without it, as read from files."""
    found = []
    for files in contradicting.FAULTS[name][1:]:
        with TemporaryDirectory() as folder:
            found.append(alone(*files().read(Path(folder))))
    return found[0], found[1]


TABLE = accuracy.table
BASE = m.over_time(0.9)
EXPECTED = {"prevalence_expected": 0.4}

# What fires the check, then what it clears.
PAIRS: dict[str, Pair] = {
    "P01": lambda: (
        whole(accuracy.reported(recall="0.90")),
        whole(accuracy.reported(recall="0.90", precision="0.80")),
    ),
    "P02": lambda: (whole(accuracy.MIXED), whole(accuracy.ALIKE)),
    "P03": lambda: (
        whole(accuracy.GOOD, accuracy.excluded(19, before=False)),
        whole(accuracy.GOOD, accuracy.excluded(19, before=True)),
    ),
    "P04": lambda: (whole(TABLE(90, 0, 10, 0)), whole(accuracy.GOOD)),
    "P05": lambda: (whole(TABLE(40, 10, 60, 290)), whole(accuracy.GOOD)),
    "P06": lambda: (
        whole(accuracy.GOOD, accuracy.accuracy("0.92")),
        whole(accuracy.GOOD, accuracy.accuracy("0.91")),
    ),
    "P07": lambda: (whole(TABLE(10, 20, 0, 0)), whole(accuracy.GOOD)),
    "P08": lambda: (whole(TABLE(5, 5, 15, 175)), whole(accuracy.GOOD)),
    "P09": lambda: (
        alone(of_data.two(cases([0, 1], ["a", "b"]), cases([0, 1], ["b", "c"]))),
        alone(of_data.two(cases([0, 1], ["a", "b"]), cases([0, 1], ["c", "d"]))),
    ),
    "P10": lambda: (
        alone(of_data.two(of_data.with_content("a", "b"), of_data.with_content("b", "c"))),
        alone(of_data.two(of_data.with_content("a", "b"), of_data.with_content("c", "d"))),
    ),
    "P11": lambda: (
        alone(of_data.two(of_data.cases_at("North", "2024-01-01"), of_data.cases_at("North", "2024-01-03"))),
        alone(of_data.two(of_data.cases_at("North", "2024-01-01"), of_data.cases_at("South", "2024-01-03"))),
    ),
    "P12": lambda: (
        alone(scored(cases([0, 1] * 40), decision=[0, 1] * 40)),
        alone(scored(cases([0, 1] * 40), decision=[0, 1] * 39 + [1, 1])),
    ),
    "P13": lambda: (alone(of_data.verified(50, 50, 20, 100)), alone(of_data.verified(25, 50, 50, 100))),
    "P14": lambda: (rated(raters.POOR), rated(raters.ABLE)),
    "P15": lambda: (
        alone(verified_after(31), plan(reference_standard={"interval_days": 30})),
        alone(verified_after(29), plan(reference_standard={"interval_days": 30})),
    ),
    "P16": lambda: (alone(reading.made(reading.shuffled("all"))), alone(reading.made(reading.shuffled()))),
    "P17": lambda: (
        alone(reading.made(days=reading.apart(0, 7)), reading.CROSSOVER),
        alone(reading.made(days=reading.apart(0, 30)), reading.CROSSOVER),
    ),
    "P18": lambda: (
        alone(reading.made(days=reading.apart(0, 0.01)), reading.CROSSOVER),
        alone(reading.made(days=reading.apart(0, 7)), reading.CROSSOVER),
    ),
    "P19": lambda: (whole(utility.KNEE), whole(counts((5, 5), (4, 6), readers=2, cases=5))),
    "P20": lambda: (
        alone(reading.made(missing=reading.gaps(arm=1))),
        alone(reading.made(missing=reading.gaps())),
    ),
    "P21": lambda: (
        alone(reading.made(missing=reading.lost(15))),
        alone(reading.made(missing=reading.lost(25))),
    ),
    "P22": lambda: (whole(utility.KNEE), whole(readings(utility.CROSSED))),
    "P23": lambda: (whole(utility.KNEE), whole(readings(utility.CROSSED))),
    "P24": lambda: (whole(utility.KNEE), whole(utility.STRONG)),
    "P25": lambda: (
        whole(utility.KNEE, plan(**utility.CLAIM)),
        whole(utility.STRONG, plan(**utility.CLAIM)),
    ),
    "P26": lambda: (whole(one_gains()), whole(all_gain())),
    "P27": lambda: (whole(right(*[(60, 90)] * 5, (60, 20))), whole(right(*[(60, 90)] * 6))),
    "P28": lambda: (
        whole(right((50, 80), (60, 82), (70, 84), (80, 86), (90, 88))),
        whole(right((50, 50), (60, 62), (70, 74), (80, 86), (90, 98))),
    ),
    "P29": lambda: (relied(relying.SEQUENTIAL), relied(relying.STEADY)),
    "P30": lambda: (relied(relying.without(relying.SEQUENTIAL, advice=None)), relied(relying.SEQUENTIAL)),
    "P31": lambda: (
        alone(counted(F=(3, 1, 1, 95)), plan(intended_use=EXPECTED)),
        alone(counted(F=(30, 10, 10, 50)), plan(intended_use=EXPECTED)),
    ),
    "P32": lambda: (
        alone(Study(), plan(**of_data.facts("case-control"))),
        alone(Study(), plan(**of_data.facts("consecutive"))),
    ),
    "P33": lambda: (decided_at(0), decided_at(15)),
    "P34": lambda: (
        whole(accuracy.GOOD, primary("decision_benefit.mean_benefit")),
        whole(accuracy.GOOD, primary("advice_accuracy.sensitivity")),
    ),
    "P35": lambda: (
        alone(Study(), goals("holm")),
        alone(Study(), goals("holm", sap_locked_at="2026-01-01", data_opened_at="2026-02-01")),
    ),
    "P36": lambda: (alone(Study(), goals()), alone(Study(), goals("holm"))),
    "P37": lambda: (
        whole(counted(F=(4, 12, 5, 60), M=(45, 10, 9, 70)), declared()),
        whole(counted(F=(30, 12, 20, 60), M=(45, 10, 9, 70)), declared()),
    ),
    "P38": lambda: (
        whole(counted(F=(30, 12, 20, 60), unknown=(20, 5, 10, 25)), declared()),
        whole(counted(F=(30, 12, 20, 60), M=(30, 12, 20, 60)), declared()),
    ),
    "P39": lambda: (robust.evidence_of(robust.needed(400, 150)), robust.evidence_of(robust.needed(100, 150))),
    "P40": lambda: (
        robust.evidence_of(robust.alike(0.7), robust.classifier(0.5)),
        robust.evidence_of(robust.alike(0.5), robust.classifier(0.5)),
    ),
    "P41": lambda: (
        robust.evidence_of(robust.alike(0.01), robust.alike(0.5, subsample=100)),
        robust.evidence_of(robust.alike(0.01), robust.alike(0.02, subsample=100)),
    ),
    "P42": lambda: (
        robust.evidence_of(robust.alike(0.02, permutations=99)),
        robust.evidence_of(robust.alike(0.02, permutations=999)),
    ),
    "P43": lambda: (
        robust.evidence_of(robust.strong(0.8), robust.needed(400, 150)),
        robust.evidence_of(robust.strong(0.8), robust.needed(100, 150)),
    ),
    "P44": lambda: (robust.evidence_of(robust.correlation(4)), robust.evidence_of(robust.correlation(12))),
    "P45": lambda: (
        robust.evidence_of(robust.area(0.8), robust.slope(0.3, 0.7)),
        robust.evidence_of(robust.area(0.8), robust.slope(0.7, 1.2)),
    ),
    "P46": lambda: (
        robust.evidence_of(robust.index(0.9, 5), robust.index(0.8, 20)),
        robust.evidence_of(robust.index(0.9, 5), robust.index(0.88, 20)),
    ),
    "P47": lambda: (
        robust.evidence_of(*robust.over_sites((0.75, 0.85), (0.6, 0.92))),
        robust.evidence_of(*robust.over_sites((0.75, 0.85), (0.72, 0.92))),
    ),
    "P48": lambda: (alone(in_versions("1.0", "1.1")), alone(in_versions("1.0"))),
    "P49": lambda: (with_plan(in_versions("0.9")), with_plan(in_versions("1.0"))),
    "P50": lambda: (
        alone(aged(30, 40, 50, 70), plan(intended_use={"age_range": [18, 60]})),
        alone(aged(30, 40, 50, 60), plan(intended_use={"age_range": [18, 60]})),
    ),
    "P51": lambda: (
        between(A=chosen.scores(35, 6), B=chosen.scores(30, 3, failed=tuple(range(88, 100)))),
        between(A=chosen.scores(35, 6, failed=(99,)), B=chosen.scores(30, 3, failed=(97, 98))),
    ),
    "P52": lambda: (
        between(A=chosen.scores(35, 6), B=chosen.scores(34, 6)),
        between(A=chosen.scores(40, 0), B=chosen.scores(20, 30)),
    ),
    "P53": lambda: (whole(*matured(25)), whole(*matured(5))),
    "P54": lambda: (
        alone(BASE, m.plan(BASE, vigilance={"baseline_dataset": None})),
        alone(BASE, m.plan(BASE)),
    ),
    "P55": lambda: (whole(*looked(2)), whole(*looked(12))),
    "P56": lambda: (whole(*of_mix(0.7, 0.5)), whole(*of_mix(0.1, 0.0))),
    "P57": lambda: (
        whole(BASE, m.plan(BASE)),
        whole(BASE, m.plan(BASE, incidents=[], limits={"P57_rate": 0.02})),
    ),
    "P58": lambda: (relied(relying.NO_TRUTH), relied(relying.SEQUENTIAL)),
    "P59": lambda: (alone(read_by(("Anna Rossi", "R2", "R3"))), alone(read_by())),
    "P60": lambda: (
        alone(Study(), plan(study={"sponsor": "University"})),
        alone(Study(), plan(study={"sponsor": "University", "conflicts_of_interest": "none"})),
    ),
    "P61": lambda: (
        alone(scored(of_data.with_content("a", "b", "a", ""))),
        alone(scored(of_data.with_content("a", "b", "", ""))),
    ),
    "P62": lambda: (alone(Study(), of_slope(0.8)), alone(Study(), of_slope((0.8, 1.2)))),
    "P63": lambda: (followed.evidence(censoring=3.0), followed.evidence(censoring=0.3)),
    "P64": lambda: (followed.evidence(by_score=3.0), followed.evidence(censoring=0.3)),
    "P65": lambda: (followed.evidence(competing=None), followed.evidence(competing=())),
    "P66": lambda: (alone(by_radius(4.0)), alone(by_radius(0.1))),
    "P67": lambda: (
        alone(by_radius(0.1)),
        alone(by_radius(0.1), plan(localisation={"false_marks_per_case": [0.25, 0.5]})),
    ),
    "P68": lambda: (alone(used_on("2026-01-01", "2026-02-01")), alone(used_on("2026-02-01"))),
    "P69": lambda: contradicted("frames without patients"),
    "P70": lambda: contradicted("one reader, too many decisions"),
    "P71": lambda: contradicted("own consensus"),
    "P72": lambda: contradicted("decisions copied from the advice"),
    "P73": lambda: (
        alone(Study(), plan(reference_standard={"definition": "read by a language model"})),
        alone(Study(), plan(reference_standard={"definition": "biopsy"})),
    ),
    "P74": lambda: (alone(of_sites("cells")), alone(of_sites())),
}


def of_sites(*what: str) -> Study:
    """A study pooled from two sites, of which one withheld something."""
    kept = tuple(
        {"dataset": "external", "what": one, "name": "positives", "reason": "few_cases"} for one in what
    )
    files = [
        {"site": site, "software": {}, "lock": "", "manifest": {}, "rules": {}, "data": (), "datasets": ()}
        for site in ("A", "B")
    ]
    files[0]["withheld"] = kept
    return Study(pooled=PooledSites(tuple(ReceivedFile(f["site"], SiteFile(**f)) for f in files)))


def run(check: str, evidence: Evidence) -> list[CheckOutcome]:
    return list(BY_ID[check].run(evidence))


def test_the_register_is_whole_and_every_check_has_its_pair() -> None:
    assert sorted(BY_ID) == [f"P{k:02d}" for k in range(1, 75)]
    assert set(PAIRS) == set(BY_ID)


@pytest.mark.parametrize("check", sorted(PAIRS))
def test_it_fires_on_what_it_is_about_and_clears_what_is_in_order(check: str) -> None:
    fires, clear = PAIRS[check]()
    said = [EN(o.message) for o in run(check, fires) if o.status == "fired"]
    assert said
    assert all(len(text) > 20 for text in said)
    found = run(check, clear)
    assert {o.status for o in found} == {"clear"}, [EN(o.message) for o in found]


@pytest.mark.parametrize("check", sorted(BY_ID))
def test_without_anything_to_look_at_it_says_why_it_cannot(check: str) -> None:
    (one,) = run(check, alone(Study()))
    assert one.status == "cannot run"
    assert EN(one.message).endswith(".")
