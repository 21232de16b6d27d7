"""Criteria in words: templates by what the data can show, and the sentence of each that is declared."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from markupsafe import Markup

from trustreport.service.editor.field_values import in_points
from trustreport.service.pages.render import PageWords
from trustreport.vocabulary.quantities import UnknownQuantityError, quantity_of

ALPHA = "0.025"
CHANGE = "decision_benefit.mean_benefit"  # of the readers, by the device
IN_ORDER = "fixed sequence"  # a family that is tested in the order of the criteria


@dataclass(frozen=True, slots=True)
class CriterionTemplate:
    """A criterion that many studies have; `bound` as its page shows it at first, of shares in percent."""

    key: str
    measure: str
    hypothesis: str
    bound: str
    of: str = ""

    @property
    def unit(self) -> str:
        """The unit of its bound on the page."""
        return _unit(self.measure, self.of, contrast=bool(self.of))


OF_READERS = (
    CriterionTemplate("errors", "pragmatic_utility.arr", "superiority", "0"),
    CriterionTemplate("sensitivity_kept", CHANGE, "non-inferiority", "5", "sensitivity"),
    CriterionTemplate("specificity_kept", CHANGE, "non-inferiority", "5", "specificity"),
)
OF_DEVICE = (
    CriterionTemplate("sensitivity", "advice_accuracy.sensitivity", "performance goal", "80"),
    CriterionTemplate("specificity", "advice_accuracy.specificity", "performance goal", "80"),
    CriterionTemplate("auc", "advice_accuracy.auc", "performance goal", "0.80"),
)
# Indicators of an audit: their measure, what is expected of it, and what raises the alarm.
OF_PERIODS = (
    ("sensitivity", "advice_accuracy.sensitivity", "90", "80"),
    ("specificity", "advice_accuracy.specificity", "90", "80"),
)


def added(sent: Mapping[str, str], *, comma: bool) -> Iterator[tuple[str, str]]:
    """The controls of the criteria and indicators that were ticked, with what was typed for them."""
    is_first = sent.get("@criteria", "0") == "0"
    ticked = [t for t in (*OF_READERS, *OF_DEVICE) if f"@add/{t.key}" in sent]
    for i, one in enumerate(ticked):
        row = f"/endpoints/+{i}"
        yield f"{row}/endpoint", sent.get(f"@title/{one.key}", one.key)
        yield f"{row}/role", "primary" if is_first and i == 0 else "secondary"
        yield f"{row}/measure", one.measure
        yield f"{row}/of", one.of
        yield f"{row}/hypothesis", one.hypothesis
        yield f"{row}/bound_or_margin", stored(sent.get(f"@bound/{one.key}", ""), one.unit, comma=comma)
        yield f"{row}/population", sent.get(f"@population/{one.key}", "")
        yield f"{row}/alpha", ALPHA
        yield f"{row}/multiplicity_family", IN_ORDER
        if one in OF_READERS:
            yield f"{row}/arm_or_contrast", sent.get("@contrast", "")
        else:
            yield f"{row}/dataset", sent.get("@dataset", "")
    ticked_too = [t for t in OF_PERIODS if f"@watch/{t[0]}" in sent]
    for i, (key, measure, _, _) in enumerate(ticked_too):
        row = f"/vigilance/indicators/+{i}"
        yield f"{row}/measure", measure
        for field in ("in_control", "to_detect"):
            yield f"{row}/{field}", stored(sent.get(f"@{field}/{key}", ""), "percent", comma=comma)


def stored(text: str, unit: str, *, comma: bool) -> str:
    """A bound as the manifest has it; what is no number stays as typed, to be reported.

    A share below 1, typed where per cent are asked, is meant as a share: nobody asks for less than 1%.

    >>> [stored(text, "percent", comma=True) for text in ("80", "0,8", "80 %")]
    ['0.8', '0.8', '0.8']
    >>> stored("0.5", "points", comma=False)
    '0.005'
    """
    is_percent, text = "%" in text, in_points(text.strip(), comma=comma)
    if not unit or is_percent or not text:
        return text
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    return text if unit == "percent" and 0 < value < 1 else f"{(value / 100).normalize():f}"


def shown(text: str, is_share: bool, say: PageWords) -> str:
    """A bound as its page shows it: of shares in percent, with the language's decimal sign."""
    if is_share:
        try:
            text = f"{(Decimal(text) * 100).normalize():f}"
        except InvalidOperation:
            return text
    return text.replace(".", say.numbers.point)


def _unit(measure: str, of: str, *, contrast: bool) -> str:
    """The unit in which a bound is typed: per cent, of changes points; empty for others."""
    try:
        written = quantity_of(measure.rpartition(".")[2], of, contrast=contrast).written
    except UnknownQuantityError:
        return ""
    return {"proportion": "percent", "difference": "points"}.get(written, "")  # an area is neither


def unit_of_row(row: Mapping[str, Any]) -> str:
    """The unit in which the bound of a row of the criteria is typed."""
    text = {control["name"].rpartition("/")[2]: control["text"] for control in row["controls"]}
    contrast = "\n" in text.get("arm_or_contrast", "")
    return _unit(text.get("measure", ""), text.get("of", ""), contrast=contrast)


@dataclass(frozen=True, slots=True)
class DeclaredCriterion:
    """A criterion of the draft: the name of its row, its title, its sentence with a control for the bound.

    `about` says how the bound is read, or what the criterion lacks to have one.
    """

    row: str
    title: str
    sentence: str | Markup
    short: str
    chance: str
    about: str
    lacks: bool
    wrong: str


def declared(
    row: Mapping[str, Any], found: Mapping[str, Any], findings: Mapping[str, Any], say: PageWords
) -> DeclaredCriterion:
    """One row of the criteria in words."""
    text = {control["name"].rpartition("/")[2]: control["text"] for control in row["controls"]}
    name, of, bound = text.get("measure", ""), text.get("of", ""), text.get("bound_or_margin", "")
    at, title = f"{row['name']}/bound_or_margin", text.get("endpoint") or text.get("endpoint_id", "")
    unit = unit_of_row(row)
    field = bound_field(f"@bound{row['name']}", shown(bound, bool(unit), say), unit, say, title)
    measure = measure_words(name, of, say)
    if text.get("dataset"):
        measure = say("word.interval", value=measure, interval=text["dataset"])
    key = "other" if "\n" in bound or " to " in bound else KEYS.get(text.get("hypothesis", ""), "other")
    if key == "above" and found["bounds"].get(at, {}).get("high") is not None:
        key = "below"
    values = {"measure": measure, "bound": field} if key != "other" else {"measure": measure}
    chance = found["chances"].get(at)
    return DeclaredCriterion(
        row["name"],
        title,
        say(f"guide.must.{key}", **values),
        say("guide.probability", chance=chance["chance"]) if chance else "",
        chance_words(chance, say),
        findings["bounds"].get(at, ""),
        "reason" in found["bounds"].get(at, {}),
        " ".join(findings["beside"].get(at, [])),
    )


KEYS = {"performance goal": "above", "superiority": "above", "non-inferiority": "kept"}


def measure_words(measure: str, of: str, say: PageWords) -> str:
    """What a measure is called; a change by what changes."""
    name = of.rpartition(".")[2] or measure.rpartition(".")[2]
    return say(f"quantity.{name}") if f"quantity.{name}" in say else name


def bound_field(name: str, value: str, unit: str, say: PageWords, title: str) -> Markup:
    """The control of a bound within its sentence."""
    label = say("guide.bound_of", title=title)
    field = Markup('<input class="short" name="{}" value="{}" inputmode="decimal" aria-label="{}">').format(
        name, value, label
    )
    return field + f"\N{NO-BREAK SPACE}{say(f'guide.unit.{unit}')}" if unit else field


def chance_words(chance: Mapping[str, Any] | None, say: PageWords) -> str:
    """How probably a criterion would be met at this size, and under which assumption."""
    if not chance:
        return ""
    values = {name: value for name, value in chance.items() if name != "key"}
    return say(f"guide.chance.{chance['key']}", **values)
