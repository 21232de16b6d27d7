"""Where the work is done changes no number, on this machine's cores or on a cluster of worker processes."""

import os
import sys
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.studies import plan
from trustreport.api import parallel
from trustreport.api.parallel import Backend, workers
from trustreport.assessment.assess import assess
from trustreport.measures.similarity.features import one_by_one
from trustreport.study.study import Cases, Dataset, Labels, Scores, Study
from trustreport.vocabulary.errors import MissingLibrary
from trustreport.vocabulary.results import Result

CLUSTER = pytest.param("dask", marks=pytest.mark.slow)
NEEDS_RAY = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not among the packages of the tests")
RAY = pytest.param("ray", marks=[pytest.mark.slow, NEEDS_RAY, pytest.mark.filterwarnings("ignore")])


def study() -> Study:
    """A training set and two external ones."""
    rng = np.random.default_rng(4)
    sets = []
    for name, role, n, shift in (
        ("train", "training", 120, 0.0),
        ("a", "external", 60, 0.1),
        ("b", "external", 70, 0.4),
    ):
        x = rng.normal(shift, 1, (n, 3))
        risk = 1 / (1 + np.exp(-x[:, 0]))
        truth = (rng.random(n) < risk).astype(np.int8)
        features: dict[str, Any] = {"features": x, "feature_names": ("x", "y", "z")}
        sets.append(Dataset(name, role, Cases(Labels(n=n), truth), {"": Scores(risk)}, **features))
    return Study(datasets=tuple(sets))


def numbers(results: tuple[Result, ...]) -> dict[str, str]:
    """Every number, digit by digit."""
    found = {}
    for r in results:
        e = r.estimate
        for field, value in {"value": e.value, "low": e.low, "p": e.p, **e.details}.items():
            found[f"{r.id} {r.scope} {r.method} {field}"] = repr(value)
    return found


@pytest.fixture(scope="module")
def alone() -> dict[str, str]:
    return numbers(assess(study(), given()).results)


def given() -> Any:
    return plan(similarity={"permutations": 99, "seed": 2}, operating_point={"threshold": 0.5})


@pytest.mark.parametrize("backend", ["threading", "loky", CLUSTER, RAY])
def test_no_number_depends_on_the_backend(backend: Backend, alone: dict[str, str]) -> None:
    with workers(2, backend) as run:
        found = numbers(assess(study(), given(), run=run).results)
    assert found == alone
    assert len([key for key in alone if key.endswith("permutation p")]) == 6


@pytest.mark.parametrize(
    "backend, other",
    [("threading", False), ("loky", True), pytest.param("dask", True, marks=pytest.mark.slow)],
)
def test_work_is_done_where_it_was_asked(backend: Backend, other: bool) -> None:
    with workers(2, backend) as run:
        seen = set(run(os.getpid, [()] * 8))
    assert (os.getpid() not in seen) == other


def test_one_job_needs_nobody_else() -> None:
    with workers() as run:
        assert run is one_by_one


@pytest.mark.parametrize("address", ["", "cluster:6379"])
def test_ray_starts_workers_here_only_where_no_cluster_is_named(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray is large, so this has a stand-in: what it is asked for, and that it is ended."""
    asked: list[dict[str, Any]] = []
    stand_in = SimpleNamespace(
        is_initialized=lambda: False,
        init=lambda **options: asked.append(options),
        shutdown=lambda: asked.append({}),
        cluster_resources=lambda: {"CPU": 6.0},
        remote=lambda **options: None,
    )
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    monkeypatch.setitem(sys.modules, "ray.util.joblib", SimpleNamespace(register_ray=lambda: None))
    monkeypatch.setenv("RAY_ADDRESS", address)
    with parallel.executor(2, "ray") as (_, width):
        assert width == 6
    started, ended = asked
    assert started.get("num_cpus") == (None if address else 2)
    assert started.get("address") == (None if address else "local")
    assert ended == {}


def test_a_backend_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'trustreport\[ray\]'"), workers(2, "ray"):
        pass


@pytest.mark.parametrize(
    "jobs, backend, match", [(0, "loky", "jobs must be 1"), (2, "mpi", "backend must be one of")]
)
def test_wrong_use_is_refused(jobs: int, backend: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match), workers(jobs, backend):
        pass


def test_the_command_line_offers_every_backend() -> None:
    from trustreport.commands.fleet import BACKENDS

    assert BACKENDS == parallel.BACKENDS
