"""`trustreport plan --chart`: the delay of a chart before any case, and every problem of its fields."""

import json

import pytest
from click.testing import CliRunner

from trustreport.commands.cli import main
from trustreport.measures.monitoring.charts import design
from trustreport.planning.chart_delay import plan_chart
from trustreport.vocabulary.errors import StudyError

RATES = {"in_control": "0.9", "to_detect": "0.8", "false_alert_budget": "0.05", "planned_cases": "500"}


def planned(*more: str, chart: str = "cusum", **rates: str) -> str:
    sets = [arg for name, value in {**RATES, **rates}.items() for arg in ("--set", f"{name}={value}")]
    done = CliRunner().invoke(main, ["plan", "--chart", chart, *sets, *more])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_plan_of_a_chart_is_that_of_the_measure() -> None:
    designed = design(0.9, 0.8, budget=0.05, sizes=[1] * 500)
    found = json.loads(planned("--format", "json"))
    assert found["mean"] == pytest.approx(designed.arl_to_detect)
    assert found["false_alert_planned"] == pytest.approx(designed.false_alert)
    assert found["median"] < found["mean"]
    assert f"the alert comes {designed.arl_to_detect:.0f} cases later on average" in planned()


def test_a_smaller_budget_makes_both_charts_later() -> None:
    for chart in ("cusum", "sprt"):
        early, late = (
            json.loads(planned("--format", "json", chart=chart, false_alert_budget=budget))
            for budget in ("0.1", "0.01")
        )
        assert early["mean"] < late["mean"]
        assert early["median"] < late["median"]


def test_every_problem_of_the_fields_is_said_at_once() -> None:
    with pytest.raises(StudyError) as raised:
        plan_chart({"chart": "ewma", "in_control": 1.2, "to_detekt": 0.8, "planned_cases": 0})
    said = str(raised.value)
    for part in ("chart", "in_control", 'Did you mean "to_detect"?', "false_alert_budget", "planned_cases"):
        assert part in said
    with pytest.raises(StudyError, match="are equal"):
        plan_chart({"chart": "cusum", **RATES, "to_detect": 0.9})


def test_a_chart_takes_no_option_of_a_reader_study() -> None:
    done = CliRunner().invoke(main, ["plan", "--chart", "cusum", "--power", "0.9"])
    assert done.exit_code == 2
