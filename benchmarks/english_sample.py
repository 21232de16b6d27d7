"""Draw 100 sentences from the reports of the examples, for a native reader to judge.

    python benchmarks/english_sample.py [--reports FOLDER] [--out FILE]

Sentences are the pieces of four words and more with a full stop or a question mark that the English reports
print outside their annexes, without those that the manifest itself has. Each is judged "ok" or "rewrite",
with the better wording and, once it is rewritten, the piece (`old`) of the catalogue that must not return:
`tests/test_english_sample.py` reads the file. Judgements are kept where a sentence is drawn again; every
other sentence waits for one. `rewritten_before` are pieces that earlier draws removed.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
JUDGED = Path(__file__).resolve().parent / "results" / "english_sample.json"
SEED, DRAWN, FEWEST_WORDS = 20270315, 100, 4
BLOCKS = frozenset("p li caption figcaption h2 h3 h4 dt dd td th".split())
SKIPPED = frozenset("script style svg nav footer template".split())
VOID = frozenset("area base br col embed hr img input link meta source wbr".split())
ANNEX = "annexes"  # class of the section with the annex
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z0-9“‘(])")


class ReportText(HTMLParser):
    """The blocks of text of a report without its annex."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self._open: list[tuple[str, bool]] = []  # element, and whether its text is left out
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block, or leave out what is no text of the report."""
        if tag in VOID:
            self._text += " "
            return
        classes = (dict(attrs).get("class") or "").split()
        out = tag in SKIPPED or ANNEX in classes or "visually-hidden" in classes
        self._open.append((tag, out or (bool(self._open) and self._open[-1][1])))
        if tag in BLOCKS:
            self._close()

    def handle_endtag(self, tag: str) -> None:
        """End a block."""
        if tag in BLOCKS:
            self._close()
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Keep text that is printed."""
        inside = any(name in BLOCKS for name, _ in self._open)
        if inside and not self._open[-1][1]:
            self._text += data

    def _close(self) -> None:
        said = " ".join(self._text.replace("\u00ad", "").replace("\u200b", "").split())
        if said:
            self.blocks.append(said)
        self._text = ""


def sentences(page: str, manifest: str = "") -> Iterator[str]:
    """The sentences of a report that are not the manifest's own words."""
    reader = ReportText()
    reader.feed(page)
    own = " ".join(manifest.split())
    for block in reader.blocks:
        for sentence in SENTENCE_END.split(block):
            words = [word for word in sentence.split() if re.search(r"[^\W\d_]{2}", word)]
            if len(words) >= FEWEST_WORDS and sentence[-1] in ".?!" and sentence.rstrip(".") not in own:
                yield sentence


def sample(found: Mapping[str, str]) -> list[str]:
    """The sentences to judge, of all that were found."""
    every = sorted(found)
    return random.Random(SEED).sample(every, min(DRAWN, len(every)))


def judged(drawn: Iterable[str], found: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """The file: each sentence with its example and its judgement, and how many are to be rewritten."""
    known = {one["sentence"]: one for one in before.get("sentences", ())}
    rows = [known.get(text, {"sentence": text, "example": found[text], "judgement": ""}) for text in drawn]
    rewritten = sum(one["judgement"] == "rewrite" for one in rows)
    counts = {"seed": SEED, "of": len(found), "drawn": len(rows), "rewrite": rewritten}
    return {**counts, "sentences": rows, "rewritten_before": before.get("rewritten_before", [])}


def main(arguments: list[str]) -> int:
    """Draw from the reports of a folder, or build them first; say how many have no judgement."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reports", type=Path, help="folder with a report for each example, by its name")
    parser.add_argument("--out", type=Path, default=JUDGED)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        found = _found(options.reports, Path(scratch))
    before = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
    document = judged(sample(found), found, before)
    options.out.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    waiting = sum(not one["judgement"] for one in document["sentences"])
    print(f"{document['drawn']} of {document['of']} sentences; {waiting} without a judgement: {options.out}")
    return 0


def _found(reports: Path | None, scratch: Path) -> dict[str, str]:
    """Every sentence, with the first example that prints it."""
    from trustreport import assess, read_study, write_report

    found: dict[str, str] = {}
    for manifest in sorted(EXAMPLES.glob("*/study.yaml")):
        name = manifest.parent.name
        file = (reports or scratch) / name / "report.html"
        if reports is None:
            write_report(assess(*read_study(manifest.parent)), scratch / name, formats=["html"])
        for text in sentences(file.read_text(encoding="utf-8"), manifest.read_text(encoding="utf-8")):
            found.setdefault(text, name)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
