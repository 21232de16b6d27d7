"""What each table word holds: its columns, what a cell of each may be, and how to mend one that is not.

Each check looks at a whole column at once; one that fails becomes a problem for every distinct value at
fault.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["name", "number", "binary", "time", "text"]

UNREAD_NUMBER = np.inf  # a cell that is no number
UNREAD_BINARY = -2  # a cell that is neither 0 nor 1
UNREAD_TIME = np.datetime64("1677-10-01", "s")  # a cell that is no date


@dataclass(frozen=True)
class ColumnCheck:
    """One condition on a column: a vector test, what it expects in words, how to mend a cell."""

    holds: Callable[[Any], Any]
    expected: str
    mend: str | Callable[[str], str] = ""
    together: bool = False  # one problem for the column, not one for each value


@dataclass(frozen=True)
class Word:
    """A column: what its cells are and the conditions they meet."""

    kind: Kind
    checks: tuple[ColumnCheck, ...] = ()


@dataclass(frozen=True)
class Contract:
    """A table: the columns it must have, those of which it must have one, those it may have.

    `only_mapped` words are never taken from a header, only from the manifest's map. `extra` says what a
    column of another name becomes; "divided": a group where a subgroup or a cluster key names it. Some words
    may be mapped to several columns, one for each arm, candidate or test (``truth: {culture: c, pcr: p}``).
    """

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    extra: Literal["ignored", "groups", "features", "divided"] = "ignored"
    may_be_mapped_per: tuple[str, ...] = ()
    only_mapped: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All columns of the table."""
        return self.required + self.optional


MISSING = (
    *("na", "n/a", "nan", "null", "none", "nil", "missing", "unknown", "?", "-", "."),
    *("#n/a", "#value!", "#div/0!"),
)


# Words by which tables say yes and no, in the languages of those who hand them in.
CODES = {
    **dict.fromkeys(
        (
            *("y", "t", "j", "o", "s", "yes", "true", "oui", "ja", "si", "sí", "sì", "sim", "tak", "ano"),
            *("pos", "positive", "positif", "positiv", "positivo", "+", "present", "disease", "diseased"),
            *("m", "malignant", "maligne", "abnormal", "case", "event", "bad", "sick", "cancer"),
            *(
                "positiva",
                "positief",
                "pozytywny",
                "dodatni",
                "dodatnia",
                "krank",
                "malade",
                "malato",
                "enfermo",
            ),
            *("doente", "ziek", "chory", "bösartig", "maligno", "kwaadaardig", "złośliwy", "pathologisch"),
        ),
        "1",
    ),
    **dict.fromkeys(
        (
            *("n", "f", "no", "false", "non", "nein", "nee", "não", "nao", "nie", "ne"),
            *("neg", "negative", "négatif", "negatif", "negativ", "negativo", "-", "absent", "healthy"),
            *("b", "benign", "bénin", "benigne", "normal", "control", "censored", "good", "well"),
            *("negativa", "négative", "negatief", "negatywny", "ujemny", "ujemna", "gesund", "sain", "sano"),
            *("saudável", "gezond", "zdrowy", "gutartig", "benigno", "goedaardig", "łagodny", "unauffällig"),
        ),
        "0",
    ),
}


def fix_number(cell: str) -> str:
    """How to mend a cell that is no number."""
    if re.fullmatch(r"[+-]?\d*,\d+([eE][+-]?\d+)?", cell):
        return 'Add decimal: "," to {where} in the manifest.'
    if re.fullmatch(r"[+-]?\d*\.\d+([eE][+-]?\d+)?", cell):
        return 'The table declares decimal: ",": write a decimal comma, or take it out of {where}.'
    if cell.endswith("%"):
        return "Write a share from 0 to 1 without the sign."
    return ""


def fix_binary(cell: str) -> str:
    """How to mend a cell that is neither 0 nor 1."""
    return (
        "Add what each value stands for to {where} in the manifest, as values: {{<column>: {{<value>: 1}}}}."
    )


def fix_event(cell: str) -> str:
    """How to mend a cell that is no code of an event."""
    return (
        "0 is censored, 1 the event. Add what each value stands for to {where} in the manifest, as values: "
        "{{event: {{<value>: 1}}}}."
    )


def fix_date(cell: str) -> str:
    """How to mend a cell that is no date: by the form that it seems to have."""
    parts = re.fullmatch(r"(\d{1,2})([./-])(\d{1,2})[./-](\d{4}|\d{2})", cell)
    if parts is None:
        return ""
    _, sign, second, year = parts.groups()
    form = ("mm", "dd") if int(second) > 12 else ("dd", "mm")
    return f"Add date_format: {sign.join((*form, 'y' * len(year)))} to {{where}} in the manifest."


def _whole(x: Any) -> Any:
    return (x >= 0) & (x == np.floor(x)) & (x <= 1e15)


FINITE = ColumnCheck(np.isfinite, "a finite number", fix_number)
GIVEN = ColumnCheck(lambda x: x >= 0, "a name in every row", "Fill the cell, or remove the row.")
ZERO_ONE = ColumnCheck(lambda x: x >= -1, "0 or 1", fix_binary)
TRUTH = ColumnCheck(lambda x: x >= -1, "0 or 1 (1 = condition present)", fix_binary)
UNIT = ColumnCheck(
    lambda x: ~np.isfinite(x) | ((x >= 0) & (x <= 1)),
    "numbers from 0 to 1",
    "Of percentages add scale: {{{word}: percent}} to {where} in the manifest; a column that is something "
    "else goes under ignore: [<column>].",
    together=True,
)
A_SHARE = ColumnCheck(lambda x: ~np.isfinite(x) | ((x >= 0) & (x <= 1)), "a number from 0 to 1", fix_number)
POSITIVE = ColumnCheck(lambda x: ~np.isfinite(x) | (x >= 0), "0 or more")
EVENT = ColumnCheck(
    lambda x: np.isfinite(x) & _whole(x),
    "0 (censored), 1 (the event) or the number of a competing event",
    fix_event,
)
ABOVE_ZERO = ColumnCheck(lambda x: ~np.isfinite(x) | (x > 0), "a number above 0")
COUNT = ColumnCheck(lambda x: ~np.isfinite(x) | _whole(x), "a count: 0, 1, 2 ...")
DATE = ColumnCheck(
    lambda x: (x >= np.datetime64("1800-01-01", "s")) & (x < np.datetime64("2200-01-01", "s")),
    "a date as YYYY-MM-DD, with a time as YYYY-MM-DDThh:mm:ss",
    fix_date,
)

NAME = Word("name")
NUMBER = Word("number", (FINITE,))
COUNTED = Word("number", (FINITE, COUNT))
BINARY = Word("binary", (ZERO_ONE,))

NOT_NEGATIVE = Word("number", (FINITE, POSITIVE))
CERTAINTY = Word("number", (FINITE, UNIT))
MOMENT = Word("time", (DATE,))

OF_EACH_KIND: tuple[tuple[Word, str], ...] = (
    (NAME, "case reader rater arm patient site dataset candidate version content_hash status session"),
    (NAME, "advice_type label set metric rounding lesion measurement repeat first second preferred"),
    (Word("text"), "value"),
    (Word("binary", (TRUTH,)), "truth"),
    (BINARY, "decision initial_decision second_decision endpoint advice paired"),
    (NUMBER, "score initial_score second_score advice_score class_scores complexity reference_days order"),
    (NUMBER, "utility_00 utility_01 utility_10 utility_11 rating x y z measured reference_value"),
    (NOT_NEGATIVE, "seconds initial_seconds relevance weight follow_up"),
    (CERTAINTY, "confidence initial_confidence"),
    (Word("number", (EVENT,)), "event"),
    (Word("number", (FINITE, A_SHARE)), "case_threshold"),
    (Word("number", (FINITE, ABOVE_ZERO)), "lesion_weight"),
    (MOMENT, "date read_at"),
    (COUNTED, "readers cases errors correct tp fp fn tn positives negatives total"),
)
WORDS: Mapping[str, Word] = {name: word for word, names in OF_EACH_KIND for name in names.split()}

PER_ARM = (
    *("decision", "score", "confidence", "seconds"),
    *("order", "read_at", "advice", "advice_score", "advice_type", "session"),
    *("second_decision", "second_score"),
)
# What a candidate put out for the case, the second time too where the same case was run twice.
PUT_OUT = ("score", "decision", "confidence", "second_score", "second_decision")
OF_CANDIDATE = (*PUT_OUT, "class_scores", "version", "status")
CASE_NUMBERS = (
    *("relevance", "case_threshold", "utility_00", "utility_01", "utility_10", "utility_11"),
    *("reference_days", "weight"),
    *("follow_up", "event"),
)
OF_CASE = ("truth", "patient", "site", "date", "complexity", "content_hash", *CASE_NUMBERS)
# Headers such as "event" and "weight" mean many things: these are taken where the manifest maps them.
ONLY_MAPPED_OF_CASE = ("follow_up", "event", "weight")
COORDINATES = ("x", "y", "z")
KNOWN_OF_COUNTS = ("readers", "cases", "paired")

CONTRACTS: Mapping[str, Contract] = {
    "cases": Contract(
        ("case",),
        ("dataset", *OF_CASE, "reference_value"),
        extra="groups",
        may_be_mapped_per=("truth",),
        only_mapped=(*ONLY_MAPPED_OF_CASE, "reference_value"),
    ),
    "readings": Contract(
        ("reader", "case"),
        (
            "arm",
            *PER_ARM,
            *("initial_decision", "initial_score", "initial_confidence", "initial_seconds"),
            *("truth", "patient", "endpoint"),
        ),
        one_of=("decision", "score"),
        may_be_mapped_per=(*PER_ARM, "endpoint"),
        only_mapped=("endpoint",),
    ),
    "readers": Contract(("reader",), extra="groups"),
    "scores": Contract(
        (),
        ("case", "dataset", "candidate", *OF_CANDIDATE, *OF_CASE),
        one_of=("score", "decision", "class_scores", "status"),
        extra="features",
        may_be_mapped_per=(*PUT_OUT, "truth"),
        only_mapped=ONLY_MAPPED_OF_CASE,
    ),
    "dataset": Contract(
        (),
        ("case", "dataset", "candidate", *OF_CANDIDATE, *OF_CASE),
        extra="features",
        may_be_mapped_per=(*PUT_OUT, "truth"),
        only_mapped=ONLY_MAPPED_OF_CASE,
    ),
    "features": Contract(("case",), ("dataset",), extra="features"),
    "raters": Contract(("case", "rater", "label"), ("confidence", "complexity", "truth", "patient")),
    "lesions": Contract(("case", "lesion"), ("dataset", "lesion_weight", *COORDINATES)),
    "marks": Contract(("case", "rating"), ("dataset", "reader", "candidate", "arm", "lesion", *COORDINATES)),
    "values": Contract(
        ("case", "measured"),
        (
            *("reference_value", "measurement", "reader", "arm", "candidate", "repeat", "dataset"),
            *("patient", "site", "date"),
        ),
        extra="divided",
        may_be_mapped_per=("measured",),
    ),
    "preferences": Contract(("case", "reader", "first", "second", "preferred"), ("patient", "site", "date")),
    "counts": Contract(("arm", "errors", "correct"), ("set", "dataset", *KNOWN_OF_COUNTS)),
    "confusion": Contract(("tp", "fp", "fn", "tn"), ("set", "dataset", "candidate", *KNOWN_OF_COUNTS)),
    "reported": Contract(("set", "metric", "value"), ("positives", "negatives", "total", "rounding")),
}
TABLE_WORDS = tuple(w for w in CONTRACTS if w != "dataset")
MUST_BE_NAMED = ("case", "reader", "rater", "arm", "dataset", "candidate", "set", "metric", "measurement")

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "truth": ("reference",),
    "read_at": ("timestamp",),
    "weight": ("weights", "sampling_weight"),
    "measured": ("value", "measured_value"),
    "reference_value": ("reference", "truth", "true_value"),
    **{w: (f"{w}_id",) for w in (*MUST_BE_NAMED, "patient", "site", "lesion")},
}


def our_word(key: str, words: Iterable[str] = WORDS) -> str:
    """The word, among those of a table, for a spelling of it: ``truth`` for ``reference``."""
    known = tuple(words)
    return key if key in known else next((word for word in known if key in SPELLINGS.get(word, ())), key)


def checks_of(word: str) -> tuple[ColumnCheck, ...]:
    """The conditions on a column."""
    return WORDS[word].checks + ((GIVEN,) if word in MUST_BE_NAMED else ())


def failures(
    columns: Mapping[str, NDArray[Any]], words: Iterable[tuple[str, str]]
) -> list[tuple[str, ColumnCheck, NDArray[np.bool_]]]:
    """Every (column key, check, mask of rows at fault), by the (key, word) pairs of the columns."""
    met = []
    for key, word in words:
        column = columns[key]
        absent = np.isnan(column) if column.dtype.kind in "fM" else False
        for check in checks_of(word):
            at_fault = ~(np.asarray(check.holds(column)) | absent)
            if at_fault.any():
                met.append((key, check, at_fault))
    return met
