"""Calculators of single numbers: the papers' examples, faults in words, and the command."""

import re
from math import log
from pathlib import Path

import pytest
from click.testing import CliRunner

from trustreport.commands.cli import main
from trustreport.report.calculate import Area, Calculation, of_counts, of_nomogram, of_robustness, of_scores


def values(found: Calculation) -> dict[str, str]:
    """Label and estimate of every row of the last table."""
    return {line.cells[0].text: line.cells[1].text.strip() for line in found.tables[-1].lines}


def share(text: str) -> float:
    """A percentage as a fraction of one."""
    return float(text.removesuffix("%")) / 100


def test_a_table_of_counts_has_every_measure() -> None:
    """Hicks et al. (2022), table 2: T2.R1 has these counts; the interval is Wilson's for 97 of 143."""
    found = of_counts({"tp": "97", "fn": "46", "fp": "12", "tn": "55"})
    shown = values(found)
    assert shown["Sensitivity"] == "67.8%"
    assert shown["Accuracy"] == "72.4%"
    assert share(shown["Negative predictive value"]) == pytest.approx(55 / 101, abs=5e-4)
    assert any("59.8% to 74.9%" in line for line in found.lines())
    assert values(of_counts({"precision": "0.89", "recall": "0.68"}, positives=143, total=210)) == shown


def test_the_positive_class_alone_gives_its_share_and_nothing_of_the_other() -> None:
    """Study 1 of Hicks et al. (2022), Table 1; the interval is Wilson's by hand of 337 of 338."""
    found = of_counts({"tp": "337", "fn": "1", "recall": "1.00"})
    assert [[cell.text for cell in line.cells[:4]] for line in found.tables[0].lines] == [
        ["Sensitivity", "99.7%", "98.3% to 99.9%", "338"]
    ]
    assert "nothing about false alarms" in found.sentences[-1]
    other = of_counts({"tn": "95", "fp": "5"})
    assert [line.cells[0].text for line in other.tables[0].lines] == ["Specificity"]
    with pytest.raises(ValueError, match="ppv also needs negatives or total"):
        of_counts({"tp": "337", "fn": "1", "ppv": "0.8"})


def test_figures_that_leave_several_tables_give_ranges_and_others_a_contradiction() -> None:
    several = of_counts({"accuracy": "0.71", "f1": "0.75"}, positives=143, negatives=67)
    assert several.sentences[0].startswith("There are 9 tables of counts")
    assert several.tables[0].heads[1].text == "Lowest"
    wrong = of_counts({"tp": "97", "fn": "46", "fp": "12", "tn": "55", "accuracy": "0.5"})
    assert wrong.contradictory
    assert not wrong.tables


def test_the_nomogram_of_the_paper() -> None:
    """Campagner et al. (2023): a concordance of .57 turns a measured 90% into about 80%."""
    shown = values(of_nomogram(0.57, 0.9))
    assert share(shown["Actual accuracy"]) == pytest.approx(0.80, abs=0.005)
    assert share(shown["Proportion of correct labels"]) == pytest.approx((1 + 0.57**0.5) / 2, abs=5e-4)
    assert values(of_nomogram(1.0, 0.9))["Actual accuracy"] == "90.0%"


def test_robustness_of_the_formula_of_the_paper() -> None:
    """k (1 - ln k) with k = P (1 - P_sim): .8 and .05 give .96857, .92 and .3 give .92740."""
    shown = values(of_robustness(0.05, performance=0.8))
    assert float(shown["Strong potential robustness"]) == pytest.approx(0.96857, abs=5e-4)
    assert "Weak potential robustness" not in shown
    weak = values(of_robustness(0.3, acceptability=0.92))
    assert float(weak["Weak potential robustness"]) == pytest.approx(0.92740, abs=5e-4)


def test_robustness_from_areas_is_that_of_their_p_values() -> None:
    areas = {"external": Area(0.84, 0.02, 300), "internal": Area(0.9, 0.02, 400)}
    shown = values(of_robustness(0.2, **areas, least=0.86))
    assert float(shown["P-value for acceptable performance"]) == pytest.approx(0.1587, abs=0.005)
    k = 0.1587 * 0.8
    assert float(shown["Weak potential robustness"]) == pytest.approx(k * (1 - log(k)), abs=5e-4)


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_h_accuracy_by_hand(sign: str) -> None:
    """Class 0: .8 earns 1, .4 is wrong. Class 1: .9 earns 1, .7 earns .2 / .3. tau is .8."""
    table = sign.join(("case", "truth", "score")) + "\n"
    rows = (("a", "1", "0.9"), ("b", "0", "0.2"), ("c", "0", "0.6"), ("d", "1", "0.7"))
    table += "".join(sign.join(row) + "\n" for row in rows)
    assert values(of_scores(table, tau=0.8))["H-accuracy"] == "67%"
    weighted = of_scores(table, tau=0.8, priority=[0.3, 0.7])
    assert values(weighted)["H-accuracy"] == f"{0.3 * 0.5 + 0.7 * 5 / 6:.0%}"
    classes = "truth,score_0,score_1,score_2\n0,.6,.3,.1\n1,.2,.5,.3\n2,.5,.3,.2\n"
    assert values(of_scores(classes))["H-accuracy"] == "67%"


@pytest.mark.parametrize("make, said", [
    (lambda: of_nomogram(1.2, -3), "Weighted concordance: found 1.2, expected a number from 0 to 1."),
    (lambda: of_nomogram(0.5, 0.9, n_categories=1), "found 1, expected 2 or more"),
    (lambda: of_nomogram(float("nan"), 0.9), "found nan"),
    (lambda: of_robustness(0.3), "Give a p-value"),
    (lambda: of_robustness(0.3, least=0.8, performance=7), "p-value for equal performance: found 7"),
    (lambda: of_scores(""), "Columns are missing: truth and score"),
    (lambda: of_scores("truth,score\n"), "Found 0 rows"),
    (lambda: of_scores("truth,score\n1,0.4\n0,x"), 'Row 3, column score: found "x", expected'),
    (lambda: of_scores("truth,score\n2,0.4"), "a class, a whole number from 0 to 1"),
    (lambda: of_scores("truth,score\n1,nan"), 'found "nan"'),
    (lambda: of_scores("truth,score,complexity\n1,0.4,-1"), "a number, 0 or more"),
    (lambda: of_counts({"tp": "3"}), "The number of cases is not known"),
])  # fmt: skip
def test_what_is_wrong_is_said(make, said) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        make()


def test_an_area_without_a_standard_error_has_no_test() -> None:
    found = of_robustness(0.2, external=Area(0.84, 0.0, 300), internal=Area(0.9, 0.02, 400))
    assert found.tables[0].lines[0].cells[1].aside


@pytest.mark.parametrize("language", ["de", "fr", "it"])
def test_other_languages_have_every_text(language: str) -> None:
    assert of_nomogram(0.57, 0.9, language=language).sentences != of_nomogram(0.57, 0.9).sentences
    with pytest.raises(ValueError, match="7"):
        of_nomogram(7, 0.9, language=language)


def test_the_command(tmp_path: Path) -> None:
    def ran(*given: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, given)
        return done.exit_code, done.output

    cells = ("--tp", "97", "--fp", "12", "--fn", "46", "--tn", "55")
    code, text = ran("calculate", "table", *cells)
    assert (code, "59.8% to 74.9%" in text) == (0, True)
    assert ran("infer", *cells) == (code, text)
    assert ran("calculate", "table", *cells, "--set", "accuracy=0.5")[0] == 1
    assert ran("calculate", "table")[0] == 2
    assert "80.2%" in ran("calculate", "nomogram", "--concordance", "0.57", "--accuracy", "0.9")[1]
    areas = ("--auc", "0.7", "0.03", "300", "--internal-auc", "0.8", "0.026", "400", "--least", "0.72")
    assert "Strong" in ran("calculate", "robustness", "--similarity", "0.05", *areas)[1]
    assert ran("calculate", "robustness", "--similarity", "0.05")[0] == 1
    file = tmp_path / "cases.csv"
    file.write_text("truth,score\n1,0.9\n0,0.2\n")
    assert ran("calculate", "h-accuracy", str(file), "--tau", "0.8", "--priority", "0.3,0.7")[0] == 0
    assert ran("calculate", "h-accuracy", str(file), "--priority", "a")[0] == 2
