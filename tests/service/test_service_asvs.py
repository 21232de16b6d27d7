"""Items of OWASP ASVS 5.0.0 on passwords, sessions, links and codes, as docs/security.md names them."""

import pytest
from zxcvbn import zxcvbn

from trustreport.service.access import common, secrets


@pytest.mark.parametrize("weak", ["pfqwtd27121988", "badiman28200", "NICK1234-REM936", "ghjatccbjyfk"])
def test_v6_2_4_and_v6_2_12_what_leaked_most_often_is_refused(weak: str) -> None:
    """Also what looks random to the estimate of guesses; whichever letters are capital."""
    assert zxcvbn(weak.lower())["guesses"] >= secrets.GUESSES
    assert "have leaked" in secrets.weakness(weak)


def test_v6_2_4_the_list_has_far_more_than_3000_that_the_length_allows() -> None:
    assert len(common.known()) > 40_000
    assert common.known() == tuple(sorted(set(common.known())))
    assert not common.is_common("wintersturm im tal")
