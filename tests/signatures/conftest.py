"""Authorities that several tests use; making their keys takes a while."""

import pytest

from tests.signatures.authority import StampAuthority, stamp_authority


@pytest.fixture(scope="session")
def authority() -> StampAuthority:
    """A time-stamping authority with its chain."""
    return stamp_authority()
