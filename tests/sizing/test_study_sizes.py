"""Sizes of a reader study: moments against R, closed form against simulation, wrong input, the files."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import multivariate_normal

from trustreport.api import plan_reader_study
from trustreport.commands.cli import main
from trustreport.measures.mrmc.auc import auc_covariance, reader_auc
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.planning import protocol
from trustreport.planning.moments import (
    EstimateParts,
    NoModel,
    excess,
    expected_variance,
    fitted_variances,
    outcome_moments,
    parts_of,
)
from trustreport.planning.origins import parts_of_interval
from trustreport.planning.request import Published
from trustreport.planning.simulate import STRUCTURES, roe_metz
from trustreport.vocabulary.errors import StudyError

ROOT = Path(__file__).resolve().parent.parent.parent
STUDY = ROOT / "examples" / "knee-mri-readings"
HL = {"model": "roe_metz", "structure": "HL"}
VANDYKE = {
    "model": "obuchowski_rockette",
    "arm_reader": 2.004e-4,
    "error": 8.0229e-4,
    "cov1": 3.4661e-4,
    "cov2": 3.4407e-4,
    "cov3": 2.3903e-4,
    "cases": 114,
    "positives": 45,
}


def sized(**options: Any) -> Any:
    """A sized study of six readers."""
    return plan_reader_study(**{"readers": [6], "cases": [100], **options})


# ---------------------------------------------------------------- moments


def areas_of_r() -> list[list[float]]:
    """Variances of an area by sizing.R (R 4.2.2)."""
    with (ROOT / "tests/reference/sizing/sizing.csv").open() as file:
        return [[float(x) for x in row[1:]] for row in csv.reader(file) if row[0] == "area"]


@pytest.mark.parametrize("row", areas_of_r(), ids=lambda r: f"{r[0]}-{r[1]:g}-{r[2]:g}")
def test_the_variance_of_an_area_agrees_with_r(row: list[float]) -> None:
    assert expected_variance(row[0], "auc", row[1], row[2]) == pytest.approx(row[4], rel=1e-8)


@pytest.mark.parametrize(
    "h, k, rho", [(0.3, 0.3, 0.5), (-1.2, 0.4, 0.9), (1.5, 1.1, -0.3), (0.8, 0.8, 0.999)]
)
def test_the_excess_is_that_of_the_bivariate_normal(h: float, k: float, rho: float) -> None:
    both = multivariate_normal(cov=[[1, rho], [rho, 1]]).cdf([h, k])
    one, other = (multivariate_normal(cov=1).cdf(x) for x in (h, k))
    assert excess(h, k, rho) == pytest.approx(both - one * other, abs=1e-7)


def test_parts_are_those_of_drawn_areas() -> None:
    rng, n = np.random.default_rng(5), 40
    moments = outcome_moments([0.8, 0.8], STRUCTURES["HH"], area=True)
    mu = 2 * [float(np.sqrt(2 * STRUCTURES["HH"].total) * 0.8416212)]
    sizes = {"n_readers": 3, "n_positives": n, "n_negatives": n}
    fits = []
    for _ in range(400):
        truth, rating = roe_metz(mu, STRUCTURES["HH"], rng=rng, **sizes)
        fits.append((reader_auc(rating, truth), auc_covariance(rating, truth, "unbiased")))
    four = np.mean([covariance for _, covariance in fits], axis=0).reshape(2, 3, 2, 3)
    theta = np.array([one for one, _ in fits])
    found, same = parts_of(moments, n, n), np.eye(3, dtype=bool)
    expected = {
        "error": four[[0, 1], :, [0, 1], :][:, same].mean(),
        "cov1": four[0, :, 1, :][same].mean(),
        "cov2": four[0, :, 0, :][~same].mean(),
        "cov3": four[0, :, 1, :][~same].mean(),
    }
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=0.12), name
    between = np.cov(theta[:, 0, 0], theta[:, 1, 0])[0, 1]  # one reader in both arms: reader + cov1
    assert found.reader + found.cov1 == pytest.approx(between, rel=0.25)


@pytest.mark.parametrize("area", [True, False])
def test_the_fitted_model_gives_the_components_back(area: bool) -> None:
    parts = parts_of(outcome_moments([0.8, 0.8], STRUCTURES["LH"], area=area), 60, 40 if area else 1)
    found = fitted_variances(parts, 0.8, 60, 40 if area else 1, area=area)
    total = STRUCTURES["LH"].total * (2 if area else 1)
    for name in ("reader", "arm_reader", "case", "arm_case", "reader_case", "error"):
        assert getattr(found, name) == pytest.approx(getattr(STRUCTURES["LH"], name) / total, abs=1e-6), name


def test_components_that_no_readings_have_are_refused() -> None:
    with pytest.raises(NoModel, match="one reader's estimates in two arms do not share is more"):
        fitted_variances(EstimateParts(0, 0, 0.01, 0, 0, 0), 0.8, 100, area=False)


def test_moments_of_a_pilot_give_the_sizes_of_its_components(decisions: np.ndarray) -> None:
    """BDG moments of decisions, as the U-statistic finds them, and Obuchowski-Rockette components."""
    statistic = ustatistic(decisions)
    n, r = decisions.shape[2], decisions.shape[1]

    def moments(i: int, k: int) -> list[float]:
        of, weight = statistic.pairs[i, k].inclusive, statistic.pairs[i, k].weight
        same = of[1, 1], of[1, 0] - of[1, 1], of[0, 1] - of[1, 1]
        pairs = weight[1, 1], weight[1, 0] - weight[1, 1], weight[0, 1] - weight[1, 1]
        rest = of[0, 0] - of[1, 0] - of[0, 1] + of[1, 1]
        n_rest = weight[0, 0] - weight[1, 0] - weight[0, 1] + weight[1, 1]
        return [a / b for a, b in zip((*same, rest), (*pairs, n_rest))]

    bdg = {"model": "bdg", "arms": [moments(0, 0), moments(1, 1)], "across": moments(0, 1)}
    sizes = plan_reader_study(
        endpoint="sensitivity", effect=0.1, readers=[r], cases=[n], components=bdg, expected=0.7
    )
    variance = statistic.difference(0, 1).se ** 2
    assert sizes.grid[0][0].se ** 2 == pytest.approx(variance, rel=1e-9)


@pytest.fixture
def decisions() -> np.ndarray:
    """Decisions of six readers on 80 cases in two arms."""
    _, rating = roe_metz(
        [1.0, 0.6], STRUCTURES["HH"], n_readers=6, n_positives=80, n_negatives=1, rng=np.random.default_rng(2)
    )
    return (rating[:, :, 1:] > 0).astype(float)


# ---------------------------------------------------------------- closed form and simulation


SENSITIVITY: dict[str, Any] = {"endpoint": "sensitivity", "effect": 0.12, "expected": 0.75}
DESIGNS: dict[str, dict[str, Any]] = {
    "crossed sensitivity": {**SENSITIVITY},
    "crossed auc": {"endpoint": "auc", "effect": 0.1, "expected": 0.75},
    "non-inferiority": {
        "hypothesis": "non_inferiority",
        "margin": 0.12,
        "expected": 0.8,
        "endpoint": "accuracy",
    },
    "equivalence": {"hypothesis": "equivalence", "margin": 0.14, "expected": 0.8, "endpoint": "specificity"},
    "split plot": {**SENSITIVITY, "design": "split_plot", "groups": 2},
    "own cases": {**SENSITIVITY, "design": "split_plot", "groups": 6},
    "sequential": {**SENSITIVITY, "design": "sequential", "carry_over": 0.7},
    "sites": {**SENSITIVITY, "effect": 0.14, "design": "sites", "sites": 3, "site_share": 0.5},
    "patients": {**SENSITIVITY, "cases_per_patient": 2, "patient_correlation": 0.5},
    "device": {**SENSITIVITY, "design": "device", "device_correlation": 0.3},
    "device auc": {"endpoint": "auc", "effect": 0.12, "expected": 0.7, "design": "device"},
}


@pytest.mark.parametrize("name", DESIGNS)
def test_simulated_power_agrees_with_the_closed_form(name: str) -> None:
    one = sized(components=HL, simulate=300, **DESIGNS[name]).smallest[0]
    found = one.simulated.power
    assert one.simulated.undefined == 0
    # Three and a half Monte Carlo standard errors, and two points for the approximation.
    assert found.value == pytest.approx(one.cell.power, abs=3.5 * np.sqrt(0.16 / 300) + 0.02)
    assert one.simulated.width.value == pytest.approx(one.cell.width, rel=0.06)


def test_a_simulation_repeats_with_its_seed() -> None:
    runs = [
        sized(components=HL, endpoint="sensitivity", effect=0.1, expected=0.75, simulate=40, seed=seed)
        for seed in (3, 3, 4)
    ]
    first, again, other = ([protocol.as_data(one)["smallest"]] for one in runs)
    assert first == again != other


def test_declared_and_fitted_components_are_simulated_alike() -> None:
    """Obuchowski-Rockette components of VanDyke, for which a model of the ratings is fitted."""
    one = sized(
        components=VANDYKE, endpoint="auc", effect=0.06, expected=0.9, positive_share=45 / 114, simulate=200
    ).smallest[0]
    assert one.simulated.power.value == pytest.approx(one.cell.power, abs=0.11)


def test_sizes_from_declared_components_are_those_of_rjafroc() -> None:
    """SsSampleSizeKGivenJ(dataset02, J = 6): 251 cases, power 0.801."""
    sizes = sized(components=VANDYKE, endpoint="auc", effect=0.0438, expected=0.9, positive_share=45 / 114)
    cell = sizes.smallest[0].cell
    assert abs(cell.n_cases - 251) <= 2  # components and difference rounded, whole positives
    assert cell.power == pytest.approx(0.801, abs=0.002)


@pytest.mark.parametrize("shares", [(0.2, 0.5, 0.3), (1 / 3, 1 / 3, 1 / 3), (1.0, 0.0, 0.0)])
def test_a_published_study_gives_its_own_interval_back(shares: tuple[float, float, float]) -> None:
    given = {"difference": 0.05, "low": 0.01, "high": 0.09, "readers": 10, "cases": 200}
    named = dict(zip(("readers_share", "cases_share", "both_share"), shares))
    sizes = plan_reader_study(
        endpoint="sensitivity", goal="width", target=0.08, readers=[10], cases=[200], published=given | named
    )
    assert sizes.grid[0][0].width == pytest.approx(0.08, rel=1e-9)
    parts = parts_of_interval(Published(**given), shares)
    assert parts.cov2 - parts.cov3 >= 0


def test_undeclared_shares_are_assumed_and_others_are_shown() -> None:
    given = {"difference": 0.05, "low": 0.01, "high": 0.09, "readers": 10, "cases": 200}
    sizes = sized(endpoint="sensitivity", effect=0.05, readers=[10, 20], published=given)
    assert "one third" in protocol.to_markdown(sizes)
    needed = {name: found[1].cell.n_cases for name, found in sizes.otherwise}
    assert needed["readers"] < needed["cases"]  # twice the readers halve what readers add


def test_correlations_stand_for_covariances() -> None:
    error = VANDYKE["error"]
    by_r = {k: v for k, v in VANDYKE.items() if not k.startswith("cov")}
    by_r |= {f"r{i}": VANDYKE[f"cov{i}"] / error for i in (1, 2, 3)}
    one, other = (
        sized(components=c, endpoint="auc", effect=0.05, expected=0.9).grid[0][0].se for c in (VANDYKE, by_r)
    )
    assert one == pytest.approx(other)


def test_sizes_reach_the_goal_and_one_case_fewer_does_not() -> None:
    options = {"endpoint": "specificity", "goal": "width", "target": 0.12, "expected": 0.8, "components": HL}
    n = sized(**options).smallest[0].cell.n_cases
    widths = [cell.width for cell in sized(**options | {"cases": [n - 1, n]}).grid[0]]
    assert widths[1] <= 0.12 < widths[0]


def test_what_no_study_reaches_says_so() -> None:
    sizes = sized(endpoint="sensitivity", effect=0.02, expected=0.8, components={**HL, "structure": "HH"})
    assert sizes.smallest[0].cell is None
    text = protocol.to_markdown(sizes)
    assert "more readers are needed" in text
    assert "None of the numbers of readers reaches the goal." in text
    data = protocol.as_data(sizes)["smallest"][0]
    assert data["size"] is None
    assert "more readers are needed" in data["note"]


def test_readers_that_do_not_divide_into_groups_are_undefined_with_the_reason() -> None:
    sizes = sized(
        components=HL,
        endpoint="auc",
        effect=0.1,
        expected=0.75,
        readers=[4, 5],
        cases=[100],
        design="split_plot",
        groups=2,
    )
    five = sizes.grid[1][0]
    assert np.isnan(five.power)
    assert five.reason is not None
    assert "5 readers do not divide into 2 equal parts" in protocol.to_markdown(sizes)


# ---------------------------------------------------------------- pilot


def test_a_pilot_gives_its_components() -> None:
    sizes = plan_reader_study(
        pilot=str(STUDY), endpoint="sensitivity", goal="width", target=0.1, readers=[5, 9], cases=[60, 120]
    )
    assert sizes.origin.kind == "pilot"
    assert "estimated from a pilot study" in protocol.to_markdown(sizes)
    assert all(cell.width > 0 for row in sizes.grid for cell in row)


def test_a_pilot_without_the_endpoint_is_refused() -> None:
    with pytest.raises(StudyError, match="no readings of auc"):
        plan_reader_study(pilot=str(STUDY), endpoint="auc", effect=0.05)


# ---------------------------------------------------------------- command


def run(*arguments: object) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of `trustreport plan`."""
    done = CliRunner().invoke(main, ["plan", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


FILE = """
endpoint: sensitivity
effect: 0.1
expected: 0.75
readers: [5, 8]
cases: [50, 100]
components: {model: roe_metz, structure: HL}
"""


def test_a_file_options_and_the_library_agree(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(FILE)
    by_file = run("--from", file, "--format", "json")
    options = [
        "--endpoint=sensitivity",
        "--effect=0.1",
        "--set=expected=0.75",
        "--readers=5,8",
        "--cases=50,100",
    ]
    by_options = run(
        *options, "--set=components.model=roe_metz", "--set=components.structure=HL", "--format=json"
    )
    assert by_file == by_options
    status, text, err = by_file
    assert (status, err) == (0, "")
    assert text.encode() == protocol.to_json(plan_reader_study(file))
    assert [one["cases"] for one in json.loads(text)["grid"]] == [50, 100, 50, 100]


def test_the_folder_holds_every_form(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(FILE)
    status, text, err = run("--from", file, "-o", tmp_path / "out")
    assert status == 0
    assert text.startswith("# Sample size of the reader study")
    names = {"plan.json", "protocol.md", "protocol.pdf", "figure.svg"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert all(str(tmp_path / "out" / name) in err for name in names)
    assert (tmp_path / "out" / "protocol.md").read_text() == text
    pdf = (tmp_path / "out" / "protocol.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")


def test_every_problem_is_said_at_once_and_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(FILE.replace("effect: 0.1", "efect: 0.1").replace("[5, 8]", "[5, b]") + "sites: 3\n")
    status, out, err = run("--from", file, "--endpoint", "auk", "-o", tmp_path / "out")
    assert (status, out) == (1, "")
    assert 'plan.yaml, row 3, column efect: unknown key "efect". Did you mean "effect"?' in err
    assert 'plan.yaml, row 5, column readers[1]: found "b", expected a whole number.' in err
    assert 'options, column endpoint: found "auk", expected "sensitivity", "specificity", "accuracy"' in err
    assert err.endswith("3 problems; nothing was written.\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options, said",
    [
        ({}, "nothing says how much readers and cases vary"),
        ({"components": HL, "effect": 0.1}, "column expected: this key is missing"),
        ({"components": HL, "expected": 0.8}, "there is no difference to find"),
        ({"components": HL, "expected": 0.8, "effect": 0.3}, "give no share"),
        (
            {"components": HL, "expected": 0.8, "hypothesis": "equivalence"},
            "column margin: this key is missing",
        ),
        ({"components": HL, "expected": 0.8, "effect": 0.1, "margin": 0.1}, "superiority has no margin"),
        ({"components": HL, "expected": 0.8, "effect": 0.1, "groups": 2}, "this is of the design split_plot"),
        ({"components": {"model": "roe_metz", "reader": 1}, "effect": 0.1, "expected": 0.8}, "error missing"),
        ({"components": HL | {"error": 1}, "effect": 0.1, "expected": 0.8}, "a structure and components"),
        ({"components": VANDYKE | {"cov1": 1e-4}, "effect": 0.1}, "cov1 is below cov3"),
        ({"components": VANDYKE | {"r1": 0.4}, "effect": 0.1}, "covariances and correlations"),
        (
            {"components": VANDYKE, "effect": 0.1, "cases_per_patient": 2},
            "patient_correlation: this key is missing",
        ),
        ({"components": {"model": "bdg", "arms": [[0.5]], "across": [0.5]}, "effect": 0.1}, "8 of auc"),
        ({"components": {"model": "x"}, "effect": 0.1}, "the model is missing or unknown"),
        ({"goal": "width", "components": HL, "expected": 0.8}, "column target: this key is missing"),
        (
            {
                "published": {"difference": 0.1, "low": 0.2, "high": 0.3, "readers": 5, "cases": 50},
                "effect": 0.1,
            },
            "is not between",
        ),
    ],
)
def test_wrong_input_is_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(StudyError) as refused:
        plan_reader_study(**options)
    assert said in str(refused.value)
