"""Builds every example and compares each file with the hash kept of it, before and after a change of code.

    .venv/bin/python tests/same_bytes.py                   # what differs from tests/same_bytes.sha256
    .venv/bin/python tests/same_bytes.py --keep before     # the same, and keeps what was built
    .venv/bin/python tests/same_bytes.py --against before  # names the results that differ from those kept
    .venv/bin/python tests/same_bytes.py --write           # takes the hashes of now as those to hold

The hashes are of one installation: other versions of fonts, WeasyPrint or NumPy give other bytes. No test
compares them; who moves code runs this program, and commits the hashes with a line for each entry that was to
change.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).parents[1]
KEPT = Path(__file__).with_suffix(".sha256")
FILES = ("results.json", "report.html", "report.pdf", "annex.pdf")


def studies() -> Iterator[tuple[str, Path]]:
    """Name and folder of every example, pooled ones too, and of every study of the qualification."""
    examples = PROJECT / "examples"
    for file in sorted([*examples.glob("*/study.yaml"), *examples.glob("*/signers.pem")]):
        yield file.parent.name, file.parent
    for manifest in sorted((PROJECT / "qualification" / "studies").glob("*/study.yaml")):
        yield f"qualification-{manifest.parent.name}", manifest.parent


def built(out: Path) -> dict[str, str]:
    """SHA-256 of each file of each study, built by this checkout into a folder of its own below `out`."""
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "OPENBLAS_NUM_THREADS": "1"}

    def build(study: tuple[str, Path]) -> None:
        name, folder = study
        signers = folder / "signers.pem"
        given: list[Path | str] = ["build", folder]
        if signers.is_file():
            given = ["pool", *sorted(folder.glob("*.site.json")), "--signers", signers]
        command = [sys.executable, "-m", "trustreport", *map(str, given), "-o", str(out / name)]
        command += ["--formats", "html,pdf,annex,json"]
        subprocess.run(command, env=environment, check=False, capture_output=True, cwd=PROJECT)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(build, studies()))
    return {
        f"{name}/{file}": hashlib.sha256((out / name / file).read_bytes()).hexdigest()
        for name, _ in studies()
        for file in FILES
        if (out / name / file).is_file()
    }


def kept() -> dict[str, str]:
    """The hashes to hold, by study and file."""
    lines = KEPT.read_text().splitlines() if KEPT.is_file() else []
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}


def unlike(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """A line for each file that is new, is gone, or has other bytes."""
    said = []
    for path in sorted({*before, *now}):
        if path not in now:
            said.append(f"{path}: is no longer built")
        elif path not in before:
            said.append(f"{path}: is new")
        elif before[path] != now[path]:
            said.append(f"{path}: has other bytes")
    return said


def changed_results(before: Path, now: Path) -> Iterator[str]:
    """Each entry of a results.json that has other values, is new or is gone, with both."""
    for path in sorted(now.glob("*/results.json")):
        other = before / path.parent.name / path.name
        if other.is_file():
            old, new = (_entries(json.loads(file.read_text())) for file in (other, path))
            for key in sorted({*old, *new}):
                if old.get(key) != new.get(key):
                    yield f"{path.parent.name}: {key}: {old.get(key)} -> {new.get(key)}"


def _entries(document: Mapping[str, object]) -> dict[str, str]:
    """Each field of a results.json, by where it is: an entry of a list by its number."""
    found = {}
    for part, content in document.items():
        for i, row in enumerate(content if isinstance(content, list) else [content]):
            fields = row if isinstance(row, dict) else {"": row}
            place = f"{part}[{i}] {fields.get('id', fields.get('check', ''))}".strip()
            found |= {f"{place} {name}": json.dumps(field, sort_keys=True) for name, field in fields.items()}
    return found


def main() -> int:
    """Build, compare, say what differs; 1 if anything does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, metavar="DIR", help="Keep what is built in this folder.")
    parser.add_argument("--against", type=Path, metavar="DIR", help="Name results unlike these.")
    parser.add_argument("--write", action="store_true", help=f"Write the hashes to {KEPT.name}.")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = (asked.keep or Path(folder)).resolve()
        found = built(out)
        said = unlike(kept(), found)
        if asked.against:
            said += changed_results(asked.against, out)
    if asked.write:
        KEPT.write_text("".join(f"{digest}  {path}\n" for path, digest in sorted(found.items())))
    print("\n".join(said) or f"{len(found)} files have the bytes that are kept.")
    return int(bool(said) and not asked.write)


if __name__ == "__main__":
    sys.exit(main())
