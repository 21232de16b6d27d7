"""How often a whole study of known truth gets a false verdict, by class of design.

Each study is drawn at random (`designs/`): sizes, prevalence, readers, clusters, missing readings, families.
The bound of a criterion is the true value itself, so in at most 2.5% of studies it may pass, or fail.
Manifest and tables are read and assessed as by `trustreport build`; nothing is written.

A class is accepted where

- false passes are at most 2.5% of the criteria at the border, plus two (binomial) Monte Carlo errors of the
  number of studies, as if the criteria of a study always agreed. A family counts once;
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
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "false_verdicts.csv"
DOCS = FOLDER.parent / "docs" / "verdicts.md"
SEED = 20261127
BATCH = 10
NOMINAL, ERRORS, MOST_WITHHELD = 0.025, 2, 0.5
OFTEN = 0.05  # a class of which more is withheld is named in the docs
COUNTED = "units false_passes false_fails criteria undecided withheld refused".split()
FIELDS = ["design", "study", *COUNTED, "which"]
BEGIN, END = "<!-- false verdicts -->", "<!-- /false verdicts -->"

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of the criteria of a class. A pass of a `unit` (criterion or family) is false."""

    design: str
    studies: int
    units: int
    false_passes: int
    false_fails: int
    criteria: int
    undecided: int
    withheld: int
    refused: int

    @property
    def limit(self) -> float:
        """The largest accepted rate of false passes: a binomial quantile, at two errors."""
        from scipy.stats import binom, norm

        return float(binom.ppf(norm.cdf(ERRORS), self.studies, NOMINAL)) / self.studies

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


def verdicts_of(folder: str, seed: int, design: str, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each of some studies of a class; by a worker of any backend."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from designs import CLASSES

    from trustreport.api import read_study
    from trustreport.assessment.assess import assess
    from trustreport.vocabulary.errors import StudyError

    rows = []
    for number in numbers:
        drawn = CLASSES[design](generator(seed, design, number))
        try:
            found = assess(*read_study(drawn.manifest)).verdicts
        except StudyError as error:
            refused = {**dict.fromkeys(COUNTED, 0), "refused": 1, "which": str(error)[:200]}
            rows.append({"design": design, "study": number, **refused})
            continue
        words = {verdict.criterion.endpoint: verdict.word for verdict in found}
        blocks = {verdict.criterion.endpoint: verdict.checks for verdict in found}
        counts = counted(words, drawn.truths, drawn.counted)
        rows.append(
            {"design": design, "study": number, **counts, "which": which(words, drawn.truths, blocks)}
        )
    return rows


def counted(words: Mapping[str, str], truths: Mapping[str, str], by: str) -> dict[str, int]:
    """What a study adds to its class, from the verdict and the truth of each criterion.

    >>> words, truths = {"a": "pass", "b": "pass"}, {"a": "border", "b": "border"}
    >>> [
    ...     counted(words, truths, by)["false_passes"]
    ...     for by in ("criteria", "any of the family", "all of the family")
    ... ]
    [2, 1, 1]
    """
    passes = [words[name] == "pass" for name, truth in truths.items() if truth == "border"]
    units, false = len(passes), sum(passes)
    if by != "criteria":
        units = 1
        false = int(any(passes) if by == "any of the family" else set(words.values()) == {"pass"})
    said = list(words.values())
    return {
        "units": units,
        "false_passes": false,
        "false_fails": said.count("fail"),
        "criteria": len(said),
        "undecided": said.count("inconclusive") + said.count("not tested"),
        "withheld": said.count("not assessable"),
        "refused": 0,
    }


def which(words: Mapping[str, str], truths: Mapping[str, str], blocks: Mapping[str, Sequence[str]]) -> str:
    """The criteria that decide what they must not, or are withheld, with the checks."""
    told = [
        " ".join([f"{name}: {word}", *blocks[name]])
        for name, word in words.items()
        if word in ("fail", "not assessable") or (word == "pass" and truths[name] == "border")
    ]
    return "; ".join(told)


def work(seed: int, studies: int, designs: Sequence[str]) -> Iterator[tuple[str, int, str, list[int]]]:
    """The pieces of work; classes have the same number of studies, or one fewer."""
    for i, design in enumerate(designs):
        own = range(studies // len(designs) + (i < studies % len(designs)))
        for first in range(0, len(own), BATCH):
            yield str(FOLDER), seed, design, list(own[first : first + BATCH])


def summary(design: str, rows: Sequence[Row]) -> Summary:
    """One class, or all of them together."""
    return Summary(design, len(rows), **{name: sum(int(row[name]) for row in rows) for name in COUNTED})


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """Every class in the order of the rows, then all together."""
    designs = list(dict.fromkeys(row["design"] for row in rows))
    each = [summary(design, [row for row in rows if row["design"] == design]) for design in designs]
    return [*each, summary("all", rows)]


def table(found: Sequence[Summary]) -> str:
    """What docs/verdicts.md has: all classes together, then the false passes of each by what is accepted."""
    *each, together = found
    by_limit: dict[str, list[str]] = defaultdict(list)
    for one in each:
        by_limit[f"{one.limit:.1%}"].append(f"{one.design} {one.rate:.1%} of {one.units:,}")
    often = [
        f"{one.design} {_share(one.withheld, one)}" for one in each if one.withheld > OFTEN * one.criteria
    ]
    worst = max(each, key=lambda one: one.false_fails / max(one.criteria, 1))
    failed, withheld = (_share(count, together) for count in (together.false_fails, together.withheld))
    said = (
        f"In {together.studies:,} studies {together.rate:.1%} of {together.units:,} bounds at the truth were "
        f"passed (accepted up to {together.limit:.1%}). Of the criteria {failed} failed (at most "
        f"{_share(worst.false_fails, worst)}: {worst.design}) and {withheld} were withheld (more than "
        f"{OFTEN:.0%}: {'; '.join(often)})."
    )
    lines = [f"- Accepted up to {limit}: {'; '.join(of)}." for limit, of in by_limit.items()]
    return "\n".join([said, "", *lines])


def _share(count: int, one: Summary) -> str:
    """A count as a share of the criteria of a class."""
    return f"{count / max(one.criteria, 1):.1%}"


def with_table(text: str, made: str) -> str:
    """The page with the table between its marks."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"


def read(file: Path) -> list[dict[str, str]]:
    """The rows of a run."""
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def write(rows: Iterable[Row], file: Path) -> None:
    """One row for each study."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def draw(seed: int, design: str, number: int, folder: Path) -> Path:
    """Write one study, for `trustreport build`."""
    from designs import CLASSES

    from trustreport.study.interop.frames import written

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

    from trustreport.api.parallel import workers

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
