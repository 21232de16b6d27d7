"""What is still missing of a description, in the words of a page."""

from collections.abc import Iterable, Sequence
from typing import Any

from trustreport.service.editor.form import NAME
from trustreport.service.engine import INDEX, label_keys
from trustreport.service.pages.render import PageWords


def label(path: str, say: PageWords) -> str:
    """A field in plain words; its last word where the catalogue has none."""
    found = (say(key) for key in label_keys(path) if key in say)
    return next(found, say("pages.finding.name") if path == NAME else path)


def missing(not_declared: Iterable[Sequence[Any]], say: PageWords) -> dict[str, Any]:
    """How many declarations are missing, as a sentence, and which, each with its control in the form."""
    rows = [{"at": _control(path), "text": _named(path, n, say)} for path, n in not_declared]
    n = sum(n for _, n in not_declared)
    return {"summary": say("pages.finding.not_declared", n=n) if n else "", "rows": rows}


def _control(path: str) -> str:
    return "/" + INDEX.sub(r"/\1", path).replace(".", "/")


def _named(path: str, n: int, say: PageWords) -> str:
    """A field with its group, and in how many entries it is missing."""
    plain = INDEX.sub("", path)
    group, _, rest = plain.partition(".")
    text = label(plain, say)
    if rest:
        text = say("pages.editor.entry", section=label(group, say), name=text)
    return text if n == 1 else say("word.interval", value=text, interval=say("pages.finding.times", n=n))
