"""Models as judges of what people rated, from the tables to the verdict."""

import json
from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.studies import with_table
from trustreport.api import Assessed, Assessment, assess, read_study
from trustreport.report.answer.answer import answer
from trustreport.study.identity.pseudonyms import pseudonymised
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue, say
from trustreport.vocabulary.results import Result

EN = catalogue("en")
HERE = Path(__file__).parent
REFERENCE: dict[str, Any] = json.loads((HERE.parent / "reference" / "model_judge.json").read_text())
EXAMPLE = HERE.parents[1] / "examples" / "drafted-reports"
ID = "reader_measurement."


def assessed(folder: Path, manifest: str, header: str, rows: list[tuple[Any, ...]]) -> Assessment:
    return assess(*read_study(with_table(folder, manifest, header, rows)))


def single(found: Assessment, id: str, **scope: Any) -> Result:
    (one,) = [r for r in found.results if r.id == f"{ID}{id}" and r.within(**scope)]
    return one


def said(found: Assessment) -> str:
    (finding,) = [f for f in found.findings if f.dimension == "reader_measurement"]
    texts = [EN(m) for part in finding.parts for m in part.finding] + [EN(m) for m in finding.not_shown]
    return " ".join(texts).replace("\N{NO-BREAK SPACE}", " ")


def measured(of: str = "judges: [J]", **facts: str) -> str:
    about = {"kind": "ordinal", "scale": "[1, 5]", "better": "up", "acceptable": "4", **facts}
    keys = ", ".join(f"{key}: {value}" for key, value in about.items())
    return (
        f"measurements: [{{measurement: quality, {keys}{', ' if of else ''}{of}}}]\n"
        "tables: {values: {file: table.csv}}\n"
    )


def of_reference() -> list[tuple[Any, ...]]:
    """The ratings of the script of reference values: 40 cases of the judge, 14 of three people."""
    rows: list[tuple[Any, ...]] = [("J", f"c{k}", int(v)) for k, v in enumerate(REFERENCE["judge"])]
    for j, ratings in enumerate(REFERENCE["people"]):
        rows += [(f"R{j}", f"c{k}", int(v)) for k, v in zip(REFERENCE["both"], ratings)]
    return rows


AT_RANDOM = "judges: [J], read_by_people: at_random"
HEADER = "reader case measured"


def test_numbers_of_a_judge_are_those_of_independent_software(tmp_path: Path) -> None:
    found = assessed(tmp_path, measured(AT_RANDOM), HEADER, of_reference())
    for id, name in (
        ("judge_corrected_mean_score", "mean of three"),
        ("judge_corrected_acceptable_share", "share of three"),
    ):
        one = single(found, id)
        assert one.primary
        assert one.estimate.value == pytest.approx(REFERENCE[name]["value"])
    for id, name in (("judge_weighted_kappa", "weighted kappas"), ("judge_acceptable_kappa", "kappas")):
        assert single(found, id).estimate.value == pytest.approx(np.mean(REFERENCE[name]))
    bias = np.mean(np.array(REFERENCE["judge"])[REFERENCE["both"]] - np.mean(REFERENCE["people"], axis=0))
    assert single(found, "judge_bias").estimate.value == pytest.approx(bias)
    assert {r.place.reader for r in found.results if "judge" in r.id} == {"J"}


def test_nothing_of_people_changes_by_the_judge(tmp_path: Path) -> None:
    rows = of_reference()
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    both = assessed(tmp_path / "with", measured(AT_RANDOM), HEADER, rows)
    alone = assessed(tmp_path / "without", measured(""), HEADER, [r for r in rows if r[0] != "J"])
    people = [r for r in both.results if "judge" not in r.id]
    assert [(r.id, r.scope, str(r.estimate), r.cases) for r in people] == [
        (r.id, r.scope, str(r.estimate), r.cases) for r in alone.results
    ]


def test_a_subset_that_is_not_declared_random_is_not_judged(tmp_path: Path) -> None:
    criterion = (
        "endpoints: [{endpoint: e, measure: reader_measurement.judge_corrected_mean_score,"
        " hypothesis: performance goal, bound_or_margin: 1.5}]\n"
    )
    found = assessed(tmp_path, measured() + criterion, HEADER, of_reference())
    corrected = [r for r in found.results if "judge_corrected" in r.id]
    assert corrected
    assert not any(r.primary for r in corrected)
    (verdict,) = found.verdicts
    assert verdict.word == "not assessable"
    assert "drawn at random" in EN(verdict.reason)
    assert "does not state that the cases rated by people were drawn at random" in said(found)
    assert "corrected by the" not in said(found)


@pytest.mark.parametrize(("goal", "word"), [(2.0, "pass"), (3.4, "inconclusive"), (4.6, "fail")])
def test_a_criterion_on_the_corrected_mean_is_judged(tmp_path: Path, goal: float, word: str) -> None:
    criterion = (
        "endpoints: [{endpoint: e, measure: reader_measurement.judge_corrected_mean_score, of: quality,"
        f" hypothesis: performance goal, bound_or_margin: {goal}}}]\n"
    )
    (verdict,) = assessed(tmp_path, measured(AT_RANDOM) + criterion, HEADER, of_reference()).verdicts
    assert verdict.word == word


@pytest.mark.parametrize("measure", ["judge_mean", "judge_acceptable_share"])
def test_the_judge_alone_is_never_judged_as_if_it_were_people(tmp_path: Path, measure: str) -> None:
    criterion = (
        f"endpoints: [{{endpoint: e, measure: {ID}{measure}, hypothesis: performance goal,"
        " bound_or_margin: 0.1}]\n"
    )
    found = assessed(tmp_path, measured(AT_RANDOM) + criterion, HEADER, of_reference())
    assert not single(found, measure).primary
    assert [v.word for v in found.verdicts] == ["not assessable"]


def test_the_first_page_states_what_people_rated_alone(tmp_path: Path) -> None:
    page = answer(assessed(tmp_path, measured(AT_RANDOM), HEADER, of_reference()), EN)
    assert "quality" in f"{page.sentence} {page.supporting}".lower()
    said = f"{page.sentence} {page.supporting}"
    for kind in ("rating", "judge"):  # what can be claimed at most is of both
        said = said.replace(EN(say(f"measurement.not_shown.{kind}")), "")
    assert "judge" not in said


@pytest.mark.parametrize(
    ("better", "shift", "word"),
    [("up", 1, "lenient"), ("up", -1, "strict"), ("down", 1, "strict"), ("down", -1, "lenient")],
)
def test_words_say_which_way_a_judge_errs(tmp_path: Path, better: str, shift: int, word: str) -> None:
    rng = np.random.default_rng(3)
    rows = [
        (reader, k, int(np.clip(3 + (reader == "J") * shift + rng.choice([-1, 0, 0, 1]), 1, 5)))
        for k in range(50)
        for reader in ("J", "A", "B", "C")
        if reader == "J" or k < 30
    ]
    found = assessed(tmp_path, measured(AT_RANDOM, better=better, acceptable="3"), HEADER, rows)
    bias = single(found, "judge_bias").estimate
    assert bias.low * shift > 0
    assert (f"judge was {'more lenient' if word == 'lenient' else 'stricter'} than people") in said(found)
    assert ("higher than people did" if shift > 0 else "lower than people did") in said(found)
    assert "30 cases that both rated" in said(found)


def test_two_sources_are_compared_with_the_corrected_difference(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [
        (reader, k, source, int(rng.poisson(rate * (0.5 if reader == "J" else 1))))
        for k in range(200)
        for source, rate in (("new", 1.0), ("old", 3.0))
        for reader in ("J", "A", "B", "C")
        if reader == "J" or k % 4 == 0
    ]
    manifest = measured(AT_RANDOM, kind="count", scale="[0, 99]", better="down", acceptable="1")
    found = assessed(tmp_path, manifest, "reader case candidate measured", rows)
    apart = single(found, "judge_corrected_mean_loss_difference")
    assert apart.place.candidates == ("new", "old")
    assert (apart.estimate.n, apart.estimate.details["both_rated"]) == (200, 50)
    means = [single(found, "judge_corrected_mean_loss", candidate=c).estimate.value for c in ("new", "old")]
    assert apart.estimate.value == pytest.approx(means[0] - means[1])
    assert apart.estimate.low < -2 < apart.estimate.high
    assert single(found, "judge_corrected_acceptable_share_difference").estimate.low > 0
    assert "lower for new than for old" in said(found)
    assert not any(r.name == "judge_weighted_kappa" for r in found.results)  # a count is no rating


def test_cases_of_a_patient_belong_together_for_the_judge_too(tmp_path: Path) -> None:
    rows = [(r, f"{c}{twin}", v, c) for r, c, v in of_reference() for twin in "ab"]
    found = assessed(tmp_path, measured(AT_RANDOM), f"{HEADER} patient", rows)
    (tmp_path / "once").mkdir()
    plain = assessed(tmp_path / "once", measured(AT_RANDOM), HEADER, of_reference())
    for id in ("judge_bias", "judge_corrected_mean_score"):
        e, once = (single(of, id).estimate for of in (found, plain))
        assert e.details["clusters"] == 40
        assert (e.value, e.low, e.high) == pytest.approx((once.value, once.low, once.high))


def test_several_judges_have_their_own_numbers_and_their_own_names(tmp_path: Path) -> None:
    rows = [*of_reference(), *((f"K{r[0]}", r[1], 6 - r[2]) for r in of_reference() if r[0] == "J")]
    study, plan = read_study(with_table(tmp_path, measured("judges: [J, KJ]"), HEADER, rows))
    found = assess(*pseudonymised(study, plan))
    assert {r.place.reader for r in found.results if r.name == "judge_bias"} == {"J", "KJ"}
    assert all(
        r.place.reader.startswith("R-") for r in found.results if r.place.reader not in (None, "J", "KJ")
    )


def test_a_table_of_readers_need_not_describe_the_judge(tmp_path: Path) -> None:
    (tmp_path / "readers.csv").write_text("reader,years\nR0,3\nR1,8\nR2,12\n")
    manifest = measured(AT_RANDOM).replace(
        "tables: {", "tables: {readers: {file: readers.csv, kind: readers}, "
    )
    found = assessed(tmp_path, manifest, HEADER, of_reference())
    assert single(found, "judge_bias").estimate.n == 14


def test_a_judge_with_one_case_of_people_says_why_nothing_is_estimated(tmp_path: Path) -> None:
    rows = [("J", k, 1 + k % 5) for k in range(20)] + [("A", 0, 3), ("B", 0, 4)]
    found = assessed(tmp_path, measured(AT_RANDOM), HEADER, rows)
    assert isnan(single(found, "judge_corrected_mean_score").estimate.value)
    assert "fewer than two cases that both people and the judge rated" in said(found)


@pytest.mark.parametrize(
    ("of", "rows", "words"),
    [
        ("judges: [K]", of_reference(), ("K", "rated nothing")),
        ("judges: [J]", [r for r in of_reference() if r[0] == "J"], ("every reader of quality is a judge",)),
        ("read_by_people: at_random", of_reference(), ("beside judges",)),
    ],
    ids=["unknown", "alone", "nobody"],
)
def test_judges_that_cannot_be_are_refused(
    tmp_path: Path, of: str, rows: list[tuple[Any, ...]], words: tuple[str, ...]
) -> None:
    with pytest.raises(StudyError) as caught:
        assessed(tmp_path, measured(of), HEADER, rows)
    assert all(word in str(caught.value) for word in words)


def test_the_example_corrects_its_judge_by_a_random_subset(
    assessed_study: Callable[[Path], Assessed],
) -> None:
    found = assessed_study(EXAMPLE)
    bias = single(found, "judge_bias", candidate="model", endpoint="acceptability")
    assert (bias.estimate.n, bias.place.reader) == (60, "llm-1")
    assert bias.estimate.low > 0
    assert single(found, "mean_score", candidate="model", reader=None).estimate.value == pytest.approx(
        4.04, abs=0.3
    )
    assert not any(r.place.reader == "llm-1" and "judge" not in r.id for r in found.results)
    assert [v.word for v in found.verdicts] == ["pass", "pass"]
