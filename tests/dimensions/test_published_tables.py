"""Published tables of readers and of sites: both diagrams, what is computed, and what is refused."""

from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats

from tests.dimensions.test_potential_robustness import EN, rules_hold, texts
from tests.english import english
from tests.studies import plan
from trustreport.api import assess, read_study
from trustreport.assessment.dimensions.decision_benefit import DIMENSION as BENEFIT
from trustreport.assessment.dimensions.potential_robustness import DIMENSION as ROBUSTNESS
from trustreport.assessment.finding import Finding
from trustreport.report.answer.answer import answer as page_one
from trustreport.report.answer.glance import glance
from trustreport.report.tables import table
from trustreport.study.study import Study
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

# Campagner, Angius, Cabitza (2023), HEALTHINF 2023, section 3: cases and positives of the eight external sets
# of the second case study. Their similarity and performance are printed in a figure only.
COVID = {
    "Italy-1": (337, 163),
    "Italy-2": (249, 104),
    "Italy-3": (224, 118),
    "Spain": (120, 78),
    "Brazil-1": (1301, 352),
    "Brazil-2": (2335, 375),
    "Brazil-3": (345, 334),
    "Ethiopia": (400, 200),
}
# r of similarity with AUC, utility and calibration over these sets, and p, as printed.
PRINTED = {"auc": (0.74, 0.035), "standardized_net_benefit": (0.39, 0.345), "brier": (0.66, 0.076)}
# WPR and SPR of the three Brazilian sets as printed; the k of each was solved for outside this project
# (tests/reference/seeds/seed003.json). With a similarity of 0 it is the p-value itself.
BRAZIL = {"Brazil-1": (0.0, 0.92), "Brazil-2": (0.03, 0.88), "Brazil-3": (0.01, 0.93)}
SOLVED = {0.0: 0.0, 0.03: 0.0047199874193007176, 0.01: 0.001309182911591719}
SOLVED |= {0.92: 0.6276668160544058, 0.88: 0.5519959737304302, 0.93: 0.6499793512421862}


def with_correlation(x: np.ndarray, r: float, seed: int) -> np.ndarray:
    """Values whose correlation with x is exactly r, about .5 with a spread of .1."""
    noise = np.random.default_rng(seed).normal(size=len(x))
    x = (x - x.mean()) / np.linalg.norm(x - x.mean())
    noise -= noise.mean()
    noise -= x * (x @ noise)
    return 0.5 + 0.2 * (r * x + sqrt(1 - r * r) * noise / np.linalg.norm(noise))


def covid(rs: dict[str, float] | None = None, **more: Any) -> dict[str, Any]:
    similarity = np.array([0.9, 0.7, 0.5, 0.35, 0.0, 0.0, 0.0, 0.02])
    rs = rs or {name: r for name, (r, _) in PRINTED.items()}
    columns = {name: with_correlation(similarity, r, i) for i, (name, r) in enumerate(rs.items())}
    sites = [
        {"site": name, "n": n, "positives": x, "similarity": float(similarity[i])}
        | {measure: float(values[i]) for measure, values in columns.items()}
        for i, (name, (n, x)) in enumerate(COVID.items())
    ]
    for site in sites:
        if site["site"] in BRAZIL:
            strong, weak = BRAZIL[site["site"]]
            site |= {"p_performance": SOLVED[strong], "p_acceptability": SOLVED[weak]}
    return {"set": "COVID-19", "sites": sites, **more}


def robustness(*sets: dict[str, Any], **groups: Any) -> Finding:
    given = plan(published_sites=list(sets), **groups)
    assert ROBUSTNESS.has_data(Study(), given)
    assert ROBUSTNESS.answer is not None
    return ROBUSTNESS.answer(Study(), given)


def benefit(*sets: dict[str, Any]) -> Finding:
    given = plan(published_readers=list(sets))
    assert BENEFIT.has_data(Study(), given)
    assert BENEFIT.answer is not None
    return BENEFIT.answer(Study(), given)


def only_result(found: Finding, name: str, **scope: Any) -> Result:
    (only,) = (r for r in found.results if r.name == name and r.within(**scope))
    return only


# ---------------------------------------------------------------- sites


@pytest.mark.parametrize("measure", PRINTED)
def test_the_correlations_of_the_second_case_study(measure: str) -> None:
    """The printed p is that of an r which rounds to the printed one; the paper gives no interval."""
    r, p = PRINTED[measure]
    found = robustness(covid())
    rules_hold(found)
    e = only_result(found, "similarity_performance_correlation", set="COVID-19", endpoint=measure).estimate
    assert (e.n, e.value) == (8, pytest.approx(r, abs=0.005))
    ends = []
    for end in (r - 0.005, r + 0.005):
        at = robustness(covid(dict.fromkeys(PRINTED, end)))
        ends.append(only_result(at, "similarity_performance_correlation", endpoint=measure).estimate.p)
    assert ends[1] - 0.0005 <= p <= ends[0] + 0.0005
    x = [site["similarity"] for site in covid()["sites"]]
    y = [site[measure] for site in covid()["sites"]]
    reference = stats.pearsonr(x, y)
    assert e.p == pytest.approx(reference.pvalue, abs=1e-9)
    interval = reference.confidence_interval(0.95)  # Fisher's z
    assert (e.low, e.high) == pytest.approx((interval.low, interval.high), abs=0.006)
    assert "few sets: with 8, fewer than 10" in english(e.note)


def test_the_brazilian_scores_of_the_second_case_study() -> None:
    found = robustness(covid())
    for site, (strong, weak) in BRAZIL.items():
        assert only_result(found, "spr", site=site).estimate.value == pytest.approx(strong, abs=5e-3)
        assert only_result(found, "wpr", site=site).estimate.value == pytest.approx(weak, abs=5e-3)
    assert not [r for r in found.results if r.name == "spr" and r.place.site == "Spain"]


def test_the_sizes_of_the_second_case_study() -> None:
    """The paper calls all sets but the Spanish one large enough.

    Brazil-3 has 11 negative cases: with its own prevalence no AUC below .99 is known to .1 there. The program
    of the authors takes the share of positive calls for the prevalence.
    """
    sites = covid()
    for site in sites["sites"]:
        site["auc"] = 0.72 if site["site"] == "Spain" else 0.80  # "higher than 75%" but for Spain
    found = robustness(sites)
    reached = {
        site: only_result(found, "mss_auc", site=site).estimate.details["reached"]
        for site in ("Italy-1", "Spain", "Brazil-1", "Brazil-2", "Brazil-3", "Ethiopia")
    }
    assert reached["Spain"] < 1
    assert reached["Brazil-3"] < 1  # differs from the paper
    assert min(reached[name] for name in ("Italy-1", "Brazil-1", "Brazil-2", "Ethiopia")) >= 1


def test_the_authors_rule_on_the_second_case_study() -> None:
    sites = covid()
    for site in sites["sites"]:
        site |= {"auc": 0.8, "standardized_net_benefit": 0.3, "brier": 0.2}
    assert any("The rule is not met" in text for text in texts(robustness(sites)))
    sites["sites"][3]["standardized_net_benefit"] = 0.41  # Spain, of slight similarity
    assert any("The rule is met (Spain)" in text for text in texts(robustness(sites)))


def test_tests_from_printed_intervals_are_those_of_welch() -> None:
    site = {"site": "a", "similarity": 0.3, "n": 300, "auc": {"value": 0.80, "ci": [0.75, 0.85]}}
    site["brier"] = {"value": 0.20, "ci": [0.18, 0.22]}
    training = {"n": 1000, "auc": {"value": 0.86, "ci": [0.84, 0.88]}, "brier": 0.15}
    worst = {"auc": 0.82, "brier": 0.19}
    found = robustness({"set": "A", "training": training, "worst_split": worst, "sites": [site]})
    rules_hold(found)
    z = stats.norm.ppf(0.975)
    se, before = 0.1 / (2 * z), 0.04 / (2 * z)
    reference = stats.ttest_ind_from_stats(
        0.80, se * sqrt(300), 300, 0.86, before * sqrt(1000), 1000, equal_var=False
    )
    p = only_result(found, "p_performance", endpoint="auc").estimate
    assert p.p == pytest.approx(reference.pvalue, abs=1e-9)
    assert only_result(found, "spr", endpoint="auc").estimate.value == pytest.approx(
        stats.combine_pvalues([reference.pvalue, 0.7], "fisher").pvalue, abs=5e-4
    )
    for name, at in (("auc", (0.80 - 0.82) / se), ("brier", (0.19 - 0.20) / (0.04 / (2 * z)))):
        accepted = only_result(found, "p_acceptability", endpoint=name).estimate
        assert accepted.p == pytest.approx(stats.norm.cdf(at), abs=1e-9)
    # the training value of the Brier score has no interval: no test, and no score
    assert not [r for r in found.results if r.name == "spr" and r.endpoint == "brier"]


def test_what_was_not_printed_is_not_there() -> None:
    sites = [{"site": f"s{i}", "similarity": 0.1 * i, "auc": 0.7 + 0.01 * i**2} for i in range(4)]
    found = robustness({"set": "A", "sites": sites})
    rules_hold(found)
    assert not {r.name for r in found.results} & {"mss", "mss_auc", "spr", "wpr", "p_performance"}
    printed = [r.estimate for r in found.results if r.name == "published_performance"]
    assert all(isnan(e.low) and isnan(e.high) for e in printed)
    drawing = next(f.drawing for part in found.parts for f in part.figures)
    assert all(isnan(shown.reached) for point in drawing.sites for shown in point.performances)
    assert not any("By the rule" in text for text in texts(found))  # two of its measures are not known
    assert not [t for part in found.parts for t in part.tables if "scores" in t.id]


# ---------------------------------------------------------------- readers


READERS = [
    {"reader": "R1", "stratum": "SHC", "unaided": 0.74, "aided": 0.78},
    {"reader": "R2", "stratum": "THC", "unaided": 0.80, "difference": 0.05},
    {"reader": "R3", "stratum": "THC", "unaided": 0.83, "difference": {"value": -0.01, "ci": [-0.04, 0.02]}},
    {"reader": "R4", "stratum": "SHC", "unaided": 0.70, "aided": 0.79},
]
CHANGES = [0.04, 0.05, -0.01, 0.09]


def test_readers_of_a_publication_are_drawn_as_published() -> None:
    found = benefit({"set": "knee", "cases": 120, "readers": READERS})
    rules_hold(found)
    rows = next(f.drawing for part in found.parts for f in part.figures).rows
    assert [row.baseline for row in rows] == [0.74, 0.80, 0.83, 0.70]
    assert [row.benefit.value for row in rows] == pytest.approx(CHANGES)
    assert [isnan(row.benefit.low) for row in rows] == [True, True, False, True]
    assert (rows[2].benefit.low, rows[2].benefit.high) == (-0.04, 0.02)
    assert {row.stratum for row in rows} == {"SHC", "THC"}
    said = texts(found)
    assert any("As published, three of four readers had a higher accuracy" in text for text in said)
    assert any("Benefit diagram of knee, as published" in text for text in said)


def test_a_printed_difference_goes_before_that_of_rounded_values() -> None:
    reader = {"reader": "R1", "unaided": 0.74, "aided": 0.78, "difference": 0.045}
    e = only_result(benefit({"set": "knee", "readers": [reader]}), "published_benefit").estimate
    assert e.value == pytest.approx(0.045)


def test_the_mean_of_published_differences_is_that_of_a_t_test() -> None:
    e = only_result(benefit({"set": "knee", "readers": READERS}), "published_mean_benefit").estimate
    reference = stats.ttest_1samp(CHANGES, 0)
    interval = reference.confidence_interval()
    assert e.value == pytest.approx(np.mean(CHANGES), abs=5e-4)
    assert (e.low, e.high) == pytest.approx((interval.low, interval.high), abs=6e-4)
    assert e.p == pytest.approx(reference.pvalue, abs=1e-9)
    printed = {"set": "knee", "readers": READERS, "mean": {"value": 0.04, "ci": [0.01, 0.07]}}
    as_printed = only_result(benefit(printed), "published_mean_benefit").estimate
    assert (as_printed.value, as_printed.low, as_printed.method) == (0.04, 0.01, "as_published")
    alone = only_result(benefit({"set": "knee", "readers": READERS[:1]}), "published_mean_benefit").estimate
    assert isnan(alone.low)
    area = benefit({"set": "knee", "measure": "auc", "readers": READERS})
    assert any("mean difference is 0.04" in text for text in texts(area))


@pytest.mark.parametrize("language", ["en", "de", "fr", "it"])
def test_everything_is_said_in_each_language(language: str) -> None:
    say = catalogue(language)
    for found in (benefit({"set": "knee", "readers": READERS}), robustness(covid(threshold=0.2))):
        for part in found.parts:
            assert part.title is not None
            assert all(say(m) for m in (part.title, *part.finding))
            for source in part.tables:
                assert table(source, say).caption
            for figure in part.figures:
                assert say(figure.caption)
                figure.drawing.draw(say)


def test_page_one_says_what_was_published() -> None:
    given = plan(published_sites=[covid()], published_readers=[{"set": "knee", "readers": READERS}])
    found = page_one(assess(Study(), given), EN)
    assert "As published in knee, the difference in the readers' mean accuracy" in found.sentence
    rows = {row.name: row for row in glance(assess(Study(), given), {}, EN)}
    assert rows["Decision benefit"].measured[0].startswith("mean published change")
    assert rows["Decision benefit"].says == "No change was found."


# ---------------------------------------------------------------- refusals

SITE = {"site": "a", "similarity": 0.2, "auc": 0.8}
READER = {"reader": "R1", "unaided": 0.8, "aided": 0.9}


@pytest.mark.parametrize(
    "group, row, says",
    [
        ("readers", {"aided": None}, "expected aided, or difference (aided minus unaided)"),
        ("readers", {"difference": 0.15}, "a difference of 0.1 (aided minus unaided)"),
        ("readers", {"aided": None, "difference": 0.3}, "leaves the aided value between 0 and 1"),
        ("readers", {"unaided": 80}, "a number at most 1"),
        (
            "readers",
            {"aided": None, "difference": {"value": 0.1, "ci": [0.2, 0.3]}},
            "that includes the value",
        ),
        ("sites", {"similarity": 75}, "a number at most 1"),
        ("sites", {"auc": 80}, "auc: a number from 0 to 1 (0.81, not 81)"),
        ("sites", {"net_benefit": 40}, "standardized_net_benefit: a number at most 1"),
        ("sites", {"positives": 3}, "n, and positives not more than n"),
        ("sites", {"n": 2, "positives": 3}, "n, and positives not more than n"),
        ("sites", {"sensitivty": 0.3}, 'Did you mean "sensitivity"?'),
    ],
)
def test_what_cannot_be_is_refused(group: str, row: dict[str, Any], says: str, tmp_path: Path) -> None:
    first = {k: v for k, v in ({**(READER if group == "readers" else SITE), **row}).items() if v is not None}
    declared = {
        "report": {"kind": "certification"},
        "device": {},
        f"published_{group}": [{"set": "A", group: [first]}],
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(declared))
    with pytest.raises(StudyError) as refused:
        read_study(tmp_path)
    assert says in str(refused.value)


@pytest.mark.parametrize("group, row", [("readers", READER), ("sites", SITE)])
def test_names_are_there_once(group: str, row: dict[str, Any]) -> None:
    word = group[:-1]
    for rows, says in (([row, row], f"each {word} once"), ([], f"at least one {word}")):
        with pytest.raises(ValueError, match=says):
            plan(**{f"published_{group}": [{"set": "A", group: rows}]})
