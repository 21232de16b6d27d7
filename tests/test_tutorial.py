"""Tutorials do what they say: their commands run in a folder of their own, and print what the page shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
EXAMPLE = DOCS.parent / "examples" / "five-hospitals"
# A page, what its reader has at the start, the programs that it uses, and what is there at the end.
PAGES = {
    "tutorial.md": ([DOCS / "tutorial" / "reader-study.csv"], ["openssl"], ["out/report.pdf"]),
    "tutorial/five-hospitals.md": (
        [EXAMPLE / "hospitals"],
        ["openssl", "jq"],
        ["out/report.pdf", "out-2027/report.pdf"],
    ),
    "reference/site-file.md": ([EXAMPLE / f"{name}.site.json" for name in ("North", "West")], ["jq"], []),
}
# A file to write, after its name; or commands with what they print.
BLOCK = re.compile(
    r"^(?:`(?P<file>[\w./-]+)`\n\n```\w+\n(?P<content>.*?)|```console\n(?P<console>.*?))^```", re.M | re.S
)
SHIM = '#!/bin/sh\nexec "{python}" -m trustreport "$@"\n'


def typed(console: str) -> list[tuple[str, list[str]]]:
    """Each command of a block with the lines that it prints."""
    found: list[tuple[str, list[str]]] = []
    for line in console.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def same(shown: list[str], printed: list[str]) -> bool:
    """Whether lines are those shown, of which `...` is any number."""
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed)) is not None


def environment(folder: Path) -> dict[str, str]:
    """That of the test, with `trustreport` and `python3` of this checkout first in the path."""
    programs = folder / "programs"
    programs.mkdir()
    for name, text in (("trustreport", SHIM), ("python3", '#!/bin/sh\nexec "{python}" "$@"\n')):
        (programs / name).write_text(text.format(python=sys.executable))
        (programs / name).chmod(0o755)
    paths = [str(DOCS.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(paths),
    }


@pytest.mark.slow
@pytest.mark.pdf
@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_a_page_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    given, programs, made = PAGES[name]
    if missing := [program for program in programs if shutil.which(program) is None]:
        pytest.skip(f"the page uses {', '.join(missing)}")
    env = environment(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    for path in given:
        (shutil.copytree if path.is_dir() else shutil.copyfile)(path, work / path.name)
    run = 0
    for block in BLOCK.finditer((DOCS / name).read_text("utf-8")):
        if block["file"]:
            (work / block["file"]).parent.mkdir(exist_ok=True)
            (work / block["file"]).write_text(block["content"], "utf-8")
            continue
        for command, shown in typed(block["console"]):
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=work,
                env=env,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            assert done.returncode == 0, f"$ {command}\n{done.stdout}"
            assert same(shown, done.stdout.splitlines()), f"$ {command}\n{done.stdout}"
            run += 1
    assert run > (10 if made else 4)
    assert all((work / file).stat().st_size > 10_000 for file in made)


def test_the_table_of_the_tutorial_is_what_its_script_draws(tmp_path: Path) -> None:
    script = tmp_path / "make.py"
    shutil.copyfile(DOCS / "tutorial" / "make.py", script)
    subprocess.run([sys.executable, script], check=True)
    drawn = (tmp_path / "reader-study.csv").read_bytes()
    assert drawn == (DOCS / "tutorial" / "reader-study.csv").read_bytes()


@pytest.mark.parametrize(
    ("shown", "printed", "is_same"),
    [
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["a", "..."], ["a"], True),
        (["a"], ["a", "b"], False),
        (["a", "...", "d"], ["a", "b"], False),
    ],
)
def test_dots_are_any_number_of_lines(shown: list[str], printed: list[str], is_same: bool) -> None:
    assert same(shown, printed) is is_same
