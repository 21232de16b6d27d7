"""Notes: joined in order, each message once, compared as values."""

import pickle

from trustreport.measures.note import NO_NOTE, Message, Note, note

ONE, FEW = note("no_case"), note("few_positives", n=3)


def test_notes_are_joined_in_order_and_each_message_once() -> None:
    both = ONE + FEW
    assert [message.key for message in both.messages] == ["note.no_case", "note.few_positives"]
    assert both != FEW + ONE
    assert both + ONE == both == ONE + both
    assert list(both) == [ONE, FEW]
    assert ONE + note("few_positives", n=4) != both


def test_an_empty_note_is_false_and_adds_nothing() -> None:
    assert not NO_NOTE
    assert Note() == NO_NOTE
    assert NO_NOTE + ONE is ONE
    assert ONE + NO_NOTE is ONE
    assert ONE


def test_a_note_is_within_another_with_all_its_messages() -> None:
    both = ONE + FEW
    assert ONE in both
    assert both not in ONE
    assert both in FEW + ONE
    assert note("few_positives", n=4) not in both
    assert both.has("few_positives")
    assert not ONE.has("few_positives")


def test_messages_are_taken_out() -> None:
    both = ONE + FEW
    assert both.without(ONE) == FEW
    assert both.only(ONE) == ONE
    assert both.without(both) == NO_NOTE


def test_notes_are_values() -> None:
    again = note("few_positives", n=3)
    assert (again, hash(again)) == (FEW, hash(FEW))
    assert pickle.loads(pickle.dumps(ONE + FEW)) == ONE + FEW  # noqa: S301 -- our own bytes
    assert {FEW: 1}[again] == 1
    named = {"names": ["a"]}
    assert hash(Message("note.left_out_too_few_cases", named)) == hash(
        Message("note.left_out_too_few_cases", named)
    )


def test_developers_see_the_key_and_the_values() -> None:
    assert str(ONE + FEW) == "no_case; few_positives(n=3)"
