"""What a verdict is: a word, the entry and bound that it rests on, and the sentence that says so."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from trustreport.study.criteria import Bound, Criterion, resolved
from trustreport.study.plan import Endpoint
from trustreport.vocabulary.messages import Message, say
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
    def declared(self) -> Criterion:
        """What its criterion asks for; `bound` is None where the verdict was compared with none.

        A criterion that was not tested keeps the bound that it declares.
        """
        found = resolved(self.criterion, self.result.quantity if self.result else None)
        if self.bound is not None or self.word != "not tested":
            found = replace(found, bound=self.bound)
        return found


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
