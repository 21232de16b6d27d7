"""Build the documentation as a site that needs no network: pages, gallery, reference.

    python docs/site/build.py [--out out/site] [--examples NAME ...]

The pages of docs/ are copied beside what is generated from code and examples, and Sphinx makes the site of
both. Every warning is an error: a link without a target, a page in no menu, a figure that no report has. With
--examples only these are built, for a quick look; the pictures of the others are left out.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

import notebook
import pictures
import reference
from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parents[2]
DOCS, CHANGELOG = ROOT / "docs", ROOT / "CHANGELOG.md"
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/study.yaml"))

LINK = re.compile(r"\[(?P<words>[^\]]*)\]\((?P<path>[^)#:]+)(?P<anchor>#[^)]*)?\)")
MARK = re.compile(r"^<!-- (?P<what>figure|page|generated): (?P<of>[^>]*?) -->$", re.MULTILINE)


def main() -> int:
    """Stage the sources, make what is generated, run Sphinx; its exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "site")
    parser.add_argument("--examples", nargs="*", default=EXAMPLES, choices=EXAMPLES, metavar="NAME")
    given = parser.parse_args()

    sources = given.out.with_name(given.out.name + "-sources")
    for folder in (sources, given.out):
        shutil.rmtree(folder, ignore_errors=True)
    sources.mkdir(parents=True)
    kept = given.out.with_name(given.out.name + "-pictures")
    gallery = pictures.draw(ROOT, given.examples, kept, sources)
    generated = reference.pages() | {"gallery": gallery.page(), "notebook": notebook.page(sources)}
    for file in [*DOCS.rglob("*.md"), CHANGELOG]:
        name = file.relative_to(DOCS) if file.is_relative_to(DOCS) else Path(file.name.lower())
        staged = sources / name
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.write_text(filled(file, gallery, generated, sources), encoding="utf-8")
    how = ["-W", "--keep-going", "-q", "-E", "-d", f"{given.out}-cache", "-c", str(DOCS / "site")]
    status = build_main(["-b", "html", *how, str(sources), str(given.out)])
    if (sources / "reports").is_dir():
        shutil.copytree(sources / "reports", given.out / "reports")
    return status


def filled(file: Path, gallery: pictures.Gallery, generated: dict[str, str], sources: Path) -> str:
    """A page of docs/ as the site has it.

    A comment `<!-- figure: EXAMPLE ID -->` becomes that figure, `<!-- page: EXAMPLE -->` the first page of
    that report, and `<!-- generated: NAME -->` what is generated under this name.
    """
    up = "../" * (len(file.relative_to(DOCS).parts) - 1) if file.is_relative_to(DOCS) else ""

    def marked(found: re.Match[str]) -> str:
        name = found["of"].strip()
        return generated[name] if found["what"] == "generated" else gallery.shown(found["what"], name, up)

    def linked(found: re.Match[str]) -> str:
        target = (file.parent / found["path"]).resolve().relative_to(ROOT)
        place = on_site(target, sources)
        if place:
            return f"[{found['words']}]({up}{place}{found['anchor'] or ''})"
        words, path = found["words"], f"`{target}`"
        return path if words.strip("`") in str(target) else f"{words} ({path} in the source)"

    text = file.read_text(encoding="utf-8").replace("```csv\n", "```text\n")  # the highlighter knows no CSV
    return MARK.sub(marked, LINK.sub(linked, text))


def on_site(target: Path, sources: Path) -> str:
    """Where the site has a file of the repository: a page, the gallery, a copy; empty where it has none.

    Raises
    ------
    FileNotFoundError : the repository has no such file either
    """
    if not (ROOT / target).exists():
        raise FileNotFoundError(f"a link to {target}, where nothing is")
    if target == CHANGELOG.relative_to(ROOT):
        return "changelog.md"
    if target.parts[0] == "examples":
        return f"gallery.md#{target.parts[1]}"
    place = target.relative_to("docs") if target.is_relative_to("docs") else target
    if target.suffix != ".md" and target.parts[0] in ("docs", "schemas"):
        (sources / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / target, sources / place)
    return str(place) if target.parts[0] in ("docs", "schemas") else ""


if __name__ == "__main__":
    sys.exit(main())
