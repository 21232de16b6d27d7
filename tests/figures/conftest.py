"""The catalogue, for every test of a figure."""

import pytest

from trustreport.messages import Catalogue, catalogue


@pytest.fixture(scope="session")
def say() -> Catalogue:
    return catalogue("en")
