"""The pages of docs/ in the repository's own view: links lead somewhere, numbers and examples are so."""

import doctest
import importlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *(ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING", "CHANGELOG"))]
PAGES += [ROOT / "benchmarks" / "README.md"]
LINK = re.compile(r"\[[^\]]*\]\((?P<path>[^)#:\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
FILE = re.compile(
    r"(?<![\w/])(?:trustreport|tests|benchmarks|templates|schemas|packaging)/[\w/-]+\.(?:py|toml|json|csv|j2|yaml|md)\b"
)
MODULE = re.compile(r"\btrustreport(?:\.(?!example\b|db\b|env\b)[A-Za-z_]\w*)+")
HEADING = re.compile(r"^#{1,6} (.+)$", re.M)
EXAMPLE = re.compile(r"^```python\n(>>> .*?)^```", re.M | re.S)


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """The anchors that a page has, as GitHub and the site make them of headings."""
    found: Counter[str] = Counter()
    made = set()
    for heading in HEADING.findall(without_code(page.read_text("utf-8"))):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        made.add(f"{slug}-{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return made


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    for found in LINK.finditer(without_code(page.read_text("utf-8"))):
        if not found["path"] and not found["anchor"]:
            continue  # of another site: its colon ends the pattern
        target = (page.parent / found["path"]).resolve() if found["path"] else page
        assert target.exists(), found[0]
        generated = target.parent.name == "reference" or target.name == "gallery.md"
        if found["anchor"] and target.suffix == ".md" and not generated:
            assert found["anchor"] in anchors(target), found[0]


def named(name: str) -> object:
    """What a name in code stands for: a module, or something in one."""
    parts = name.split(".")
    found: object = None
    for i, part in enumerate(parts):
        try:
            found = importlib.import_module(".".join(parts[: i + 1]))
        except ModuleNotFoundError:
            found = getattr(found, part)
    return found


# The history names files and modules as they were when it was written.
NAMING = [*(page for page in PAGES if page.stem != "history"), *(ROOT / "templates/service").glob("*.j2")]


@pytest.mark.parametrize("page", NAMING, ids=lambda page: page.stem)
def test_files_and_modules_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    assert [name for name in FILE.findall(text) if not (ROOT / name).is_file()] == []
    for name in MODULE.findall(text):
        named(name)


def test_numbers_are_those_of_the_examples() -> None:
    script = DOCS / "quoted_results.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "page", [page for page in PAGES if EXAMPLE.search(page.read_text("utf-8"))], ids=lambda page: page.stem
)
def test_examples_give_what_they_show(page: Path) -> None:
    for content in EXAMPLE.findall(page.read_text("utf-8")):
        test = doctest.DocTestParser().get_doctest(content, {}, page.name, str(page), 0)
        assert test.examples
        runner = doctest.DocTestRunner()
        runner.run(test)
        assert runner.failures == 0


def test_a_measure_has_what_it_says_and_what_it_does_not_say() -> None:
    for page in sorted((DOCS / "measures").glob("*.md")):
        if page.stem == "index":
            continue
        text = page.read_text("utf-8")
        assert re.search(r"^\*\*What (it|they) says?\.\*\*", text, re.M), page.name
        assert re.search(r"^\*\*What (it does|they do) not say\.\*\*", text, re.M), page.name
        assert re.search(r"\.\./(statistics|study)\.md#", text), page.name
        assert f"({page.name})" in (DOCS / "measures" / "index.md").read_text("utf-8"), page.name
