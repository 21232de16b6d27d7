"""What a verdict is, and what is required of each candidate: one row for criteria that ask the same."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from trustreport.study.criteria import Bound, bound_of, row_of
from trustreport.study.plan import Endpoint, Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.quantity import Quantity
from trustreport.vocabulary.results import Result

Word = Literal["pass", "fail", "inconclusive", "not assessable", "not tested"]
# The worst first: what failed, then what nobody can say.
WORDS: tuple[Word, ...] = ("fail", "not assessable", "inconclusive", "not tested", "pass")
# What an interval and a bound give, where nothing withholds the verdict.
DECIDED: tuple[Word, ...] = ("pass", "fail", "inconclusive")
ROLES = ("safety", "primary", "secondary", "exploratory", None)


@dataclass(frozen=True, slots=True)
class FamilyOutcome:
    """The family of a criterion, its rule, and whether it is met as a whole; None where that is not asked.

    `after` names the families that had to be met first (one of them where `any_opens`), and `open` is whether
    they were.
    """

    name: str
    rule: str
    size: int
    met: bool | None = None
    after: tuple[str, ...] = ()
    any_opens: bool = False
    open: bool = True


@dataclass(frozen=True, slots=True)
class Locked:
    """The verdict under the criterion as it was locked, where it was changed since."""

    bound: float | tuple[float, float] | None
    word: Word
    alpha: float | None = None
    level: float | None = None


@dataclass(frozen=True, slots=True)
class RiskLimit:
    """A likelihood ratio that moves the declared risk to `after`, and the one measured, if any."""

    name: str
    after: float
    needed: float
    word: str
    result: Result | None
    text: Message


@dataclass(frozen=True, slots=True)
class Verdict:
    """A criterion compared with its bound.

    `result` is the entry that leads for what the criterion names, with the interval of `level`; None where
    there is none, or where it was not looked at. `bound` says where the whole interval must lie. `checks` are
    the blocks that withhold the verdict. `n_needed` is the number of `unit` at which the interval would
    decide, None where that cannot be said. `locked` is None where the criterion is as it was locked. `risk`
    holds the likelihood ratios that its declared risks need; they decide no verdict. `tried` are all entries
    that were looked at for it, at each level.
    """

    criterion: Endpoint
    word: Word
    reason: Message
    result: Result | None = None
    bound: Bound | None = None
    level: float | None = None
    alpha: float | None = None
    family: FamilyOutcome | None = None
    checks: tuple[str, ...] = ()
    n_needed: int | None = None
    unit: str = ""
    locked: Locked | None = None
    risk: tuple[RiskLimit, ...] = ()
    tried: tuple[Result, ...] = ()

    @property
    def is_loss(self) -> bool:
        """Whether something got significantly worse, however much of that the bound allows."""
        if self.word not in DECIDED or self.result is None:
            return False
        e = self.result.estimate
        return self.result.quantity.is_loss(e.low, e.high)

    @property
    def row(self) -> Quantity | None:
        """The row of its entry's quantity, else of that which its criterion names."""
        return self.result.quantity if self.result else row_of(self.criterion)

    @property
    def declared_bound(self) -> Bound | None:
        """Its bound; of a verdict that was not tested, the one that its criterion declares."""
        if self.bound is not None or self.word != "not tested":
            return self.bound
        found = bound_of(self.criterion, self.result.quantity if self.result else None)
        return None if isinstance(found, str) else found


def named_family(name: str) -> Message:
    """The name of a family, between quotation marks."""
    return say("verdicts.family", name=name)


def counted(found: Iterable[Verdict]) -> dict[Word, int]:
    """How many verdicts there are of each word, the worst first; words without any are left out."""
    words = [verdict.word for verdict in found]
    return {word: words.count(word) for word in WORDS if word in words}


def worst(found: Iterable[Verdict]) -> Verdict | None:
    """The verdict to look at first; None if all pass and nothing got worse.

    A significant loss is first, whatever its margin says; then by word, then safety and primary criteria.
    """
    ranked = [v for v in found if v.word != "pass" or v.is_loss]
    return min(
        ranked,
        key=lambda v: (not v.is_loss, WORDS.index(v.word), ROLES.index(v.criterion.role)),
        default=None,
    )


Standing = Literal["pass", "fail", "inconclusive", "not required"]
# What a criterion asks, beside the candidate that it asks it of.
ASKED = (
    *("measure", "of", "hypothesis", "bound_or_margin", "arm_or_contrast", "dataset", "set", "task", "site"),
    *("subgroup", "period", "threshold", "metric", "bins", "tau", "against", "class_", "protocol", "reader"),
    *("version", "advice_type", "prevalence", "population", "kind", "weights", "raters", "parameters"),
    *("mean_over_classes", "apparent"),
)


@dataclass(frozen=True)
class Requirement:
    """What is asked of one or several candidates; the verdicts by candidate, `criterion` the first that asks.

    `baseline` is the candidate that they are compared with; empty where a candidate is judged by itself.
    """

    criterion: Endpoint
    baseline: str = ""
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    def word(self, candidate: str) -> Word | None:
        """The verdict on a candidate; None where this is not asked of it."""
        verdict = self.verdicts.get(candidate)
        return verdict.word if verdict else None

    @property
    def counts(self) -> bool:
        """Whether a candidate has to meet it: not a comparison with another, and not exploratory."""
        return not self.baseline and self.criterion.role != "exploratory"


def candidate_names(plan: Plan, results: Iterable[Result]) -> list[str]:
    """The candidates, as declared, then those that only the data name."""
    declared = [c.candidate for c in plan.candidates]
    found = [r.place.candidate for r in results if r.dimension == "candidates" and r.place.candidate]
    return list(dict.fromkeys([*declared, *found]))


def requirements(found: Iterable[Verdict], names: Sequence[str]) -> list[Requirement]:
    """The requirements in the manifest's order.

    A criterion that names no candidate is asked of each.
    """
    by_key: dict[tuple[object, ...], Requirement] = {}
    for verdict in found:
        candidate, baseline = sides(verdict, names)
        key = (*_criterion_key(verdict.criterion, names), baseline, verdict.criterion.role == "exploratory")
        if verdict.criterion.measure is None:
            key = (verdict.criterion.endpoint,)
        row = by_key.setdefault(key, Requirement(verdict.criterion, baseline))
        for name in names if candidate is None else (candidate,):
            row.verdicts.setdefault(name, verdict)
    return list(by_key.values())


def sides(verdict: Verdict, names: Sequence[str]) -> tuple[str | None, str]:
    """The candidate that a verdict is on, None where none is named, and the one that it is compared with."""
    said, of = verdict.criterion.candidate, verdict.criterion.arm_or_contrast
    for one in (said, of):
        if isinstance(one, tuple) and set(one) <= set(names):
            return one[0], one[1]
        if isinstance(one, str) and one in names:
            return one, ""
    at = verdict.result.place if verdict.result else None
    if at is not None and at.candidates is not None:
        return at.candidates[0], at.candidates[1]
    if at is not None and at.candidate is not None:
        return at.candidate, ""
    return None, ""


def _criterion_key(criterion: Endpoint, names: Sequence[str]) -> tuple[object, ...]:
    """What a criterion asks, without the names of candidates."""
    of = criterion.arm_or_contrast
    told = set(of) if isinstance(of, tuple) else {of}
    return tuple(
        None if name == "arm_or_contrast" and told & set(names) else getattr(criterion, name)
        for name in ASKED
    )


def status(rows: Iterable[Requirement], candidate: str) -> Standing:
    """One word on all that is required of a candidate; inconclusive where anything has no answer yet."""
    words = [word for row in rows if row.counts and (word := row.word(candidate)) is not None]
    if not words:
        return "not required"
    if "fail" in words:
        return "fail"
    return "pass" if all(word == "pass" for word in words) else "inconclusive"


def standings(rows: Sequence[Requirement], names: Iterable[str]) -> Mapping[str, Standing]:
    """The same of every candidate."""
    return {name: status(rows, name) for name in names}
