"""Annexes: methods, provenance, files, and what others must supply."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trustreport.report import declared
from trustreport.report.elements.element import Context, Element, groups_of, numbered
from trustreport.report.tables import Table, heads, line_of, method_anchor, method_text, number_cells
from trustreport.study.plan import Document
from trustreport.vocabulary.messages import Catalogue

# What this report does not contain, and the words by which a declared document that holds it is known.
ELSEWHERE = {
    "clinical_evaluation": ("cer", "clinical evaluation"),
    "literature": ("literature", "equivalence", "clinical association"),
    "risk_file": ("risk",),
    "follow_up": ("pmcf", "pms", "post-market"),
    "instructions": ("ifu", "instructions for use"),
    "security": ("security", "cyber"),
    "integration": ("integration", "interoperab", "dicom"),
    "data_protection": ("dpia", "data protection", "privacy"),
    "usability": ("usability", "human factors"),
    "economics": ("econom", "cost", "budget"),
    "contract": ("contract", "service level", "sla"),
}


@dataclass(frozen=True, slots=True)
class MethodRow:
    """A method, its source, and the quantities of each dimension that were made by it."""

    anchor: str
    word: str
    text: str
    source: str
    used: Mapping[str, tuple[str, ...]]


def methods(context: Context) -> Element:
    """Every method with its source and what it was used for.

    The results themselves are in the tables of the chapters and, all of them, in results.json: nobody reads a
    thousand rows on a page, and a browser takes long to lay them out.
    """
    say, results = context.say, context.assessment.results
    used: dict[str, dict[str, dict[str, None]]] = {}
    for r in results:
        dimension, _, quantity = r.id.partition(".")
        used.setdefault(r.method, {}).setdefault(dimension, {})[quantity] = None
    listed = []
    for word in sorted(used, key=lambda w: method_text(w, say)):
        key = f"method.{word}.source"
        source = say(key) if key in say else say("report.methods.unknown")
        anchor, names = method_anchor(word), {k: tuple(v) for k, v in used[word].items()}
        listed.append(MethodRow(anchor, word, method_text(word, say), source, names))
    finding = say("report.methods.none")
    if results:
        finding = say("report.methods.finding", n=len(results), methods=len(used))
    return Element((finding,), template="report/methods.html.j2", extra={"rows": listed})


def scope_words(scope: Mapping[str, Any], say: Catalogue) -> Iterator[str]:
    """What a number or a remark is of, each value in words."""
    for key, value in scope.items():
        if value is None:
            continue
        if key == "arms":
            yield say("report.tested.contrast", aided=value[0], unaided=value[1])
        elif isinstance(value, str):  # a name of the data, though it may be a word of the manifest as well
            yield say.group(value) if key == "subgroup" else value
        elif isinstance(value, Mapping):
            yield from (f"{name} {declared.text(given, say)}" for name, given in value.items())
        else:
            yield declared.text(value, say)


def provenance(context: Context) -> Element:
    """Inputs with their hashes, versions, seed, and the command that makes the report again."""
    say, given = context.say, context.provenance
    columns = heads(say, "report.provenance", "input bytes sha256", numeric="bytes")
    lines = tuple(
        line_of(i["file"], *number_cells([say.numbers.count(i["bytes"])]), declared.short_hash(i["sha256"]))
        for i in given.get("inputs", ())
    )
    facts = [
        (say("report.provenance.command"), given.get("command") or say("report.provenance.default_command"))
    ]
    if given.get("seed") is not None:
        facts.append((say("report.provenance.seed"), str(given["seed"])))
    facts += [
        (say("report.provenance.iterations_of", name=method_text(name, say)), str(n))
        for name, n in given.get("iterations", {}).items()
    ]
    versions = {"trustreport": given.get("trustreport"), **given.get("versions", {})}
    software = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    facts.append((say("report.provenance.software"), software))
    inputs = Table(say("report.provenance.inputs_caption"), columns, lines) if lines else None
    return Element(
        (say("report.provenance.finding"),),
        template="report/provenance.html.j2",
        extra={"facts": facts, "inputs": inputs},
    )


def machine_readable(context: Context) -> Element:
    """Where each number stands in a form that a machine reads."""
    return Element((context.say("element.E49.finding", n=len(context.assessment.results)),))


def elsewhere(context: Context) -> Element:
    """What this report does not contain, and which declared document does."""
    say, documents = context.say, context.assessment.plan.documents
    lines, supplied = [], 0
    for item, words in ELSEWHERE.items():
        found = [d for d in documents if _holds(d, words)]
        named = [" ".join(filter(None, (d.id, d.version))) for d in found]
        where = say("element.E50.supplied", names=named) if found else say("word.not_declared")
        supplied += bool(found)
        lines.append(line_of(say(f"element.E50.{item}"), where))
    table = Table(say("element.E50.caption"), heads(say, "element.E50", "item where"), tuple(lines))
    finding = say("element.E50.finding", n=supplied, of=len(lines))
    return Element((finding,), groups_of(context, "E50"), tables=numbered(context, table))


def _holds(document: Document, words: Sequence[str]) -> bool:
    """Whether the kind or the title of a document begins a word with one of these."""
    text = f" {document.kind or ''} {document.title or ''}".casefold()
    return any(f" {word}" in text for word in words)


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    "E47": methods,
    "E48": provenance,
    "E49": machine_readable,
    "E50": elsewhere,
}
