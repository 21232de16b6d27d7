"""What all tests share: how long they may take, a browser, the reference data."""

import gc
import os
from collections.abc import Callable, Generator, Iterator
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.browsing import Browser, chromium
from tests.said_keys import fail_where_made

if TYPE_CHECKING:
    from trustreport.api import Assessed

REFERENCE = Path(__file__).resolve().parent / "reference"
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

# How long an example takes depends on the machine, so there is no deadline. CI tries the same examples each
# time, and fewer, so that no change is blamed for the luck of the draw; elsewhere each run tries new ones,
# and a failing example prints what repeats it.
settings.register_profile(
    "trustreport",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
    max_examples=60 if os.environ.get("CI") else 100,
)
settings.load_profile("trustreport")


def pytest_configure(config: pytest.Config) -> None:
    """From before the first import of a module that holds a message to the end."""
    patch = pytest.MonkeyPatch()
    fail_where_made(patch)
    fail_where_contradicted(patch)
    config.add_cleanup(patch.undo)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays to the end: nobody is to look through it for rubbish."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


def fail_where_contradicted(patch: pytest.MonkeyPatch) -> None:
    """Let an assessment raise that gives two primary estimates of one number."""
    from trustreport.assessment import assess as assessment
    from trustreport.vocabulary import one_number

    def strict(*given: Any) -> Any:
        found = one_number.contradictions(*given)
        said = [f"{r.id} {r.scope}: {r.estimate} ({r.method})" for pair in found.values() for r in pair]
        assert not found, "; ".join(said)
        return found

    patch.setattr(assessment, "contradictions", strict)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for every test that needs one."""
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def shared_by_processes(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all processes of a run of tests have."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def assessed_study(shared_by_processes: Path) -> "Callable[[Path], Assessed]":
    """The assessment of a folder of this checkout, made once in a run of tests; nothing changes it."""
    import cloudpickle

    from trustreport.api import assess, read_study

    @cache
    def assessed(folder: Path) -> "Assessed":
        kept = shared_by_processes / f"assessed-{folder.parent.name}-{folder.name}.pickle"
        with kept.with_suffix(".lock").open("w") as lock:
            flock(lock, LOCK_EX)
            if not kept.exists():
                kept.write_bytes(cloudpickle.dumps(assess(*read_study(folder))))
            found: Assessed = cloudpickle.loads(kept.read_bytes())  # written a line above, by this run
        return found

    return assessed


@pytest.fixture(scope="session")
def assessed_example(assessed_study: "Callable[[Path], Assessed]") -> "Callable[[str], Assessed]":
    """The assessment of an example by its name."""
    return lambda name: assessed_study(EXAMPLES / name)


@pytest.fixture(scope="session")
def reference() -> Path:
    """Studies, data and values that this project did not compute; tests/reference/SOURCES.md says whose."""
    return REFERENCE


@pytest.fixture(scope="session")
def mrnet(reference: Path) -> Path:
    """The study of 13 radiologists and 427 knee examinations, whose ratings no source archive contains."""
    folder = reference / "contract" / "mrnet-raters"
    if not folder.is_dir():
        pytest.skip("the MRNet ratings have no licence, so the source archive does not contain them")
    return folder


# Scripts that made reference values, with the software that they need; they are kept, not collected.
collect_ignore = ["reference", "service/old_schemas"]
