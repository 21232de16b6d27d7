"""How often the primary intervals of a report hold the true value, in every regime of `regimes`.

One row for a quantity of a regime: studies, covered, missed below and above, without an interval, mean width,
Monte Carlo error. Estimates come from what a report calls, so a change of method there is a change here.

Nearly every criterion is one-sided, so each side is judged apart. A row is accepted where the interval lies
above the true value, and where it lies below,

- in at most .035 of studies (.025 and .01) and two Monte Carlo errors;
- of shares, whose outcomes are few: in at most .05, and .035 on average over those within .02; towards one
  half, where Wilson's limits err and no claim passes, at most .10, and .065 on average;
- where the report says that a limit decides nothing, and does not lead with the number, a miss on its side is
  counted apart (`below_aside`, `above_aside`) and not judged;
- a missing interval counts as covered where the report says why, and no more than 10 % of studies lack one
  where there are ten cases of the rarer class (in ten clusters).

A prediction interval is to have the value of a new site, drawn with the others.

Rows of quantities for which no interval is given are in `LISTED`. The exit status is 1 where any other row
fails.

    python benchmarks/coverage.py [--runs 2000] [--jobs 2] [--backend loky|threading|dask|ray]
                                  [--topics readers,areas] [--designs "*skilled"] [--every 1] [--out FILE]
                                  [--judge] [--docs]
"""

import argparse
import csv
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from math import isnan, sqrt
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "coverage.csv"
DOCS = FOLDER.parent / "docs" / "statistics.md"
SEED = 20261122
BATCH = 100
SIDES = ("below", "above")
MOST, MOST_SHARE, MOST_INWARDS, MEAN_INWARDS, MOST_WITHOUT = 0.035, 0.05, 0.10, 0.065, 0.10
NEAR = 0.021  # shares are averaged with those so near, else with the next on either side
FIELDS = (
    "topic design quantity methods true runs covered below above below_aside above_aside"
    " without said width error due verdict"
).split()
NUMBERS = "true covered below above below_aside above_aside without said width error".split()
COMPARES = (", change", "risk reduction", "relative risk", "odds ratio")  # of shares: no end that is nearer
# Topic, design and quantity (patterns) for which no interval is given at all, and why.
LISTED: Mapping[tuple[str, str, str], str] = {
    ("data set in clusters", "*", "ici"): "a smooth curve: none in clusters, as the report says",
}


@dataclass
class Tally:
    """What became of the intervals of a quantity; counts are sums of weights."""

    runs: float = 0.0
    covered: float = 0.0
    below: float = 0.0
    above: float = 0.0
    below_aside: float = 0.0
    above_aside: float = 0.0
    without: float = 0.0
    said: float = 0.0
    width: float = 0.0
    methods: set[str] = field(default_factory=set)

    def add(self, e: Any, true: float, weight: float) -> None:
        """One estimate."""
        self.runs += weight
        self.methods.add(e.method)
        if isnan(e.low) or isnan(e.high):
            self.without += weight
            self.said += weight * bool(e.note)
            return
        tiny = 1e-9 * max(1.0, abs(true))
        below, above = weight * (e.high < true - tiny), weight * (e.low > true + tiny)
        short = e.short
        self.below, self.below_aside = self.below + below, self.below_aside + below * ("high" in short)
        self.above, self.above_aside = self.above + above, self.above_aside + above * ("low" in short)
        self.covered += weight * (e.low <= true + tiny and true - tiny <= e.high)
        self.width += weight * (e.high - e.low) if e.high - e.low < float("inf") else 0.0

    def join(self, other: "Tally") -> None:
        """The same of further studies."""
        for name in (
            *("runs", "covered", "below", "above", "below_aside", "above_aside"),
            *("without", "said", "width"),
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.methods |= other.methods


def tally(folder: str, topic: str, number: int, batch: int, runs: int) -> dict[str, Tally]:
    """The intervals of a batch of studies of a regime, by quantity; by a worker of any backend."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import numpy as np
    from regimes import TOPICS

    regime = list(TOPICS[topic]())[number]
    true, found = dict(regime.true()), defaultdict(Tally)
    if regime.outcomes is not None:
        for chance, estimates in regime.outcomes():
            for name, e in estimates:
                if name in true:
                    found[name].add(e, true[name], chance)
        return dict(found)
    assert regime.study is not None
    for run in range(runs):
        rng = np.random.default_rng([SEED, len(topic), number, batch, run])
        for name, e in regime.study(rng):
            if name in true:
                found[name].add(e, true[name], 1.0)
    return dict(found)


def batches(
    topics: Sequence[str], runs: int, every: int, designs: str = "*"
) -> Iterator[tuple[str, str, int, int, int]]:
    """The pieces of work, whole regimes in order."""
    from regimes import TOPICS

    for topic in topics:
        for number, regime in enumerate(TOPICS[topic]()):
            if number % every or not fnmatch(regime.design, designs):
                continue
            of_regime = 1 if regime.outcomes is not None else -(-runs // BATCH)
            for batch in range(of_regime):
                yield str(FOLDER), topic, number, batch, min(BATCH, runs - batch * BATCH)


def rows(
    work: Iterable[tuple[str, str, int, int, int]], done: Iterable[dict[str, Tally]]
) -> list[dict[str, Any]]:
    """A row for each quantity of each regime, unjudged."""
    from regimes import TOPICS

    joined: dict[tuple[str, int], dict[str, Tally]] = {}
    for (_, topic, number, _, _), found in zip(work, done):
        of_regime = joined.setdefault((topic, number), {})
        for name, one in found.items():
            of_regime.setdefault(name, Tally()).join(one)
    made = []
    for (topic, number), found in joined.items():
        regime = list(TOPICS[topic]())[number]
        exact = regime.outcomes is not None
        for name, true in regime.true().items():
            one = found.get(name, Tally())
            total = max(one.runs, 1e-12)
            share = (one.covered + one.said) / total
            made.append(
                {
                    "topic": regime.topic,
                    "design": regime.design,
                    "quantity": name,
                    "methods": " ".join(sorted(one.methods)),
                    "true": true,
                    "runs": "exact" if exact else int(one.runs),
                    "covered": share,
                    "below": one.below / total,
                    "above": one.above / total,
                    "below_aside": one.below_aside / total,
                    "above_aside": one.above_aside / total,
                    "without": one.without / total,
                    "said": one.said / total,
                    "width": one.width / max(total - one.without, 1e-12),
                    "error": 0.0 if exact else sqrt(share * (1 - share) / total),
                    "due": regime.due,
                    "share": name in regime.shares,
                    "neighbours": regime.neighbours,
                    "beside": regime.beside,
                    "none": not found.get(name),
                }
            )
    return made


def judged(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with their verdicts, each share beside its neighbours."""
    near: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in found:
        if row["share"] and row["neighbours"]:
            near[row["topic"], row["quantity"], row["neighbours"][0]].append(row)
    mean: dict[int, dict[str, float]] = {}
    for together in near.values():
        together.sort(key=lambda row: row["neighbours"][1])
        for i, row in enumerate(together):
            near_by = [one for one in together if abs(one["neighbours"][1] - row["neighbours"][1]) < NEAR]
            beside = near_by if len(near_by) > 2 else together[max(i - 1, 0) : i + 2]
            mean[id(row)] = {side: sum(_led(one, side) for one in beside) / len(beside) for side in SIDES}
    found = [row for row in found if not row.get("beside")]
    for row in found:
        row["verdict"] = _verdict(row, mean.get(id(row), row))
    return found


def _verdict(row: Mapping[str, Any], mean: Mapping[str, float]) -> str:
    enough = all(_led(row, side) - _slack(row, side) <= most for side, most in _most(row).items()) and (
        not row["share"]
        or all(mean[side] - _slack(row, side) <= most for side, most in _most(row, of_mean=True).items())
    )
    if enough and not row["none"] and not (row["due"] and row["without"] > MOST_WITHOUT):
        return "accepted"
    of = row["topic"], row["design"], row["quantity"]
    listed = any(all(map(fnmatch, of, patterns)) for patterns in LISTED)
    return "listed" if listed else "fails"


def _slack(row: Mapping[str, Any], side: str) -> float:
    """Two Monte Carlo errors of a side."""
    share = _led(row, side)
    return 0.0 if row["runs"] == "exact" else 2 * sqrt(share * (1 - share) / max(row["runs"], 1))


def _led(row: Mapping[str, Any], side: str) -> float:
    """How often the interval missed on a side whose limit the report does not set aside."""
    return float(row[side]) - float(row.get(f"{side}_aside", 0.0))


def _most(row: Mapping[str, Any], *, of_mean: bool = False) -> dict[str, float]:
    """How often the interval may miss on either side, a row by itself or the mean of its neighbours."""
    if not row["share"]:
        return dict.fromkeys(SIDES, MOST)
    most = dict.fromkeys(SIDES, MOST if of_mean else MOST_SHARE)
    if not row["quantity"].endswith(COMPARES):
        most["below" if row["true"] >= 0.5 else "above"] = MEAN_INWARDS if of_mean else MOST_INWARDS
    return most


def committed(path: Path) -> list[dict[str, Any]]:
    """The rows of a table as `rows` made them, but for those that are there for their neighbours alone."""
    from regimes import TOPICS

    regimes = {(r.topic, r.design): r for topic in TOPICS.values() for r in topic()}
    with path.open(encoding="utf-8") as lines:
        found = list(csv.DictReader(lines))
    made: list[dict[str, Any]] = []
    for row in found:
        regime = regimes[row["topic"], row["design"]]
        numbers = {name: float(row.get(name) or 0) for name in NUMBERS}
        runs = row["runs"] if row["runs"] == "exact" else int(row["runs"])
        more = {"share": row["quantity"] in regime.shares, "neighbours": regime.neighbours}
        made.append({**row, **numbers, **more, "runs": runs, "due": regime.due, "none": not row["methods"]})
    return made


def written(found: Sequence[Mapping[str, Any]], path: Path) -> None:
    """The rows as a table; those of designs that were not run stay as they are in it."""
    kept: list[dict[str, Any]] = []
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            ran = {(row["topic"], row["design"]) for row in found}
            kept = [row for row in csv.DictReader(lines) if (row["topic"], row["design"]) not in ran]
    with path.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, FIELDS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
        for row in found:
            shown = {k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()}
            writer.writerow({**shown, "due": "yes" if row["due"] else "no"})


# ---------------------------------------------------------------- docs

BEGIN, END = "<!-- coverage -->", "<!-- /coverage -->"


# A topic has a row where a side misses more often than the first, or intervals are missing more often
# than the second.
SHOWN = 0.05, 0.01


def table(path: Path = RESULTS) -> str:
    """The table of docs/statistics.md: a topic's worst values and quantity covered least; others by name."""
    of_topic: dict[str, list[dict[str, str]]] = defaultdict(list)
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            of_topic[row["topic"]].append(row)
    heads = ("of", "least covered", "above the true value", "below it", "without interval")
    said = [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads))]
    rest = []
    for topic, of in of_topic.items():
        least = min(of, key=lambda row: float(row["covered"]))
        several = len({row["quantity"] for row in of}) > 1
        sides = [max(float(row[side]) for row in of) for side in reversed(SIDES)]
        without = max(float(row["without"]) for row in of)
        if max(sides) <= SHOWN[0] and without <= SHOWN[1]:
            rest.append(topic)
            continue
        cells = (
            topic + (" (listed)" if any(row["verdict"] == "listed" for row in of) else ""),
            f"{float(least['covered']):.3f}" + (f" ({least['quantity']})" if several else ""),
            *(f"{side:.3f}" for side in sides),
            f"{without:.1%}",
        )
        said.append(f"| {' | '.join(cells)} |")
    most = "In others a side misses in at most {:g} of studies, and at most {:.0%} of intervals are absent"
    return "\n".join(said) + f"\n\n{most.format(*SHOWN)}: {', '.join(rest)}."


def with_table(text: str, made: str) -> str:
    """The page with the table between its marks."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{made}\n{END}{tail}"


def main(words: Sequence[str] | None = None) -> int:
    """Run what is asked for, write the rows, judge them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000, help="studies of each regime")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--backend", default="loky")
    parser.add_argument("--topics", default="", help="some of them, by comma")
    parser.add_argument("--designs", default="*", help="those of them that match a pattern")
    parser.add_argument("--every", type=int, default=1, help="every so many regimes of a topic")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--judge", action="store_true", help="judge the rows of the file anew, and stop")
    parser.add_argument("--docs", action="store_true", help="write the table of docs/statistics.md and stop")
    given = parser.parse_args(words)
    if given.docs:
        DOCS.write_text(with_table(DOCS.read_text(encoding="utf-8"), table(given.out)), encoding="utf-8")
        return 0
    sys.path.insert(0, str(FOLDER))
    from regimes import TOPICS

    from trustreport.api.parallel import workers

    if given.judge:
        found = judged(committed(given.out))
        written(found, given.out)
        return _said(found, "judged")

    topics = [t.strip() for t in given.topics.split(",") if t.strip()] or list(TOPICS)
    started, work = time.perf_counter(), list(batches(topics, given.runs, given.every, given.designs))
    with workers(given.jobs, given.backend) as run:
        found = judged(rows(work, run(tally, work)))
    written(found, given.out)
    return _said(found, f"{time.perf_counter() - started:.0f} s")


def _said(found: Sequence[Mapping[str, Any]], how: str) -> int:
    """Print the rows that fail; the exit status."""
    failed = [row for row in found if row["verdict"] == "fails"]
    for row in failed:
        sides = f"{row['below']:.4f} below the true value, {row['above']:.4f} above"
        without = f"{row['without']:.1%} without an interval"
        print(f"{row['topic']}: {row['design']}: {row['quantity']} ({row['methods']}): {sides}, {without}")
    print(f"{len(found)} rows, {len(failed)} fail; {how}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
