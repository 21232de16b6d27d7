"""What all tests share: how long they may take, a browser, the reference folder beside the project."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.browsing import Browser, chromium

ROOT = Path(__file__).resolve().parent.parent

# How long an example takes depends on the machine, so there is no deadline. CI tries the same examples each
# time, so that no change is blamed for the luck of the draw; elsewhere each run tries new ones, and a failing
# example prints what repeats it.
settings.register_profile(
    "trustreport",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("trustreport")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for every test that needs one."""
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def shared() -> Path:
    """Reference data beside the project; tests that read them are skipped where they lack, not in CI."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"no reference data in {folder.name}/ beside the project: they are required in CI")
        pytest.skip("reference data (a folder 'shared' beside the project) are not here")
    return folder


# Scripts that made reference values, with the software that they need; they are kept, not collected.
collect_ignore = ["reference"]
