"""Messages, and the note of an estimate: what is said of a number, before any language says it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

GROUP = "note."  # the texts of notes have keys of this group in the message catalogue


@dataclass(frozen=True, slots=True)
class Message:
    """A text that is rendered later: its key in the message catalogue and the values that the text names."""

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.key)  # values may be lists

    def __str__(self) -> str:
        """The key and the values, for developers: the catalogue writes the text."""
        values = ", ".join(f"{name}={value}" for name, value in self.values.items())
        return f"{self.key}({values})" if values else self.key


@dataclass(frozen=True, slots=True)
class Note:
    """Why a number is undefined or has no bound, and what limits it: messages in their order, each once.

    A note without a message is false, and so is `NO_NOTE`.
    """

    messages: tuple[Message, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.messages)

    def __add__(self, other: "Note") -> "Note":
        """Both notes as one."""
        if not other.messages:
            return self
        if not self.messages:
            return other
        more = tuple(message for message in other.messages if message not in self.messages)
        return Note(self.messages + more) if more else self

    def __contains__(self, other: "Note") -> bool:
        """Whether this note has every message of the other one."""
        return all(message in self.messages for message in other.messages)

    def __iter__(self) -> Iterator["Note"]:
        """Each message as a note of its own."""
        return (Note((message,)) for message in self.messages)

    def __str__(self) -> str:
        """The keys and values, for developers: the catalogue writes the text."""
        return "; ".join(str(message).removeprefix(GROUP) for message in self.messages)

    def without(self, other: "Note") -> "Note":
        """This note without the messages of the other one."""
        return Note(tuple(message for message in self.messages if message not in other.messages))

    def only(self, other: "Note") -> "Note":
        """The messages that the other note has too."""
        return Note(tuple(message for message in self.messages if message in other.messages))

    def has(self, key: str) -> bool:
        """Whether a message has this key, whatever its values."""
        return any(message.key == GROUP + key for message in self.messages)


NO_NOTE = Note()


def note(key: str, **values: Any) -> Note:
    """A note of one message, whose text has this key in the group ``note`` of the message catalogue."""
    return Note((Message(GROUP + key, values),))
