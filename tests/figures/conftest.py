"""The catalogue, for every test of a figure."""

import pytest

from trustreport.vocabulary.messages import Catalogue, catalogue


@pytest.fixture(scope="session")
def say() -> Catalogue:
    return catalogue("en")
