"""Nothing that was provided falls silent: what is not used, or probably means something else, is said."""

from pathlib import Path

import pytest

from trustreport.study.ingest import read
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EN = catalogue("en")
HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
ONE = "datasets: [{dataset: a, role: external, file: a.csv}]\n"


def warned(folder: Path, manifest: str, **files: str) -> dict[str, str]:
    """What is said of a study, by the key of each sentence."""
    (folder / "study.yaml").write_text(HEAD + manifest)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    study, _ = read(folder)
    return {key: EN(f"cautions.{key}", **values) for key, values in study.cautions}


def scores(*rows: str, head: str = "truth,score") -> str:
    return "\n".join([head, *rows]) + "\n"


PERCENT = scores("1,80", "0,20", "1,60", "0,0")


def test_percent_scores_with_a_threshold_of_a_share(tmp_path: Path) -> None:
    said = warned(tmp_path, "operating_point: {threshold: 0.5}\n" + ONE, a_csv=PERCENT)
    assert said["threshold_of_another_scale"] == (
        "a: scores run from 0 to 80, and the threshold is 0.5. "
        "If the scores are percentages, declare the threshold on their scale, with score_range: [0, 100] and "
        "scores_are_probabilities: true."
    )
    assert not warned(tmp_path, "operating_point: {threshold: 50}\n" + ONE, a_csv=PERCENT)


def test_a_threshold_of_another_scale_beside_decisions(tmp_path: Path) -> None:
    text = scores("1,80,1", "0,20,0", head="truth,score,decision")
    assert "threshold_of_another_scale" in warned(
        tmp_path, "operating_point: {threshold: 0.5}\n" + ONE, a_csv=text
    )


def test_a_threshold_beyond_all_scores(tmp_path: Path) -> None:
    said = warned(tmp_path, "operating_point: {threshold: 3}\n" + ONE, a_csv=scores("1,.8", "0,.2"))
    assert set(said) == {"threshold_beyond_scores"}


def test_a_column_of_weights_is_used_where_it_is_declared(tmp_path: Path) -> None:
    text = scores("1,.8,2", "0,.2,3", head="truth,score,weight")
    said = warned(tmp_path, ONE, a_csv=text)
    assert said["weights_unused"] == (
        "a.csv: weight is read as an ordinary column. No measure is weighted: every case counts once. "
        "If it holds sampling weights, declare columns: {weight: weight}."
    )
    for word in ("weight", "weights", "sampling_weight"):
        declared = ONE.replace("a.csv", f"a.csv, columns: {{{word}: weight}}")
        said = warned(tmp_path, declared, a_csv=text)
        assert set(said) == {"weights_used"}
        assert "All other results" in said["weights_used"]
        assert "count every case once" in said["weights_used"]


def test_weights_below_0_are_refused(tmp_path: Path) -> None:
    text = scores("1,.8,-2", "0,.2,3", head="truth,score,w")
    with pytest.raises(StudyError, match=r"a\.csv, row 2, column w: found \"-2\", expected"):
        warned(tmp_path, ONE.replace("a.csv", "a.csv, columns: {weight: w}"), a_csv=text)


def test_columns_that_enter_nothing(tmp_path: Path) -> None:
    rows = [f"{i % 2},.{i + 10},{20 + 1.5 * i}" for i in range(30)]
    text = scores(*rows, head="truth,score,age")
    assert "age is not used" in warned(tmp_path, ONE, a_csv=text)["columns_not_groups"]
    # A subgroup that names the column needs it, whatever it holds.
    group = "subgroups: [{name: middle, definition: 30 <= age < 45}]\n"
    assert not warned(tmp_path, ONE + group, a_csv=text)
    breaks = "subgroups: [{name: age, breaks: [30, 45]}]\n"
    assert not warned(tmp_path, ONE + breaks, a_csv=text)
    readings = "reader,case,truth,decision,note\nR1,c1,1,1,x\nR1,c2,0,0,y\n"
    said = warned(tmp_path, "arms: [{arm: aided}]\ntables: {readings: {file: r.csv}}\n", r_csv=readings)
    assert said["columns_ignored"].startswith("r.csv: the column note is not used.")


def test_a_group_that_no_column_forms(tmp_path: Path) -> None:
    group = "subgroups: [{name: old, definition: 65 <= age}]\n"
    said = warned(tmp_path, ONE + group, a_csv=scores("1,.8", "0,.2"))
    assert said["subgroup_without_column"] == "The subgroup old cannot be formed: no table has age."


def test_rows_and_tables_without_a_decision(tmp_path: Path) -> None:
    manifest = "arms: [{arm: aided}]\ntables: {readings: {file: r.csv}, raters: {file: p.csv}}\n"
    labels = "case,rater,label\nc1,A,1\nc1,B,0\n"
    readings = "reader,case,truth,decision\nR1,c1,1,\nR1,c2,0,0\n"
    said = warned(tmp_path, manifest, r_csv=readings, p_csv=labels)
    assert said == {"rows_unused": "r.csv: 1 of 2 rows are not used."}
    said = warned(tmp_path, manifest, r_csv=readings.replace("0,0", "0,"), p_csv=labels)
    assert said["table_unused"].startswith("r.csv: no row of this table of readings is used.")


DESIGN = "tables: {readings: {file: r.csv}}\n"


@pytest.mark.parametrize("declared", ["", "reading: {design: crossover}\n"])
def test_arms_that_share_no_reading_suggest_the_design(tmp_path: Path, declared: str) -> None:
    rows = [f"R{i % 4},c{i},{'aided' if i % 4 < 2 else 'unaided'},{i % 2},1" for i in range(16)]
    text = "\n".join(["reader,case,arm,truth,decision", *rows]) + "\n"
    said = warned(tmp_path, declared + DESIGN, r_csv=text)
    assert said["design_looks_parallel"].endswith("add reading: {design: parallel}.")
    assert not warned(tmp_path, "reading: {design: parallel}\n" + DESIGN, r_csv=text)


def test_features_that_lack_in_many_cases(tmp_path: Path) -> None:
    rows = [f"{i % 2},.{i + 10},{'' if i % 4 == 0 else i}" for i in range(20)]
    manifest = ONE.replace("a.csv", "a.csv, features: [size]")
    said = warned(tmp_path, manifest, a_csv=scores(*rows, head="truth,score,size"))
    assert said["features_missing"].startswith("a: 25% of the cases lack a value of size.")


def test_a_baseline_that_is_not_in_control(tmp_path: Path) -> None:
    rows = [f"1,{int(i < 47)}" for i in range(100)] + ["0,0"] * 50
    manifest = """vigilance:
  baseline_dataset: a
  indicators: [{measure: sensitivity, in_control: 0.6, to_detect: 0.5}]
"""
    said = warned(tmp_path, ONE + manifest, a_csv=scores(*rows, head="truth,decision"))
    assert said["baseline_not_in_control"].startswith(
        "sensitivity: 60.0% is declared to be in control, but the baseline a has 47 of 100 (47.0%)."
    )
    manifest = manifest.replace("0.6", "0.5").replace("to_detect: 0.5", "to_detect: 0.4")
    assert not warned(tmp_path, ONE + manifest, a_csv=scores(*rows, head="truth,decision"))


@pytest.mark.parametrize("name", sorted(p.parent.name for p in EXAMPLES.glob("*/study.yaml")))
def test_the_examples_are_free_of_them(name: str) -> None:
    assert not read(EXAMPLES / name)[0].cautions
