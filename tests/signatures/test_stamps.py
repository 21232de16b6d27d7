"""Time stamps verified with their chain: by trusted roots, of the right hash, in time."""

from hashlib import sha256
from pathlib import Path

import pytest

from tests.signatures.authority import DAY, NOW, StampAuthority, certified, stamp_authority
from trustreport.report.signatures.stamps import (
    StampError,
    as_response,
    post,
    read_certificates,
    requested_stamp,
    verified_stamp,
)
from trustreport.study.lock.moments import stamp

DATA = b"what was signed"
DIGEST = sha256(DATA).hexdigest()
BY_OPENSSL = Path(__file__).resolve().parents[1] / "reference" / "timestamp"


def test_a_stamp_leads_through_the_chain_to_the_root(authority: StampAuthority) -> None:
    found = verified_stamp(authority.stamp(DIGEST), DIGEST, [authority.root.certificate])
    assert (found.imprint, found.time) == (DIGEST, NOW)


def test_a_stamp_of_another_hash_is_refused(authority: StampAuthority) -> None:
    other = sha256(b"something else").hexdigest()
    with pytest.raises(StampError, match=f"it is of {other}, expected {DIGEST}"):
        verified_stamp(authority.stamp(other), DIGEST, [authority.root.certificate])


def test_a_stamp_whose_root_is_not_trusted_is_refused(authority: StampAuthority) -> None:
    stranger = certified("Root of a test", authority=True)  # of the same name
    with pytest.raises(StampError, match="its authority is not verified"):
        verified_stamp(authority.stamp(DIGEST), DIGEST, [stranger.certificate])


@pytest.mark.parametrize("of_own", [{"ends": NOW - DAY}, {"begins": NOW + DAY}], ids=["expired", "not yet"])
def test_a_certificate_has_to_be_valid_when_it_stamps(of_own: dict[str, object]) -> None:
    authority = stamp_authority(**of_own)
    with pytest.raises(StampError, match="its authority is not verified"):
        verified_stamp(authority.stamp(DIGEST), DIGEST, [authority.root.certificate])


def test_a_certificate_that_expired_after_it_stamped_is_valid() -> None:
    authority = stamp_authority(ends=NOW - DAY)
    earlier = NOW - 2 * DAY
    token = authority.stamp(DIGEST, earlier)
    assert verified_stamp(token, DIGEST, [authority.root.certificate]).time == earlier


def test_a_certificate_for_something_else_stamps_nothing(authority: StampAuthority) -> None:
    other = StampAuthority(certified("No time stamps", authority.above[0]), authority.above)
    with pytest.raises(StampError, match="its authority is not verified"):
        verified_stamp(other.stamp(DIGEST), DIGEST, [authority.root.certificate])


def test_an_altered_stamp_is_refused(authority: StampAuthority) -> None:
    token = authority.stamp(sha256(b"another").hexdigest())
    forged = token.replace(sha256(b"another").digest(), bytes.fromhex(DIGEST))
    assert stamp(forged).imprint == DIGEST
    with pytest.raises(StampError, match="its authority is not verified"):
        verified_stamp(forged, DIGEST, [authority.root.certificate])


def test_what_is_no_stamp_is_refused(authority: StampAuthority) -> None:
    for wrong in (b"", b"0", b"no stamp at all", authority.stamp(DIGEST)[:-9]):
        with pytest.raises(StampError, match="no time stamp"):
            verified_stamp(wrong, DIGEST, [authority.root.certificate])


def test_a_token_alone_is_read_as_its_response() -> None:
    token, response = ((BY_OPENSSL / name).read_bytes() for name in ("one.token", "one.tsr"))
    assert as_response(token) == response
    assert as_response(response) == response


def test_an_authority_is_asked_and_its_answer_is_of_the_data(authority: StampAuthority) -> None:
    with authority.served() as address:
        token = requested_stamp(address, DATA)
    assert verified_stamp(token, DIGEST, [authority.root.certificate]).imprint == DIGEST


def test_an_answer_of_another_request_is_refused(
    authority: StampAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trustreport.report.signatures.stamps.post", lambda *_: authority.stamp(DIGEST))
    with pytest.raises(StampError, match="the answer is of another request"):
        requested_stamp("http://127.0.0.1/", DATA)  # without the nonce that was sent


def test_an_authority_that_is_not_there_is_named() -> None:
    with pytest.raises(StampError, match=r"http://127\.0\.0\.1:9/: no answer"):
        post("http://127.0.0.1:9/", b"")
    with pytest.raises(StampError, match="begins with https://"):
        post("file:///etc/passwd", b"")


def test_certificates_are_read_in_their_order(authority: StampAuthority) -> None:
    text = b"".join(one.pem for one in authority.above)
    assert read_certificates(text) == [one.certificate for one in authority.above]
    with pytest.raises(ValueError, match="expected certificates in PEM"):
        read_certificates(b"nothing")
