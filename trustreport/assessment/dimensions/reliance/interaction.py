"""What advice did to decisions, beyond RAIR and RSR: odds of bias, changes, persuasion and the others."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.reliance.rates import ID, RateEntry, linearised, paired_table, pooled
from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED
from trustreport.assessment.performance.reader_errors import Grids, reader_errors
from trustreport.assessment.performance.readers import reading_key
from trustreport.measures.estimate import undefined
from trustreport.measures.mrmc.bootstrap import Draws, Resampled, canonical_order
from trustreport.measures.note import Note
from trustreport.measures.notes import OFTEN_BELOW
from trustreport.measures.paired.ratios import or_delta
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.clustered import INDEPENDENT
from trustreport.measures.reliance.odds import (
    adjusted_odds,
    as_direction,
    as_odds,
    inverse,
    odds_of_counts,
    odds_ratio,
    persuasion,
    share_difference,
    spread_ratio,
)
from trustreport.measures.reliance.patterns import appropriate, chance_corrected, rate
from trustreport.measures.seeds import generator
from trustreport.study.study import Floats, Readings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

FEW_CASES = 100

CHANGES = tuple(
    entry
    for name in ("dominance", "determination", "deference")
    for entry in (
        RateEntry(f"{name}_share", f"{name}_share"),
        RateEntry(f"{name}_helpful", f"{name}_direction", turned=as_direction),
    )
)
ODDS = (
    RateEntry("harmful_switch_rate", "automation_bias_odds", turned=as_odds),
    RateEntry("advice_not_taken", "conservatism_bias_odds", turned=as_odds),
)
BOUNDS = (
    RateEntry("appropriate_at_least", "appropriate_reliance_low_bound"),
    RateEntry("appropriate_at_most", "appropriate_reliance_high_bound"),
)
APPROPRIATE = RateEntry("", "appropriate_reliance")
# As published: odds of one pattern over those of another, both of all readings.
PUBLISHED = {
    "automation_bias_odds_published": ("100", "101"),
    "conservatism_bias_odds_published": ("010", "011"),
}
OF_TYPE = (
    RateEntry("rair", "rair"),
    RateEntry("rsr", "rsr"),
    RateEntry("switch_rate", "switch_rate"),
    RateEntry("accuracy_unaided", "accuracy", "unaided"),
    RateEntry("accuracy_aided", "accuracy", "aided"),
    *CHANGES,
    *ODDS,
)
COMPARED = tuple(e for e in OF_TYPE if e.rate in ("rair", "rsr", "switch_rate", "accuracy_aided"))
# What a published table of patterns cannot hold, and why.
NOT_OF_COUNTS = {
    "appropriate_reliance": notes.NO_CONFIDENCE,
    "appropriate_reliance_chance_corrected": notes.NO_CONFIDENCE,
    "persuasion": notes.NO_DECISIONS,
    "reader_spread_ratio": notes.NO_DECISIONS,
}


def of_counts(counts: Mapping[str, int], place: Place, level: float) -> list[Result]:
    """Every measure that the eight patterns hold; the others undefined, with the reason."""
    n = sum(counts.values())
    found = {e.id: e.turned(rate(counts, e.rate, level)) for e in (*CHANGES, *ODDS, *BOUNDS)}
    found |= {id: odds_of_counts(counts, *pair, level) for id, pair in PUBLISHED.items()}
    found["technology_impact"] = inverse(or_delta(paired_table(counts, ""), level))
    found |= {id: undefined(n, why, level=level, method=INDEPENDENT) for id, why in NOT_OF_COUNTS.items()}
    return [Result(f"{ID}.{id}", place, e, primary=True) for id, e in found.items()]


def of_readings(
    found: Grids, readings: Readings, place: Place, arms: tuple[str, str], level: float, seed: int | None
) -> Iterator[Result]:
    """Every measure, for readers and cases in general where the readings allow it."""
    of: dict[str, Any] = {"cases": reading_key(readings)}
    contrast, n = place.narrowed(arms=arms), int((~np.isnan(found.patterns)).sum())
    for e in (*CHANGES, *ODDS, *BOUNDS):
        outcome, lacking = found.outcomes[e.rate], found.lacking(e.rate)
        yield from pooled(e, contrast, outcome, found.cluster, lacking, level, **of)
    for id, pair in PUBLISHED.items():
        odds = odds_ratio(*_indicators(found, *pair))
        yield from linearised(id, contrast, odds, found.cluster, n, level, **of)
    yield from _technology_impact(found, readings, contrast, level, **of)
    if found.level_names:
        known = ~np.isnan(found.patterns)
        for e in ODDS:
            adjusted = adjusted_odds(found.outcomes[e.rate], known, found.levels, found.level_names)
            id = f"{e.id}_adjusted"
            for r in linearised(id, contrast, adjusted, found.cluster, n, level, **of):
                small = known.any(axis=0).sum() < FEW_CASES and e.id.startswith("automation")
                few = small and not isnan(r.estimate.low)
                note = r.estimate.note + OFTEN_BELOW
                yield replace(r, estimate=replace(r.estimate, note=note)) if few else r
    yield from _appropriate(found, contrast, level, **of)
    yield from _between_readers(found, readings, contrast, level, seed, **of)


def _indicators(found: Grids, *patterns: str) -> tuple[Floats, ...]:
    """1.0 where a reading has each pattern, 0.0 where it has another, NaN where it has none."""
    codes = found.patterns
    return tuple(np.where(np.isnan(codes), np.nan, codes == int(p, 2)) for p in patterns)


def _technology_impact(
    found: Grids, readings: Readings, contrast: Place, level: float, **of: Any
) -> list[Result]:
    """The inverse of the odds ratio of errors, with its interval; beside it that of independent pairs."""
    id, (compared, baseline) = f"{ID}.technology_impact", contrast.arms or ("", "")
    if baseline not in readings.arms:
        nothing = undefined(0, notes.NO_TWO_ARMS, level=level, method="or_delta")
        return [Result(id, contrast, nothing, primary=True, **of)]
    lead = inverse(reader_errors(readings, (compared, baseline), level).odds_ratio)
    results = [Result(id, contrast, lead, analysis="mrmc", primary=True, **of)]
    pairs = odds_ratio(found.correct[AIDED], found.correct[UNAIDED])
    if not isinstance(pairs, Note):
        results.append(Result(id, contrast, pairs.independent(level), analysis="paired", **of))
    return results


def _appropriate(found: Grids, contrast: Place, level: float, **of: Any) -> list[Result]:
    """Appropriate reliance where readers gave their confidence twice, and in excess of chance."""
    confidences = found.sureness[UNAIDED], found.sureness[AIDED]
    outcome = appropriate(found.patterns, *confidences)
    n, all_of_them = (int((~np.isnan(x)).sum()) for x in (outcome, found.patterns))
    lacking = notes.NO_CONFIDENCE if all_of_them else notes.NO_READING
    details = {"left_out": float(all_of_them - n)} if n else {}
    results = pooled(APPROPRIATE, contrast, outcome, found.cluster, lacking, level, details=details, **of)
    corrected = chance_corrected(found.patterns, *confidences)
    id = "appropriate_reliance_chance_corrected"
    return results + linearised(id, contrast, corrected, found.cluster, n, level, details=details, **of)


def _between_readers(
    found: Grids, readings: Readings, contrast: Place, level: float, seed: int | None, **of: Any
) -> Iterator[Result]:
    """Persuasion and spread, readers and cases drawn again; cases alone where there is one reader."""
    grids = np.stack([*found.decision, found.advice, *found.correct])
    names = list(readings.readers.labels)
    order, cases = canonical_order(names, grids)
    aided, unaided, advice, *correct = grids[:, order][:, :, cases]
    rng = generator(seed, ID, readings.task, *(contrast.arms or ()))
    resampled: Resampled = "both" if len(names) > 1 else "cases"
    cluster = None if found.cluster is None else found.cluster[cases]
    draws = Draws.drawn(len(names), found.truth[cases], rng, resampled=resampled, cluster=cluster)
    both = ~np.isnan(correct).any(axis=0)
    all_three = ~np.isnan([aided, unaided, advice]).any(axis=0)
    for id, statistic, n, lacking in (
        ("persuasion", persuasion(unaided, advice, aided), all_three.sum(), notes.ONE_DECISION_ONLY),
        ("reader_spread_ratio", spread_ratio(np.stack(correct)), both.sum(), notes.NO_SPREAD),
    ):
        why = lacking if n else notes.NO_READING
        e = draws.estimate(statistic, int(n), level=level, why_undefined=why)
        if len(names) == 1 and not isnan(e.value):
            e = replace(e, note=e.note + notes.ONLY_THIS_READER)
        yield Result(f"{ID}.{id}", contrast, e, primary=True, **of)


def types_of(found: Grids, readings: Readings) -> list[tuple[str, Floats]]:
    """Each type of advice that a reading with a pattern had, with its readings: 1.0, else NaN."""
    held = [
        (name, np.where((found.types == code) & ~np.isnan(found.patterns), 1.0, np.nan))
        for code, name in enumerate(readings.advice_types)
    ]
    return [(name, mask) for name, mask in held if not np.isnan(mask).all()]


def of_types(
    found: Grids, readings: Readings, place: Place, arms: tuple[str, str], level: float
) -> Iterator[Result]:
    """Reliance and accuracy with each type of advice, and the differences between types."""
    types, of = types_of(found, readings), {"cases": reading_key(readings)}
    if len(types) < 2:
        return
    for name, mask in types:
        for e in OF_TYPE:
            there = e.place(place, arms).narrowed(advice_type=name)
            outcome, lacking = found.outcomes[e.rate] * mask, found.lacking(e.rate)
            yield from pooled(e, there, outcome, found.cluster, lacking, level, **of)
        impact = odds_ratio(found.correct[AIDED] * mask, found.correct[UNAIDED] * mask)
        there = place.narrowed(arms=arms, advice_type=name)
        n = int(np.nansum(mask))
        yield from linearised("technology_impact", there, impact, found.cluster, n, level, **of)
    for (first, mine), (second, theirs) in combinations(reversed(types), 2):
        for e in COMPARED:
            difference = share_difference(found.outcomes[e.rate] * mine, found.outcomes[e.rate] * theirs)
            there = e.place(place, arms).narrowed(advice_type=first)
            more = {"parameters": {"against": second}, **of}
            yield from linearised(f"{e.id}_difference", there, difference, found.cluster, 0, level, **more)
