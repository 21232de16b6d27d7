"""Verdicts derived a second time, from results.json alone, by the rules of docs/verdicts.md.

Written from that page, and sharing no code with what gave the verdicts: a fault of either, or a change of the
file, shows as a difference.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isclose
from typing import Any

Item = Mapping[str, Any]
Bound = tuple[float | None, float | None]  # the whole interval has to be above the first and below the second

MOST_ALPHA = 0.1
PLACES = (
    *("set", "task", "subgroup", "site", "threshold"),
    *("protocol", "reader", "version", "advice_type"),
)
CHOSEN = ("metric", "bins", "tau", "against", "prevalence", "kind")
FREE_OF_LABELS = (
    *("measurement.", "reader_measurement.", "source_"),
    *("advice_accuracy.label_corrected_", "advice_accuracy.reference_"),
)
NOT_OF_LABELS = ("mean_seconds", "seconds", "mean_confidence", "confidence", "failure_rate", "flip_rate")
MACRO = {"class_sensitivity": "macro_sensitivity", "class_ppv": "macro_ppv"}
SPECIAL = (
    *("set", "subgroup", "reader", "raters", "site", "period", "class", "parameters"),
    *("version", "advice_type", "complexity", "arms"),
)
PARTS = ("site", "reader", "version", "class")
NUMBERS = ("value", "low", "high", "se")
RULES = {
    **{name: name for name in ("holm", "hochberg", "bonferroni")},
    **dict.fromkeys(("sequence", "sequential", "hierarchical", "gatekeeping"), "fixed sequence"),
    **dict.fromkeys(("co-primary", "coprimary"), "co-primary"),
}
ADJUSTED = "adjusted for reading order"  # in the note of a change that is
ALONE = ("", "none", "no", "single", "-")
NO_SHARE = 1e-9  # of alpha, and less: what rounding leaves


@dataclass(frozen=True, slots=True)
class Derived:
    """A verdict as it is derived: its word, why, and what a report has to say with it."""

    word: str
    why: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dissent:
    """What a report says of a criterion, and what follows from its numbers."""

    criterion: str
    reported: str
    derived: str
    why: str

    def __str__(self) -> str:
        return f"{self.criterion}: reported {self.reported}, derived {self.derived} ({self.why})"


def dissents(document: Item) -> list[Dissent]:
    """Whatever a report says of its verdicts that does not follow from its criteria, numbers and checks.

    Parameters
    ----------
    document : results.json, parsed

    Raises
    ------
    ValueError : the file is of a version that does not hold what verdicts rest on, or lacks a part of it
    """
    if "intervals" not in document:
        raise ValueError("results.json is of a version that does not hold what verdicts rest on")
    try:
        return [*_of_verdicts(document), *_of_intervals(document)]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"results.json lacks a part, or has one of another form: {error!r}") from error


def _of_verdicts(document: Item) -> Iterator[Dissent]:
    declared, locked = document["criteria"]["declared"], document["criteria"]["locked"]
    own = _Judge(document, declared, "criteria").verdicts()
    before = _Judge(document, locked, "locked_criteria").verdicts() if locked else {}
    named = {c["endpoint"] for c in declared["endpoints"]}
    removed = [c["endpoint"] for c in (locked["endpoints"] if locked else ()) if c["endpoint"] not in named]
    own |= {name: Derived("not assessable", "declared no longer") for name in removed}
    reported = {v["endpoint"]: v for v in document["verdicts"]}
    for name in dict.fromkeys((*own, *reported)):
        if name not in reported:
            yield Dissent(name, "nothing", own[name].word, own[name].why)
        elif name in own:
            yield from _unlike(name, reported[name], own[name])
            if reported[name]["locked"] and name in before:
                then = Derived(before[name].word, before[name].why)
                yield from _unlike(f"{name}, as locked", reported[name]["locked"], then)
        elif name in named or reported[name]["verdict"] != "not assessable":
            yield Dissent(name, reported[name]["verdict"], "nothing", "it asks for no verdict")


def _unlike(name: str, reported: Item, own: Derived) -> Iterator[Dissent]:
    """The word where it differs, else each fact that does."""
    if reported["verdict"] != own.word:
        yield Dissent(name, reported["verdict"], own.word, own.why)
        return
    said = {**reported, "risk": {one["measure"]: one["verdict"] for one in reported.get("risk", ())}}
    for key, value in own.facts.items():
        if not _same(said[key], value):
            yield Dissent(name, f"{key} {said[key]}", f"{key} {value}", own.why)


def _of_intervals(document: Item) -> Iterator[Dissent]:
    """Intervals of verdicts that are not those of the same entry among the results."""
    entries = {(*_key(r, r["level"]), r["method"]): r for r in document["results"] if r["value"] is not None}
    for one in document["intervals"]:
        entry = entries.get((*_key(one, one["level"]), one["method"]), one)
        for key in (key for key in NUMBERS if not _same(one[key], entry[key])):
            name = f"{one['id']} {json.dumps(one['scope'])}"
            yield Dissent(name, f"{key} {one[key]}", f"{key} {entry[key]}", "the same entry in results")


class _Judge:
    """Judges criteria as declared or as locked; `resting` names the criteria on which a change bears."""

    def __init__(self, document: Item, declared: Item, resting: str) -> None:
        self.criteria, self.checks = document["criteria"], document["checks"]
        self.declared, self.resting = declared, resting
        self.primary = [r for r in document["results"] if r["primary"]]
        self.intervals = {_key(one, one["level"]): one for one in document["intervals"]}
        sets = document["study"]["datasets"]
        self.development = [d["dataset"] for d in sets if d["role"] in ("training", "tuning")]

    def entry(self, c: Item, measure: str) -> Item | str:
        """The entry that answers a criterion, or why none does."""
        if "mean_over_classes" in c:
            dimension, dot, name = measure.rpartition(".")
            measure = f"{dimension}{dot}{MACRO.get(name, name)}"
        there = [r for r in self.primary if _is_there(r["scope"], c)]
        found = [r for r in there if measure in (r["id"], r["id"].rpartition(".")[2])]
        for kind in (*([] if c.get("weights") is False else [".weighted_"]), ".label_corrected_"):
            names = {kind.join(r["id"].rsplit(".", 1)) for r in found}
            found = [r for r in there if r["id"] in names] or found
        if not found:
            last, parts = measure.rpartition(".")[2], [k for k in ("subgroup", "period", "site") if k in c]
            of_part = [r for r in there if any(r["scope"].get(key) == c[key] for key in parts)]
            found = [r for r in of_part if r["quantity"] == r["scope"].get("endpoint") == last]
        if "apparent" not in c:
            found = [r for r in found if not {*self.development} & {*_datasets(r["scope"])}]
        if "prevalence" not in c and c.get("population") != "sample" and self.criteria["prevalence"]:
            share = self.criteria["prevalence"]
            found = [
                r for r in found if (r["scope"].get("parameters") or {}).get("prevalence") == share
            ] or found
        given = {*c, "arms"} if "arm_or_contrast" in c else {*c}
        named = {*(key for key in CHOSEN if key in c), *(c.get("parameters") or ())}
        for extra in (
            lambda r: sum(key in r["scope"] and key not in given for key in SPECIAL),
            lambda r: len(_parameters(r["scope"]).keys() - named),
        ):
            fewest = min(map(extra, found), default=0)
            found = [r for r in found if extra(r) == fewest]
        for preferred in (
            lambda scope: scope.get("arm") == c.get("arm_or_contrast"),
            lambda scope: scope.get("threshold") == self.criteria["threshold"],
            lambda scope: (scope.get("parameters") or {}).get("binning", "equal_width") == "equal_width",
        ):
            if len(found) > 1:
                found = [r for r in found if preferred(r["scope"])] or found
        return found[0] if len(found) == 1 else f"{len(found)} entries answer"

    def judge(self, c: Item, alpha: float) -> Derived:
        """The verdict at an alpha, with the limits from risk."""
        level = round(1 - alpha * (3 - _sides(c)), 12)
        found = self.compared(c, alpha, level)
        if "risk" not in c:
            return found
        limits = {name: self.limit(c, name, bound, level) for name, bound in _ratios(c["risk"])}
        return Derived(found.word, found.why, {**found.facts, "risk": limits})

    def compared(self, c: Item, alpha: float, level: float) -> Derived:
        """The verdict without the limits from risk."""
        entry = self.entry(c, c["measure"]) if "measure" in c else "it names no measure"
        if isinstance(entry, str):
            return Derived("not assessable", entry)
        known = self.intervals.get(_key(entry, self.criteria["declared"]["confidence_level"]))
        bound = bound_of(c, known["quantity"]) if known else None
        if bound is None:
            return Derived("not assessable", "no bound that can be used")
        at = self.intervals.get(_key(entry, level))
        if alpha > MOST_ALPHA or at is None:
            why = "alpha above 0.1" if alpha > MOST_ALPHA else f"no interval at {level:g}"
            return Derived("not assessable", why)
        word, why, checks = self.word(c, entry, at, bound)
        facts = {key: at[key] for key in ("id", "scope", "method", "value", "low", "high")}
        facts |= {"level": level, "alpha": alpha, "above": bound[0], "below": bound[1]}
        return Derived(word, why, facts if checks is None else {**facts, "checks": checks})

    def limit(self, c: Item, name: str, bound: Bound, level: float) -> str:
        """The word on a likelihood ratio at the place of a criterion: of its dimension, else of any."""
        place = {key: said for key, said in c.items() if key not in ("of", *CHOSEN)}
        own = ".".join((*c.get("measure", "").split(".")[:-1], name))
        entry = self.entry(place, own)
        entry = self.entry(place, name) if isinstance(entry, str) else entry
        at = None if isinstance(entry, str) else self.intervals.get(_key(entry, level))
        return "not assessable" if isinstance(entry, str) or at is None else self.word(c, entry, at, bound)[0]

    def word(self, c: Item, entry: Item, at: Item, bound: Bound) -> tuple[str, str, list[str] | None]:
        """Word, why, and the checks that the verdict has to name, None where that is not said."""
        late = self.late(c["endpoint"])
        blocks = [check for check in self.checks if check["withholds"] and _concerns(check, at, entry)]
        if c.get("population") == "sample":
            blocks = [check for check in blocks if check["withholds"]["numbers"] != "sample"]
        checks = [late] if late else list(dict.fromkeys(check["check"] for check in blocks))
        if late or any(check["withholds"]["verdicts"] == "all" for check in blocks):
            return "not assessable", f"withheld by {', '.join(checks)}", checks
        value, low, high = (_number(at, end) for end in ("value", "low", "high"))
        if value is None or low is None or high is None:
            return "not assessable", "no value or no interval", None
        if any(self.contradicts(entry, other) for other in self.primary):
            return "not assessable", "two intervals of this number", None
        if low == high or at["se"] == 0:
            return "not assessable", "an interval without width", None
        above, below = (None if end is None else float(f"{end:.13g}") for end in bound)
        why = f"{low:.6g} to {high:.6g}, to be above {above} and below {below}"
        word, rests_on = "inconclusive", set()
        if (above is None or low > above) and (below is None or high < below):
            word = "pass"
            rests_on = {end for end, bound in (("low", above), ("high", below)) if bound is not None}
        elif above is not None and high < above:
            word, rests_on = "fail", {"high"}
        elif below is not None and low > below:
            word, rests_on = "fail", {"low"}
        if rests_on & {*at["short"]}:
            return "not assessable", f"it rests on a limit that is short: {why}", None
        if rests_on:
            return word, why, []
        if blocks:
            return "not assessable", f"inconclusive, and withheld by {', '.join(checks)}", checks
        return "inconclusive", why, []

    def late(self, name: str) -> str:
        """The check that says why a criterion was not fixed in advance; empty where it was."""
        if self.criteria["state"] == "none" or self.criteria["late"]:
            return "P35"
        how = {change["amendment"] for change in self.criteria["changes"] if name in change[self.resting]}
        return "P34" if "undeclared" in how else "P35" if "after" in how else ""

    def contradicts(self, one: Item, other: Item) -> bool:
        """Whether two entries give the same number differently."""
        alike = one["quantity"] == other["quantity"] and self.number(one) == self.number(other)
        return alike and not all(_same(one[key], other[key]) for key in ("value", "low", "high", "p"))

    def number(self, r: Item) -> tuple[Any, ...]:
        """What a number is beside its quantity, whatever its id: cases, place and choices."""
        at = {**r["scope"], "dataset": _dataset(r["scope"]), "analysis": None, "period": None}
        if at.get("threshold") == self.criteria["threshold"]:
            at["threshold"] = None
        if at.get("endpoint") == r["quantity"].removesuffix("_difference"):
            at["endpoint"] = None
        chosen = {k: v for k, v in (at.pop("parameters", None) or {}).items() if k not in ("metric", "scale")}
        return r["cases"], {k: v for k, v in at.items() if v is not None}, chosen

    def alpha(self, c: Item) -> float:
        """The alpha of a criterion by itself."""
        return c.get("alpha") or round((1 - self.declared["confidence_level"]) / (3 - _sides(c)), 12)

    def verdicts(self) -> dict[str, Derived]:
        """The verdict on each criterion that asks for one, by its name."""
        rules = {f["family"]: f for f in self.declared["families"]}
        families: dict[str, list[Item]] = {}
        for c in filter(_asks, self.declared["endpoints"]):
            name = c.get("multiplicity_family", "").strip()
            alone = name not in rules and name.casefold() in ALONE
            families.setdefault(f"\0{c['endpoint']}" if alone else name, []).append(c)
        found: dict[str, dict[str, Derived]] = {}
        while left := [name for name in families if name not in found]:
            ready = [name for name in left if not {*_after(rules.get(name, {}))} & {*left}]
            for name in ready:
                spelled = next((rule for word, rule in RULES.items() if word in name.casefold()), "none")
                rule, members = rules.get(name, {"rule": spelled}), families[name]
                met = [n in found and all(d.word == "pass" for d in found[n].values()) for n in _after(rule)]
                if met and not (any(met) if rule.get("opens_when") == "any" else all(met)):
                    closed = Derived("not tested", f"behind {', '.join(_after(rule))}")
                    found[name] = {c["endpoint"]: closed for c in members}
                else:
                    found[name] = self.family(rule, members)
            if not ready:
                raise ValueError(f"results.json has families that wait for each other: {', '.join(left)}")
        return {name: derived for own in found.values() for name, derived in own.items()}

    def family(self, rule: Item, members: Sequence[Item]) -> dict[str, Derived]:
        """The verdicts on the members of a family that is open."""
        by_name = {c["endpoint"]: c for c in members}
        alpha = rule.get("alpha") or min(map(self.alpha, members))

        def judge(name: str, share: float | None = None) -> Derived:
            own = rule.get("alpha") or self.alpha(by_name[name])
            return self.judge(by_name[name], own if share is None else alpha * share)

        match rule["rule"]:
            case "holm":
                return holm(list(by_name), judge)
            case "hochberg":
                return hochberg(list(by_name), judge)
            case "bonferroni":
                return {name: judge(name, 1 / len(members)) for name in by_name}
            case "fixed sequence":
                return in_order(list(by_name), judge)
            case "graph":
                return graph(list(by_name), judge, rule.get("weights", {}), rule.get("transitions", {}))
        return {name: judge(name) for name in by_name}


Judge = Callable[..., Derived]
"""The verdict on the criterion of a name at a share of alpha; without a share at the alpha of its own."""


def holm(names: Sequence[str], judge: Judge) -> dict[str, Derived]:
    """Each of the k left at a k-th of alpha; those that pass leave."""
    found: dict[str, Derived] = {}
    while left := [name for name in names if name not in found]:
        tried = {name: judge(name, 1 / len(left)) for name in left}
        found |= {name: d for name, d in tried.items() if d.word == "pass"} or tried
    return found


def hochberg(names: Sequence[str], judge: Judge) -> dict[str, Derived]:
    """All at alpha, then at a half, a third: the first at which all but k - 1 pass decides."""
    tried: dict[str, Derived] = {}
    for k in range(1, len(names) + 1):
        tried = {name: judge(name, 1 / k) for name in names}
        if sum(d.word == "pass" for d in tried.values()) > len(names) - k:
            break
    return tried


def in_order(names: Sequence[str], judge: Judge) -> dict[str, Derived]:
    """Each at the whole alpha, as long as those before it passed."""
    found: dict[str, Derived] = {}
    for name in names:
        stop = next((n for n, d in found.items() if d.word != "pass"), None)
        found[name] = judge(name) if stop is None else Derived("not tested", f"behind {stop}")
    return found


def graph(names: Sequence[str], judge: Judge, weights: Item, transitions: Item) -> dict[str, Derived]:
    """Bretz et al. 2009: the first that passes at its share leaves, and hands its share on."""
    share = {name: weights.get(name, 0.0) for name in names}
    to = {a: {b: transitions.get(a, {}).get(b, 0.0) for b in names} for a in names}
    found: dict[str, Derived] = {}
    while left := [name for name in names if name not in found]:
        tried = {name: judge(name, share[name]) for name in left if share[name] > NO_SHARE}
        out = next((name for name, d in tried.items() if d.word == "pass"), None)
        if out is None:
            return found | {n: tried.get(n, Derived("not tested", "no alpha was handed on")) for n in left}
        found[out], left = tried[out], [name for name in left if name != out]
        share |= {a: share[a] + share[out] * to[out].get(a, 0.0) for a in left}
        kept = {a: 1 - to[a][out] * to[out][a] for a in left}
        through = {a: {b: to[a][b] + to[a][out] * to[out][b] for b in left if b != a} for a in left}
        to = {a: {b: g / kept[a] if kept[a] > NO_SHARE else 0.0 for b, g in through[a].items()} for a in left}
    return found


def _after(rule: Item) -> list[str]:
    after = rule.get("after") or []
    return [after] if isinstance(after, str) else list(after)


def _asks(c: Item) -> bool:
    hypothesis = c.get("hypothesis")
    return "bound_or_margin" in c if hypothesis is None else hypothesis != "estimation"


def _sides(c: Item) -> int:
    return 2 if c.get("hypothesis") in (None, "estimation") else c.get("sides", 1)


def _ratios(risk: Item) -> Iterator[tuple[str, Bound]]:
    """The likelihood ratios that declared risks need: odds after the result by odds before it."""
    for name, key in (("lr_positive", "after_positive"), ("lr_negative", "after_negative")):
        if key in risk:
            after, before = (p / (1 - p) for p in (risk[key], risk["pre_test"]))
            yield name, (after / before, None) if name == "lr_positive" else (None, after / before)


def bound_of(c: Item, q: Item) -> Bound | None:
    """Where the whole interval has to be; None where no bound can be used."""
    hypothesis, b = c.get("hypothesis"), c.get("bound_or_margin")
    none, better, up, pair = q["no_effect"], q["better"], q["better"] == "up", isinstance(b, list)
    margin = none is not None and hypothesis in ("equivalence", "non-inferiority")
    if hypothesis == "superiority" and (b is None or (none == 1 and b == 0)):
        b = none
    if hypothesis is None or b is None or (pair and hypothesis in ("superiority", "non-inferiority")):
        return None
    low: float | None
    high: float | None
    if hypothesis == "equivalence" and margin:
        if not pair and b <= 0:
            return None
        low, high = b if pair else (1 / b, b) if none == 1 else (none - b, none + b)
        if not low < none < high or (none == 1 and low <= 0):
            return None
    elif pair:
        low, high = sorted(b)
    elif (hypothesis in ("equivalence", "non-inferiority") and not margin) or better not in ("up", "down"):
        return None
    elif margin:
        if b <= 1 if none == 1 else b < 0:
            return None
        far = (1 / b if up else b) if none == 1 else none + (-b if up else b)
        low, high = (far, None) if up else (None, far)
    else:
        if hypothesis == "superiority" and none is not None and (b < none if up else b > none):
            return None
        low, high = (b, None) if up else (None, b)
    ends = (-inf if q["low"] is None else q["low"], inf if q["high"] is None else q["high"])
    for end in (low, high):
        if end is not None and (not ends[0] <= end <= ends[1] or (margin and end in ends)):
            return None
    return low, high


def _is_there(scope: Item, c: Item) -> bool:
    """Whether an entry is at the place that a criterion names."""
    parameters, endpoint = scope.get("parameters") or {}, scope.get("endpoint")
    said = c.get("arm_or_contrast")
    pairs = [scope.get("arms"), scope.get("candidates")]
    names = [scope.get(key) for key in ("arm", "task", "candidate", "set")]
    names += [_dataset(scope), scope.get("protocol"), *(pair[0] for pair in pairs if pair)]
    pairs.append([scope["protocol"], "reader_alone"] if "protocol" in scope else None)
    said = None if "protocol" in c and "protocol" in scope else said
    candidates = (scope.get("candidate"), pairs[1], *(pairs[1] or ())[:1])
    population = c.get("population")
    return (
        ("class" not in c or c["class"] in (scope.get("class"), parameters.get("of_class")))
        and (population not in ("typical site", "new site") or scope.get("population") == population)
        and ("of" not in c or endpoint == c["of"])
        and all(_same(parameters.get(k), v) for k, v in (c.get("parameters") or {}).items())
        and ("raters" not in c or scope.get("raters") == c["raters"])
        and all(parameters.get(k, endpoint if k == "metric" else None) == c[k] for k in CHOSEN if k in c)
        and ("period" not in c or _dataset(scope) == c["period"])
        and ("dataset" not in c or c["dataset"] in (_dataset(scope) or _elsewhere(scope),))
        and all(scope.get(key) == c[key] for key in PLACES if key in c)
        and ("candidate" not in c or c["candidate"] in candidates)
        and (said is None or said in (pairs if isinstance(said, list) else names))
    )


def _concerns(check: Item, at: Item, entry: Item) -> bool:
    """Whether a block is about an entry: it rests on its data, is of its part, and of the kind withheld.

    `at` is the entry at the level of the criterion.
    """
    data, own = ({tuple(one) for one in each["data"]} for each in (check, at))
    said, scope, q = check["scope"], at["scope"], at["quantity"]
    if data and own and not data & own:
        return False
    if any(key in said and key in scope and said[key] != scope[key] for key in PARTS):
        return False
    for pair, one in (("arms", "arm"), ("candidates", "candidate")):
        sides = [{*(each.get(pair) or ()), *([each[one]] if one in each else ())} for each in (said, scope)]
        if all(sides) and not sides[0] & sides[1]:
            return False
    named = not check["quantities"] or bool({q["id"], q["base"]} & {*check["quantities"]})
    of_kind = {
        "all": named,
        "decisions": q["counts_decisions"],
        "labels": not at["id"].startswith(FREE_OF_LABELS) and q["base"] not in NOT_OF_LABELS,
        "sample": named and "prevalence" not in (scope.get("parameters") or {}),
        "undefined": _number(at, "value") is None,
        "these cases": named and own <= data,
        "group": named and scope.get("subgroup") == said.get("subgroup"),
        "changes": "arms" in scope and ADJUSTED not in (entry["note"] or ""),
        "none": False,
    }
    return bool(of_kind[check["withholds"]["numbers"]])


def _number(at: Item, end: str) -> float | None:
    """A number of an interval; None where it is undefined."""
    if end in at["infinite"]:
        return -inf if end == "low" else inf
    return None if at[end] is None else float(at[end])


def _key(entry: Item, level: float) -> tuple[str, str, float]:
    return entry["id"], json.dumps(entry["scope"], sort_keys=True), round(level, 9)


def _parameters(scope: Item) -> Item:
    found: Item = scope.get("parameters") or {}
    return found


def _datasets(scope: Item) -> list[Any]:
    return [_dataset(scope), *(scope.get("datasets") or ())]


def _dataset(scope: Item) -> Any:
    return scope.get("dataset", scope.get("period"))


def _elsewhere(scope: Item) -> str:
    """The word of what readers read, where an entry is of no data set and no published set."""
    return "" if any(key in scope for key in ("set", "sets", "datasets")) else "readings"


def _same(one: Any, other: Any) -> bool:
    """Equal, numbers but for the digits of the file."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
