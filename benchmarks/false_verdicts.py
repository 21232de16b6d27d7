"""How often a whole study of known truth gets a false verdict, by class of design.

Each study is drawn at random (`designs/`): sizes, prevalence, readers, clusters, missing readings, families.
The bound of a criterion is the true value itself, so in at most 2.5% of studies it may pass, or fail.
Manifest and tables are read and assessed as by `trustreport build`; nothing is written.

A class is accepted where

- false passes are at most 2.5% of the criteria at the border, plus two Monte Carlo errors. The error is that
  of the number of studies, as if the criteria of a study always agreed. A family counts once;
- no study is refused, and no more than half of the criteria are withheld, since that would show nothing.

The exit status is 1 where a class is not. Every study has a number, and is drawn again by it:

    python benchmarks/false_verdicts.py [--studies 5000] [--jobs 2] [--classes "sites; families"] [--seed 1]
                                        [--out FILE] [--docs]
    python benchmarks/false_verdicts.py --draw "sites" 17 FOLDER     # writes the study
"""

import argparse
import csv
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "false_verdicts.csv"
DOCS = FOLDER.parent / "docs" / "verdicts.md"
SEED = 20261127
BATCH = 10
NOMINAL, MOST_WITHHELD = 0.025, 0.5
FIELDS = "design study counted criterion truth verdict checks".split()
BEGIN, END = "<!-- false verdicts -->", "<!-- /false verdicts -->"

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of the criteria of a class. A pass of a `unit` (criterion or family) is false."""

    design: str
    studies: int
    refused: int
    criteria: int
    units: int
    false_passes: int
    false_fails: int
    undecided: int
    withheld: int

    @property
    def limit(self) -> float:
        """The largest rate of false passes that is accepted."""
        return NOMINAL + 2 * sqrt(NOMINAL * (1 - NOMINAL) / max(self.studies, 1))

    @property
    def rate(self) -> float:
        """False passes per unit."""
        return self.false_passes / max(self.units, 1)

    @property
    def accepted(self) -> bool:
        """Whether the class keeps what is promised, and shows it."""
        shown = self.units > 0 and not self.refused and self.withheld <= MOST_WITHHELD * self.criteria
        return shown and self.rate <= self.limit


def generator(seed: int, design: str, number: int) -> Any:
    """The random numbers of a study; nothing but its class and number decides them."""
    import numpy as np

    return np.random.default_rng([seed, number, *design.encode()])


def verdicts_of(folder: str, seed: int, design: str, numbers: Sequence[int]) -> list[dict[str, str]]:
    """A row for each criterion of some studies of a class; by a worker of any backend."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from designs import CLASSES

    from trustreport.api import read_study
    from trustreport.assessment import assess
    from trustreport.errors import StudyError

    rows = []
    for number in numbers:
        drawn = CLASSES[design](generator(seed, design, number))
        of_study = {"design": design, "study": str(number), "counted": drawn.counted}
        try:
            found = assess(*read_study(drawn.manifest)).verdicts
        except StudyError as error:
            rows.append(
                {**of_study, "criterion": str(error)[:200], "truth": "", "verdict": "refused", "checks": ""}
            )
            continue
        for verdict in found:
            name = verdict.criterion.endpoint
            said = {"criterion": name, "truth": drawn.truths[name], "verdict": verdict.word}
            rows.append({**of_study, **said, "checks": " ".join(verdict.checks)})
    return rows


def work(seed: int, studies: int, designs: Sequence[str]) -> Iterator[tuple[str, int, str, list[int]]]:
    """The pieces of work; classes have the same number of studies, or one fewer."""
    for i, design in enumerate(designs):
        own = range(studies // len(designs) + (i < studies % len(designs)))
        for first in range(0, len(own), BATCH):
            yield str(FOLDER), seed, design, list(own[first : first + BATCH])


def summary(design: str, rows: Sequence[Row]) -> Summary:
    """One class, or all of them together."""
    by_study: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_study[row["design"], row["study"]].append(row)
    asked = [row for row in rows if row["verdict"] != "refused"]
    units = false_passes = 0
    for own in by_study.values():
        of_units, false = units_of([row for row in own if row["verdict"] != "refused"])
        units, false_passes = units + of_units, false_passes + false
    return Summary(
        design,
        studies=len(by_study),
        refused=len(rows) - len(asked),
        criteria=len(asked),
        units=units,
        false_passes=false_passes,
        false_fails=sum(row["verdict"] == "fail" for row in asked),
        undecided=sum(row["verdict"] in ("inconclusive", "not tested") for row in asked),
        withheld=sum(row["verdict"] == "not assessable" for row in asked),
    )


def units_of(rows: Sequence[Row]) -> tuple[int, int]:
    """How many passes of a study would be false, and how many are.

    >>> both = [{"counted": "any of the family", "truth": "border", "verdict": "pass"}] * 2
    >>> units_of(both), units_of([{**row, "counted": "criteria"} for row in both])
    ((1, 1), (2, 2))
    """
    passes = [row["verdict"] == "pass" for row in rows if row["truth"] == "border"]
    if not passes or rows[0]["counted"] == "criteria":
        return len(passes), sum(passes)
    if rows[0]["counted"] == "any of the family":
        return 1, any(passes)
    return 1, all(row["verdict"] == "pass" for row in rows)


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """Every class in the order of the rows, then all together."""
    designs = list(dict.fromkeys(row["design"] for row in rows))
    each = [summary(design, [row for row in rows if row["design"] == design]) for design in designs]
    return [*each, summary("all", rows)]


def table(found: Iterable[Summary]) -> str:
    """The summaries as Markdown."""
    heads = "class of design,studies,bounds at the truth,false passes,accepted up to,fail,undecided,withheld"
    lines = ["| " + " | ".join(heads.split(",")) + " |", "| --- " * 8 + "|"]
    for one in found:
        shares = [one.false_fails, one.undecided, one.withheld]
        cells = [one.design, f"{one.studies:,}", f"{one.units:,}", f"{one.rate:.1%}", f"{one.limit:.1%}"]
        cells += [f"{share / max(one.criteria, 1):.1%}" for share in shares]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def with_table(text: str, made: str) -> str:
    """The page with the table between its marks."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"


def read(file: Path) -> list[dict[str, str]]:
    """The rows of a run."""
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def write(rows: Iterable[Row], file: Path) -> None:
    """One row for each criterion."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def draw(seed: int, design: str, number: int, folder: Path) -> Path:
    """Write one study, for `trustreport build`."""
    from designs import CLASSES

    from trustreport.interop.frames import written

    folder.mkdir(parents=True, exist_ok=True)
    return written(CLASSES[design](generator(seed, design, number)).manifest, folder, Path.cwd())


def main(words: Sequence[str] | None = None) -> int:
    """Draw, assess, count and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=5000, help="of all classes together")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--classes", default="", help="some of them, parted by ';'")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--docs", action="store_true", help="write the table of docs/verdicts.md and stop")
    parser.add_argument(
        "--draw", nargs=3, metavar=("CLASS", "NUMBER", "FOLDER"), help="write one study and stop"
    )
    given = parser.parse_args(words)
    sys.path.insert(0, str(FOLDER))
    if given.docs:
        page = with_table(DOCS.read_text(encoding="utf-8"), table(summaries(read(given.out))))
        DOCS.write_text(page, encoding="utf-8")
        return 0
    if given.draw:
        design, number, folder = given.draw
        print(draw(given.seed, design, int(number), Path(folder)))
        return 0
    from designs import CLASSES

    from trustreport.parallel import workers

    names = [name.strip() for name in given.classes.split(";") if name.strip()] or list(CLASSES)
    unknown = [name for name in names if name not in CLASSES]
    if unknown:
        parser.error(f"unknown class {'; '.join(unknown)}; choose from {'; '.join(CLASSES)}")
    started = time.perf_counter()
    with workers(given.jobs) as run:
        rows = [row for part in run(verdicts_of, work(given.seed, given.studies, names)) for row in part]
    write(rows, given.out)
    found = summaries(rows)
    print(table(found))
    failed = [one.design for one in found if not one.accepted]
    print(f"{time.perf_counter() - started:.0f} s; not accepted: {'; '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
