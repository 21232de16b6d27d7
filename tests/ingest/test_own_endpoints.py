"""Endpoints of the user's own and sessions, in every way to write a table of readings."""

import numpy as np
import pytest
from test_read import only, put

from trustreport.study.ingest import read
from trustreport.vocabulary.errors import StudyError

LONG = """reader,case,arm,truth,decision,sess,side ok
R2,c10,aided,1,1,10,1
R2,c10,unaided,1,0,2,yes
R10,c2,aided,0,0,2,
R2,c2,aided,0,1,,0
R10,c2,unaided,0,0,10,false
R2,c2,unaided,0,0,2,1
"""


def columns(said: str) -> str:
    return f"tables: {{readings: {{file: readings.csv, columns: {{{said}}}}}}}\n"


def test_a_column_of_readings_becomes_an_endpoint_only_where_it_is_mapped(tmp_path):
    study, _ = read(put(tmp_path, columns("session: sess, endpoint: {side: side ok}"), readings=LONG))
    readings = only(study)
    # rows by arm, reader and case: unaided R2 c2, R2 c10, R10 c2; then aided
    np.testing.assert_array_equal(readings.endpoints["side"], [1, 1, 0, 0, 1, np.nan])
    assert readings.sessions == ("2", "10")
    np.testing.assert_array_equal(readings.session, [0, 0, 1, np.nan, 1, 0])
    plain, _ = read(put(tmp_path / "plain", columns(""), readings=LONG.replace("side ok", "endpoint")))
    assert not only(plain).endpoints


def test_wide_and_sequential_tables_name_the_arm(tmp_path):
    wide = "reader,case,truth,du,da,su,sa,s1,s2\nR1,C1,1,0,1,1,0,am,pm\nR1,C2,0,0,,1,0,am,pm\n"
    said = "decision: {unaided: du, aided: da}, session: {unaided: s1, aided: s2}"
    said += ", endpoint: {side/unaided: su, side/aided: sa}"
    study, _ = read(put(tmp_path, columns(said), readings=wide))
    np.testing.assert_array_equal(only(study).endpoints["side"], [1, 1, 0])
    np.testing.assert_array_equal(only(study).session, [0, 0, 1])
    row = "reader,case,truth,initial_decision,advice,decision,session,s1,s2\nR1,C1,1,0,1,1,1,0,1\n"
    said = "endpoint: {side/unaided: s1, side/aided: s2}"
    study, _ = read(put(tmp_path / "sequential", columns(said), readings=row))
    np.testing.assert_array_equal(only(study).endpoints["side"], [0, 1])
    np.testing.assert_array_equal(only(study).session, [0, 0])


@pytest.mark.parametrize("said, message", [
    ("endpoint: {auc: side ok}", "readings.csv, row 1: the endpoint auc is named as one that is computed"),
    ("endpoint: {side: sid ok}", 'no column "sid ok" in readings.csv. Did you mean "side ok"?'),
    ("endpoint: {side: sess}", 'readings.csv, rows 2 and 6, column sess: found "10", expected 0 or 1.'),
])  # fmt: skip
def test_what_cannot_be_one_is_said(tmp_path, said, message):
    with pytest.raises(StudyError) as error:
        read(put(tmp_path, columns(said), readings=LONG))
    assert message in str(error.value)
