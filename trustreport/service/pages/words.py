"""The catalogue as pages say it: a value that is markup stays so, and everything around it is escaped."""

import re
from functools import cache
from typing import Any

from markupsafe import Markup, escape

from trustreport.vocabulary.messages import Catalogue, Message, catalogue

FIRST_SIGN = 0xE000  # of private use in Unicode: where a value that is markup goes
SIGNS = re.compile("[\ue000-\ue0ff]")


class PageWords:
    """A catalogue whose texts may have parts that are markup, such as a link within a sentence."""

    def __init__(self, words: Catalogue) -> None:
        self.words, self.language, self.numbers = words, words.language, words.numbers

    def __contains__(self, key: str) -> bool:
        return key in self.words

    def __call__(self, message: Message | str, /, **values: Any) -> str:
        marked = {name: value for name, value in values.items() if isinstance(value, Markup)}
        if not marked:
            return self.words(message, **values)
        signs = {name: chr(FIRST_SIGN + i) for i, name in enumerate(marked)}
        plain = {n: SIGNS.sub("", v) if isinstance(v, str) else v for n, v in values.items()}
        parts = dict(zip(signs.values(), marked.values(), strict=True))
        text = str(escape(self.words(message, **{**plain, **signs})))
        return Markup(SIGNS.sub(lambda sign: parts[sign[0]], text))  # noqa: S704 -- escaped but for markup


@cache
def page_words(language: str) -> PageWords:
    """The words of pages in a language."""
    return PageWords(catalogue(language))
