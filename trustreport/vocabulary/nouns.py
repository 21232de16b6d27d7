"""Names of measures within sentences of languages whose nouns take an article and a case."""

from collections.abc import Mapping, Sequence
from typing import Any

# Subject with its article; what belongs to it: "der Sensitivität", "de la sensibilité"; the same without an
# article: "différence de sensibilité". A language without the last form has it like the second.
FORMS = ("the", "of", "bare")
UNKNOWN = "unknown"


class Nouns:
    """The nouns of a language, from the tables of its glossary: ``forms``, ``nouns`` and ``declined``.

    A name is looked up by the longest of the known nouns that it begins with; what follows, as the place or
    the group, stays as it is. A name that is not known is quoted, which is right in any case and gender.
    """

    def __init__(self, glossary: Mapping[str, Any]) -> None:
        self._forms: Mapping[str, Sequence[str]] = glossary.get("forms", {})
        self._known: dict[str, Sequence[str]] = {
            noun: [pattern.format(noun) for pattern in self._forms[kind]]
            for kind, nouns in glossary.get("nouns", {}).items()
            for noun in nouns
        } | glossary.get("declined", {})

    def __contains__(self, name: str) -> bool:
        return self._head(name) is not None

    def write(self, name: str, form: str) -> str:
        """A name in one of the `FORMS`; as it is in a language without these tables."""
        if not self._forms or not name:
            return name
        head = self._head(name)
        made = self._forms[UNKNOWN] if head is None else self._known[head]
        text = made[min(FORMS.index(form), len(made) - 1)]
        return text.format(name) if head is None else text + name[len(head) :]

    def _head(self, name: str) -> str | None:
        within = name[:1].lower() + name[1:]
        begins = (
            noun
            for noun in self._known
            if any(s.startswith(noun) and not s[len(noun) : len(noun) + 1].isalnum() for s in (name, within))
        )
        return max(begins, key=len, default=None)
