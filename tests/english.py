"""What a note says in English, for tests of its text."""

from trustreport.measures.note import Note
from trustreport.vocabulary.messages import catalogue


def english(note: Note) -> str:
    """The text of a note in English."""
    return catalogue()(note)
