"""Where errors concentrate: counted by hand, the group that is blamed and those that are not."""

from math import isnan
from typing import Any

import numpy as np
import pytest

from tests.english import english
from tests.monitored import coded
from trustreport.assessment.narrative.where import where
from trustreport.assessment.performance.cases import scored_cases
from trustreport.assessment.performance.crossed import concentrations
from trustreport.assessment.performance.sites import Concentration, Pool, pooled
from trustreport.measures.proportion import wilson
from trustreport.measures.subgroups import clustered_share_difference, share_difference
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Dataset, Labels, Scores, Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
# Site, scanner, missed, found: scanner Y is at B alone and misses half, whatever the site.
CELLS = (("A", "X", 6, 94), ("B", "X", 7, 93), ("B", "Y", 30, 30))


def dataset(name: str, cells: Any, *, columns: tuple[str, ...] = ("site", "scanner"), **more: Any) -> Dataset:
    """Positive cases by their columns, so many missed and so many found, and twenty negatives cleared."""
    rows = [(*levels, called) for *levels, missed, found in cells for called in [0] * missed + [1] * found]
    rows += [(*cells[k % len(cells)][:-2], 0) for k in range(20)]
    truth = np.array([1] * (len(rows) - 20) + [0] * 20, np.int8)
    named = {c: coded([row[i] for row in rows]) for i, c in enumerate(columns)}
    cases = Cases(Labels(n=len(rows)), truth, site=named.pop("site", None), groups=named, **more)
    score = np.array([0.9 if row[-1] else 0.1 for row in rows])
    return Dataset(name, "external", cases, {"": Scores(score)})


def declared(*sets: Dataset, **groups: Any) -> Plan:
    return Plan.model_validate(
        {
            "report": {"kind": "certification"},
            "device": {},
            "operating_point": {"threshold": 0.5},
            "datasets": [{"dataset": d.name, "role": "external"} for d in sets],
            **groups,
        }
    )


def pool(*sets: Dataset, in_time: bool = False, **groups: Any) -> tuple[Pool, Plan]:
    plan = declared(*sets, **groups)
    made = pooled(scored_cases(Study(datasets=sets), plan), plan, in_time=in_time)
    assert made is not None
    return made, plan


def missed(*sets: Dataset, **more: Any) -> Concentration:
    made, plan = pool(*sets, **more)
    return concentrations(made, "subgroups", plan)[0]


def said(*sets: Dataset, **more: Any) -> str:
    made, plan = pool(*sets, **more)
    part, results = where(made, "subgroups", plan, "_1")
    assert part is not None
    assert results
    return " ".join(EN(message) for message in part.finding)


def test_the_scanner_is_blamed_and_the_site_that_has_it_is_not() -> None:
    """Scanner Y 30 of 60, X 13 of 200; site B 37 of 160, but with scanner X 7 of 100 against 6 of 100."""
    found = missed(dataset("one", CELLS))
    assert found.lead is not None
    assert (found.lead.group.level, found.lead.first.k, found.lead.first.n) == ("Y", 30, 60)
    assert (found.lead.second.k, found.lead.second.n) == (13, 200)
    e = share_difference(30, 60, 13, 200)
    assert (found.lead.difference.value, found.lead.difference.low) == pytest.approx((e.value, e.low))
    rate = wilson(30, 60)
    assert (found.lead.first.rate.low, found.lead.first.rate.high) == pytest.approx((rate.low, rate.high))
    (site,) = found.outside
    assert (site.group.level, site.first.k, site.first.n, site.second.k, site.second.n) == (
        "B",
        7,
        100,
        6,
        100,
    )
    assert not site.higher
    text = said(dataset("one", CELLS))
    assert "significantly more frequent on scanner “Y”: 30 of 60 positive cases were missed (50%)" in text
    assert "Scanner “Y” has positive cases only at B." in text
    assert "no significant difference remains for B (7 of 100 against 6 of 100" in text


def test_each_combination_is_counted_and_what_is_shared_is_compared() -> None:
    found = missed(dataset("one", CELLS))
    (crossing,) = found.crossings
    assert [(levels, one.k, one.n, other.k, other.n) for levels, one, other in crossing.cells] == [
        (("A",), 0, 0, 6, 100),
        (("B",), 30, 60, 7, 100),
    ]
    assert crossing.shared is not None
    assert (crossing.common, crossing.shared.second.k) == ((("B",),), 7)
    scopes = [str(sorted(r.scope.items())) for r in found.results]
    assert len(scopes) == len(set(scopes))
    assert {r.quantity.id for r in found.results} == {"false_negative_rate", "false_negative_rate_difference"}


def test_a_site_is_blamed_where_its_camera_does_well_elsewhere() -> None:
    south = dataset("south", (("S", "C", 30, 60),))
    east = dataset("east", (("E", "C", 3, 29), ("E", "D", 4, 42)))
    found = missed(south, east)
    assert found.lead is not None
    assert (found.lead.group.of.name, found.lead.group.level) == ("site", "S")
    (camera,) = found.outside
    assert (camera.group.level, camera.first.k, camera.first.n) == ("C", 3, 32)
    assert not camera.higher


def test_a_comparison_within_a_set_leaves_the_adjusted_p_to_its_declared_groups() -> None:
    """Scanner Y seems to miss more in set b too, which is all that is left beside site S of set a."""
    cells = (("A", "X", 5, 95), ("B", "X", 6, 94), ("A", "Y", 30, 42))
    one, two = dataset("a", (("S", "X", 60, 40),)), dataset("b", cells)
    for declares, says in (({}, True), ({"subgroups": [{"name": "scanner"}]}, False)):
        made, plan = pool(one, two, **declares)
        found = concentrations(made, "vigilance", plan)[0]
        outside = [c for c in found.outside if c.result.place.datasets == ("b",)]
        assert outside
        assert {c.says_adjusted for c in outside} == {says}
        assert not any(isnan(c.adjusted) for c in outside)  # what remains is decided alike


def test_a_group_that_is_the_same_cases_cannot_be_separated() -> None:
    cells = (("A", "X", 5, 95), ("B", "Y", 40, 60))
    found = missed(dataset("one", cells))
    assert [group.of.name for group in found.same] == ["scanner"]
    assert "are the same cases: these data cannot separate them" in said(dataset("one", cells))


def test_a_version_that_came_with_time_is_crossed_with_both() -> None:
    """The new version misses 3 of 50 before the third period; then, with scanner Y alone, 30 of 60."""
    sets = []
    for name, cells in (
        ("p1", (("X", 4, 96),)),
        ("p2", (("X", 3, 47),)),
        ("p3", (("X", 4, 56), ("Y", 30, 30))),
    ):
        one = dataset(name, cells, columns=("scanner",))
        version = coded(["1" if name == "p1" else "2"] * len(one.cases))
        scores = Scores(one.scores[""].score, version=version)
        sets.append(Dataset(name, "period", one.cases, {"": scores}))
    found = missed(*sets, in_time=True)
    assert found.lead is not None
    assert found.lead.group.level == "Y"
    (crossing,) = found.crossings
    assert [c.name for c in crossing.by] == ["version", "period"]
    assert {levels: (one.k, one.n, other.k, other.n) for levels, one, other in crossing.cells} == {
        ("1", "before"): (0, 0, 4, 100),
        ("2", "before"): (0, 0, 3, 50),
        ("2", "from"): (30, 60, 4, 60),
    }
    assert {c.group.of.kind for c in found.outside} == {"version", "period"}
    assert not any(c.higher for c in found.outside)


def test_nothing_stands_out_the_largest_difference_is_said_with_its_interval() -> None:
    found = missed(dataset("one", (("A", "X", 6, 94), ("B", "Y", 9, 91))))
    assert found.lead is None
    assert found.largest is not None
    text = said(dataset("one", (("A", "X", 6, 94), ("B", "Y", 9, 91))))
    assert "No group has significantly more missed cases (1 compared)" in text
    assert "9 of 100 positive cases were missed (9.0%), against 6 of 100 (6.0%)" in text


def test_few_cases_have_counts_and_no_percentage() -> None:
    found = missed(dataset("one", (*CELLS, ("C", "X", 1, 4))))
    (crossing,) = found.crossings
    few = next(other for levels, _, other in crossing.cells if levels == ("C",))
    assert (few.k, few.n) == (1, 5)
    assert np.isnan(few.rate.value)
    assert "too few for a percentage" in english(few.rate.note)


def test_a_public_report_leaves_out_a_characteristic_with_a_small_cell() -> None:
    cells = (("A", "X", 2, 98), ("B", "X", 7, 93), ("B", "Y", 30, 30))
    public = {"report": {"kind": "certification", "release": "public"}}
    text = said(dataset("one", cells), **public)
    assert "By site nothing is shown: a cell holds fewer than 5 cases." in text
    assert " A " not in text


def test_patients_with_several_cases_widen_the_interval_and_count_once_over_sets() -> None:
    def with_patients(name: str) -> Dataset:
        one = dataset(name, CELLS)
        n = len(one.cases)
        patient = coded([f"P{k // 5}" for k in range(n)])
        own = one.cases
        cases = Cases(Labels(n=n), own.truth, site=own.site, patient=patient, groups=own.groups)
        return Dataset(name, "external", cases, one.scores)

    alone, _ = pool(with_patients("one"))
    assert alone.cluster is not None
    assert len(np.unique(alone.cluster)) == 56
    found = missed(with_patients("one"))
    assert found.lead is not None
    of = alone.truth
    wrong = alone.truth != alone.decision
    group = found.lead.group
    e = clustered_share_difference(wrong, group.mask & of, group.rest & of, alone.cluster)
    assert (found.lead.difference.low, found.lead.difference.high) == pytest.approx((e.low, e.high))
    assert found.lead.first.rate.method == "cluster_wilson"
    both, _ = pool(with_patients("one"), with_patients("two"))
    assert both.cluster is not None
    assert len(np.unique(both.cluster)) == 56
