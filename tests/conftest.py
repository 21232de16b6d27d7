"""What the tests share: the reference folder beside the project, when it is there."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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
