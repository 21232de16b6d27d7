"""The audit log: a chain that shows every change, on both databases."""

import contextlib
import threading

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from trustreport.service import audit
from trustreport.service.core import Core


def fill(core: Core, n: int = 5, chain: str = "one") -> None:
    for i in range(n):
        with core.store.write() as rows:
            audit.write(rows, chain, "anna", "test.act", f"s{i}", count=i, words="é 漢")


def faults(core: Core, **witnessed: dict[int, str]) -> list[str]:
    with core.store.read() as rows:
        return [fault for found in audit.verify(rows, witnessed) for fault in found.faults]


def test_a_chain_verifies(core: Core) -> None:
    fill(core)
    fill(core, 2, "two")
    with core.store.read() as rows:
        assert [(v.chain, v.entries, v.faults) for v in audit.verify(rows)] == [
            ("one", 5, ()),
            ("two", 2, ()),
        ]


@pytest.mark.parametrize("statement", ["UPDATE audit SET actor = 'eve'", "DELETE FROM audit"])
def test_the_database_refuses_to_change_the_log(core: Core, statement: str) -> None:
    fill(core)
    with pytest.raises(DBAPIError, match="append-only"), core.store.write() as rows:
        rows.execute(text(statement))
    assert not faults(core)


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_postgresql_refuses_to_truncate_the_log(core: Core) -> None:
    with pytest.raises(DBAPIError, match="append-only"), core.store.write() as rows:
        rows.execute(text("TRUNCATE audit"))


@pytest.mark.parametrize(
    "tampering, said",
    [
        ("UPDATE audit SET actor = 'eve' WHERE number = 3", "entry 3 was changed"),
        ("UPDATE audit SET details = '{}' WHERE number = 2", "entry 2 was changed"),
        ("DELETE FROM audit WHERE number = 3", "entry 3 is missing"),
        ("DELETE FROM audit WHERE number > 3", "the log ends with entry 3"),
    ],
)
def test_tampering_shows(core: Core, tampering: str, said: str) -> None:
    """Whoever owns the database can take the triggers away; the chain still tells."""
    fill(core)
    without_triggers(core, tampering)
    assert any(said in fault for fault in faults(core))


def test_a_log_cut_off_and_closed_again_contradicts_a_witness(core: Core) -> None:
    fill(core)
    with core.store.read() as rows:
        number, head = audit.head_of(rows, "one")
    without_triggers(
        core,
        "DELETE FROM audit WHERE number > 3",
        "UPDATE audit_heads SET number = 3, hash = (SELECT hash FROM audit WHERE number = 3)",
    )
    assert not faults(core)  # the chain alone cannot know
    assert faults(core, one={number: head}) == ["entry 5, which was witnessed, is missing"]


def without_triggers(core: Core, *statements: str) -> None:
    triggers = ("audit_no_update", "audit_no_delete") if core.store.is_sqlite else ("audit_no_change",)
    on = "" if core.store.is_sqlite else " ON audit"
    with core.store.write() as rows:
        for name in triggers:
            rows.execute(text(f"DROP TRIGGER {name}{on}"))
        for statement in statements:
            rows.execute(text(statement))


def test_what_is_rolled_back_leaves_no_entry(core: Core) -> None:
    fill(core, 1)
    with contextlib.suppress(ZeroDivisionError), core.store.write() as rows:
        audit.write(rows, "one", "anna", "test.act")
        1 / 0  # noqa: B018
    fill(core, 1)
    with core.store.read() as rows:
        assert [v.entries for v in audit.verify(rows)] == [2]


def test_writers_at_the_same_time_make_one_chain(core: Core) -> None:
    writers = [threading.Thread(target=fill, args=(core, 10)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    with core.store.read() as rows:
        (found,) = audit.verify(rows)
    assert (found.entries, found.faults) == (40, ())
