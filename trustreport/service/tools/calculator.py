"""Calculators of single numbers, asked by forms and answered on the page; nothing is stored."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from trustreport.service.pages.page_context import Reader, Sent, shown_again, text, typed
from trustreport.service.pages.render import PageWords, page, words_of
from trustreport.service.web.faults import Fault, Field
from trustreport.vocabulary.messages import say

if TYPE_CHECKING:
    from trustreport.service.engine import Area, Calculation

router = APIRouter()
LONGEST = 30  # characters of a number
LONGEST_TABLE = 300_000  # characters of a table of scores

# Fields of the forms.
CELLS = ("tp", "fp", "fn", "tn")
CLASSES = ("positives", "negatives", "total")
FIGURES = ("accuracy", "sensitivity", "specificity", "ppv", "npv", "f1", "threat_score", "mcc")
NOMOGRAM = ("concordance", "measured")
P_VALUES = ("similarity", "performance", "acceptability")
AREAS = ("auc", "se", "n", "internal_auc", "internal_se", "internal_n", "least")
OF_SCORES = ("tau", "priority")
COUNTS = (*CELLS, *CLASSES, "n", "internal_n")


@router.get("/calculator")
def calculator(request: Request, who: Reader) -> Response:
    """The forms, nothing calculated yet."""
    return _show(request)


def _show(
    request: Request,
    form: FormData | None = None,
    found: "Calculation | None" = None,
    *,
    fault: Fault | None = None,
) -> Response:
    return page(
        request,
        "calculator",
        fault=fault,
        typed={} if form is None else typed(form),
        cells=CELLS,
        classes=CLASSES,
        figures=FIGURES,
        nomogram=NOMOGRAM,
        p_values=P_VALUES,
        areas=AREAS,
        of_scores=OF_SCORES,
        longest=LONGEST,
        longest_table=LONGEST_TABLE,
        found=found,
    )


@router.post("/calculator")
@shown_again(_show)
def calculate(request: Request, who: Reader, form: Sent) -> Response:
    """What one of the forms asks, above the forms as they were filled in."""
    made = MADE.get(text(form, "calculator"))
    if made is None:
        raise _refused()
    return _show(request, form, _answered(made, form, words_of(request)))


def _answered(made: "Callable[[_Given], Calculation]", form: FormData, words: PageWords) -> "Calculation":
    given = _Given(form, words)
    try:
        found = made(given)
    except ValueError as error:
        if given.wrong:
            raise _refused(*given.wrong) from None
        raise _refused(detail=str(error)) from None
    if given.wrong:
        raise _refused(*given.wrong)
    return found


def _refused(*fields: Field, detail: str = "") -> Fault:
    plain = say("pages.fault.not_as_expected.please_look_at_what")
    return Fault(422, detail or plain, fields, title=say("pages.fault.not_as_expected.title"))


class _Given:
    """What a form sent, as numbers; what is none is noted in `wrong`."""

    def __init__(self, form: FormData, words: PageWords) -> None:
        self.form, self.words = form, words
        self.wrong: list[Field] = []

    def text(self, name: str) -> str:
        """What was typed into a field, cut to the length of a number."""
        return text(self.form, name).strip()[:LONGEST]

    def number(self, name: str, *, needed: bool = False) -> float | None:
        """A number, or None where the field is empty."""
        given = self.text(name)
        if not given and not needed:
            return None
        try:
            value = float(given.replace(",", "."))
            whole = int(given) if name in COUNTS else value
            if value == whole and abs(value) < 1e9 and (value >= 0 or name not in COUNTS):
                return whole
        except (ValueError, OverflowError):
            pass
        self.say_wrong(name, "count" if name in COUNTS else "number")
        return None

    def say_wrong(self, name: str, expected: str) -> None:
        """Note that a field is not what is expected there."""
        label = self.words(f"pages.calculator.field.{name}")
        self.wrong.append(Field(label, say(f"pages.calculator.expected.{expected}")))

    def area(self, auc: str, se: str, n: str) -> "Area | None":
        """An area with its standard error and number of cases, or None where all three are empty."""
        from trustreport.service.engine import Area

        if not any(map(self.text, (auc, se, n))):
            return None
        found = [self.number(name, needed=True) for name in (auc, se, n)]
        area, error, cases = (0.0 if x is None else x for x in found)
        return Area(area, error, int(cases))


def _table(given: _Given) -> "Calculation":
    from trustreport.service.engine import OF_ONE_CLASS, of_counts, printed

    figures = [(name, str(n)) for name in CELLS if (n := given.number(name)) is not None]
    for name in FIGURES:
        if figure := given.text(name):
            try:
                printed(name, figure)
            except ValueError:
                given.say_wrong(name, "figure")
            figures.append((name, figure))
    classes: dict[str, Any] = {name: given.number(name) for name in CLASSES}
    asked = {name for name, _ in figures}
    known = {
        "positives": classes["positives"] is not None or {"tp", "fn"} <= asked,
        "negatives": classes["negatives"] is not None or {"tn", "fp"} <= asked,
    }
    alone = [own for name, own in OF_ONE_CLASS.items() if known[name] and asked <= set(own)]
    if not given.wrong and not (all(known.values()) or alone or classes["total"] is not None):
        raise ValueError(given.words("pages.calculator.no_cases"))
    return of_counts(figures, **classes, language=given.words.language)


def _nomogram(given: _Given) -> "Calculation":
    from trustreport.service.engine import of_nomogram

    concordance, measured = (given.number(name, needed=True) for name in NOMOGRAM)
    return of_nomogram(concordance or 0.0, measured or 0.0, language=given.words.language)


def _robustness(given: _Given) -> "Calculation":
    from trustreport.service.engine import of_robustness

    return of_robustness(
        given.number("similarity", needed=True) or 0.0,
        performance=given.number("performance"),
        acceptability=given.number("acceptability"),
        external=given.area("auc", "se", "n"),
        internal=given.area("internal_auc", "internal_se", "internal_n"),
        least=given.number("least"),
        language=given.words.language,
    )


def _h_accuracy(given: _Given) -> "Calculation":
    from trustreport.service.engine import of_scores

    table = text(given.form, "scores")
    if len(table) > LONGEST_TABLE:
        given.say_wrong("scores", "shorter")
        table = ""
    priority = None
    if weights := given.text("priority"):
        try:
            priority = [float(one.replace(",", ".")) for one in weights.replace(", ", " ").split()]
        except ValueError:
            given.say_wrong("priority", "numbers")
    return of_scores(table, tau=given.number("tau"), priority=priority, language=given.words.language)


MADE: "dict[str, Callable[[_Given], Calculation]]" = {
    "table": _table,
    "nomogram": _nomogram,
    "robustness": _robustness,
    "h_accuracy": _h_accuracy,
}
