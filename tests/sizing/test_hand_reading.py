"""`trustreport plan --labels`: cases to be read by hand, beside the delta method and drawn studies."""

import json
from math import sqrt

import numpy as np
import pytest
from click.testing import CliRunner

from trustreport.commands.cli import main
from trustreport.planning.hand_reading import plan_hand_reading
from trustreport.vocabulary.errors import StudyError

FIELDS = {
    "sensitivity": 0.85,
    "specificity": 0.9,
    "prevalence": 0.25,
    "label_sensitivity": 0.92,
    "label_specificity": 0.94,
    "cases": 20_000,
    "width": 0.1,
}


def corrected(shares: np.ndarray, se: float, sp: float) -> float:
    """Sensitivity of Gart and Buck from shares of (label, decision): both, label alone, decision alone."""
    both, label_alone, decision_alone = shares
    return float((sp * (both + decision_alone) - decision_alone) / (both + label_alone + sp - 1))


def half_width_by_delta(read: int) -> float:
    """Half of the 95% interval by derivatives taken in small steps, nothing of the package used."""
    p, se, sp = FIELDS["prevalence"], FIELDS["label_sensitivity"], FIELDS["label_specificity"]
    ill, well = round(read * p), read - round(read * p)
    of_ill, of_well = p * FIELDS["sensitivity"], (1 - p) * (1 - FIELDS["specificity"])
    shares = np.array(
        [
            of_ill * se + of_well * (1 - sp),
            (p - of_ill) * se + (1 - p - of_well) * (1 - sp),
            of_ill * (1 - se) + of_well * sp,
        ]
    )
    at = np.array([*shares, se, sp])
    step = 1e-6
    slopes = np.array(
        [
            (corrected(up[:3], *up[3:]) - corrected(down[:3], *down[3:])) / (2 * step)
            for up, down in ((at + step * row, at - step * row) for row in np.eye(5))
        ]
    )
    covariance = np.zeros((5, 5))
    covariance[:3, :3] = (np.diag(shares) - np.outer(shares, shares)) / FIELDS["cases"]
    covariance[3, 3], covariance[4, 4] = se * (1 - se) / ill, sp * (1 - sp) / well
    return 1.959964 * sqrt(slopes @ covariance @ slopes)


def test_the_number_read_gives_the_width_of_the_delta_method() -> None:
    found = plan_hand_reading({"labels": "sensitivity", **FIELDS})
    # The printed interval has a case more in each cell and is not symmetric, so it is a little wider.
    assert 0.044 < half_width_by_delta(found["read"]) < 0.05
    assert found["low"] < 0.85 < found["high"]
    assert found["floor"] / 2 == pytest.approx(half_width_by_delta(10**9), rel=0.02)


def test_drawn_studies_lie_in_the_planned_width_as_often_as_the_interval_says() -> None:
    read = plan_hand_reading({"labels": "sensitivity", **FIELDS})["read"]
    rng = np.random.default_rng(20261127)
    p, se, sp = FIELDS["prevalence"], FIELDS["label_sensitivity"], FIELDS["label_specificity"]
    ill, well = round(read * p), read - round(read * p)
    inside, drawn = 0, 4000
    of_ill, of_well = p * FIELDS["sensitivity"], (1 - p) * (1 - FIELDS["specificity"])
    cells = np.array(
        [
            of_ill * se + of_well * (1 - sp),
            (p - of_ill) * se + (1 - p - of_well) * (1 - sp),
            of_ill * (1 - se) + of_well * sp,
        ]
    )
    for _ in range(drawn):
        shares = rng.multinomial(FIELDS["cases"], [*cells, 1 - cells.sum()])[:3] / FIELDS["cases"]
        value = corrected(shares, rng.binomial(ill, se) / ill, rng.binomial(well, sp) / well)
        inside += abs(value - 0.85) <= 0.05
    assert 0.94 < inside / drawn < 0.975


def test_more_is_read_for_a_narrower_interval_and_for_fewer_ill() -> None:
    def read(**other: float) -> int:
        return int(plan_hand_reading({"labels": "sensitivity", **FIELDS, **other})["read"])

    assert read(width=0.08) > read() > read(width=0.15)
    assert read(prevalence=0.1, width=0.2) > read(width=0.2)


def test_labels_that_are_too_few_are_said_with_what_they_would_give() -> None:
    few = plan_hand_reading({"labels": "sensitivity", **FIELDS, "cases": 300})
    assert few["read"] is None
    assert few["floor"] > FIELDS["width"]
    nothing = plan_hand_reading({"labels": "sensitivity", **FIELDS, "cases": 40, "prevalence": 0.02})
    assert (nothing["read"], nothing["low"], nothing["floor"]) == (None, None, None)


def test_the_command_says_it_in_a_sentence_or_as_json() -> None:
    sets = [arg for name, value in FIELDS.items() for arg in ("--set", f"{name}={value}")]
    said = CliRunner().invoke(main, ["plan", "--labels", "sensitivity", *sets])
    found = json.loads(
        CliRunner().invoke(main, ["plan", "--labels", "sensitivity", *sets, "--format", "json"]).output
    )
    assert f"at least {found['read']:,} of the 20,000 labelled cases must be read by hand" in said.output
    refused = CliRunner().invoke(main, ["plan", "--labels", "ppv", "--readers", "5"])
    assert refused.exit_code == 2
    for cases in ("300", "40"):
        done = CliRunner().invoke(main, ["plan", "--labels", "ppv", *sets, "--set", f"cases={cases}"])
        assert done.exit_code == 0, done.output


def test_every_problem_of_the_fields_is_said_at_once() -> None:
    with pytest.raises(StudyError) as raised:
        plan_hand_reading({"labels": "f1", **FIELDS, "prevalence": 2, "widht": 0.1, "cases": 0})
    for part in ("labels", "prevalence", 'Did you mean "width"?', "cases"):
        assert part in str(raised.value)
    with pytest.raises(StudyError, match="tell nothing"):
        plan_hand_reading({"labels": "ppv", **FIELDS, "label_sensitivity": 0.05})
