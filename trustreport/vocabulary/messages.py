"""The message catalogue: every sentence, label and figure text of a report, by key.

A text names its values, and how each is written is the catalogue's matter, so that a translation can
reorder and reformat::

    [pragmatic_utility]
    rates = "With the aid {aided:percent} of decisions were wrong, without it {unaided:percent}."

A text with plural forms is a table of ``one`` and ``other``, chosen by its value ``n``. A language is a
folder of ``templates/messages``, with a file for each group of texts. Beside the folder of a language that
is not English stands its glossary (``it.terms.toml``): ``‹sensitivity›`` in a text is that term of it, with a
capital where it is written with one, so that a term is corrected in one place. ``{measure:the}``,
``{measure:of}`` and ``{measure:bare}`` are a name with its article, in the genitive and in the genitive
without an article, by the nouns of the glossary.
"""

import re
import string
import tomllib
from collections.abc import Mapping
from datetime import date, datetime
from decimal import localcontext
from functools import cache, lru_cache
from math import floor, isfinite, isinf, isnan, log10
from typing import TYPE_CHECKING, Any

from trustreport.measures.note import Message as Message
from trustreport.measures.note import Note
from trustreport.vocabulary.digits import MOST_DECLARED, by_width, places_in
from trustreport.vocabulary.nouns import Nouns
from trustreport.vocabulary.quantities import ROWS
from trustreport.vocabulary.resources import folder

if TYPE_CHECKING:
    from babel import Locale

MINUS = "\N{MINUS SIGN}"
WITHIN = re.compile(r"\([^()]*\)")  # what stands in parentheses
TYPED = re.compile(r"[-−+]?\d*\.?\d+\s?%?")
TERM = re.compile(r"‹(\w+)›")
PLURALS = frozenset(("zero", "one", "two", "few", "many", "other"))
INFINITY = "\N{INFINITY}"
NUMERALS = (  # greater numbers are written in digits
    "word.numeral.zero",
    "word.numeral.one",
    "word.numeral.two",
    "word.numeral.three",
    "word.numeral.four",
    "word.numeral.five",
    "word.numeral.six",
    "word.numeral.seven",
    "word.numeral.eight",
    "word.numeral.nine",
)
LEAST_P = 0.001
MOST_DIGITS = 350  # those of the largest float, and of its decimals; the usual 28 are too few from 1e23 on


def say(key: str, **values: Any) -> Message:
    """A message of the catalogue with its values."""
    return Message(key, values)


def spelled(group: str) -> str:
    """The name of a group with its columns as words.

    >>> spelled("scanner: Y_2, age_group: under 75")
    'scanner: Y_2, age group: under 75'
    """
    return re.sub(r"\w+(?=: )", lambda column: column[0].replace("_", " "), group)


def patients_of_sex(group: str, *, compared: bool = False) -> Message | None:
    """The words for ``sex: M`` or ``sex: male``, shorter after the other sex; None of any other group."""
    column, _, level = group.casefold().partition(": ")
    if column not in ("sex", "gender"):
        return None
    male = say("where.name.other_sex_m") if compared else say("where.name.sex_m")
    female = say("where.name.other_sex_f") if compared else say("where.name.sex_f")
    return {"m": male, "male": male, "f": female, "female": female}.get(level)


@lru_cache(maxsize=8192)  # the axes of figures try the same few numbers thousands of times
def _decimal(rounded: float, places: int, locale: "Locale") -> str:
    from babel.numbers import format_decimal

    pattern = "#,##0" + ("." + "0" * places if places else "")
    with localcontext(prec=MOST_DIGITS):
        return format_decimal(rounded, format=pattern, locale=locale).replace("-", MINUS)


class Numbers:
    """Numbers as a language writes them; a minus is a minus sign, what is infinite is the sign for it."""

    def __init__(self, language: str) -> None:
        from babel import Locale

        self._locale = Locale.parse(language)
        self._english = language == "en"
        pattern = self._locale.percent_formats[None].pattern
        self._percent = pattern[pattern.index("0") + 1 :]  # "%", in many languages after a space that holds
        self.point = self._locale.number_symbols["latn"]["decimal"]

    def fixed(self, value: float, places: int = 2) -> str:
        """`value` with exactly `places` decimals."""
        if isnan(value):
            return ""
        if isinf(value):
            return INFINITY if value > 0 else MINUS + INFINITY
        return _decimal(round(float(value), places) + 0.0, places, self._locale)

    def plain(self, value: float) -> str:
        """A number as it was declared: no more decimals than it has, nor than six, no thousands mark."""
        return f"{round(value, MOST_DECLARED) or value:.12g}".replace("-", MINUS).replace(".", self.point)

    def typed(self, text: str) -> str:
        """A number that was given as text, with the decimals that it was typed with."""
        said = text.strip()
        if not TYPED.fullmatch(said):
            return text
        digits = said.rstrip("%").rstrip().replace("-", MINUS).replace(".", self.point)
        return digits + (self._percent if said.endswith("%") else "")

    def count(self, value: float) -> str:
        """A whole number with the language's thousands mark."""
        return self.fixed(value, 0)

    def percent(self, value: float, places: int = 1) -> str:
        """A proportion as per cent."""
        return self.fixed(100 * value, places) + self._percent if isfinite(value) else self.fixed(value)

    def level(self, value: float) -> str:
        """A declared share, or a level of confidence, with the decimals it needs: 95%, 97.5%, 98.33%."""
        off = (p for p in (0, 1) if abs(round(100 * value, p) - 100 * value) < 1e-6)
        return self.percent(value, next(off, 2))

    def points(self, value: float, places: int = 1) -> str:
        """A difference of proportions in percentage points, signed."""
        text = self.points_value(value, places)
        return "+" + text if round(100 * value, places) > 0 else text

    def points_value(self, value: float, places: int = 1) -> str:
        """A difference of proportions in percentage points, for a sentence: without a plus."""
        return self.fixed(100 * value, places)

    def points_size(self, value: float, places: int = 1) -> str:
        """How large a difference in percentage points is, where the sentence says its direction."""
        return self.points_value(abs(value), places)

    def day(self, day: date) -> str:
        """A date, in English as ISO 8601 has it, as two continents read 3/5 differently."""
        from babel.dates import format_skeleton

        return day.isoformat()[:10] if self._english else format_skeleton("yMMdd", day, locale=self._locale)

    def moment(self, moment: datetime, seconds: bool = False) -> str:
        """A date and its time of day."""
        return f"{self.day(moment)} {moment.timetz().isoformat('seconds' if seconds else 'minutes')}"

    def month(self, day: date) -> str:
        """The short name of the month of a day."""
        from babel.dates import format_date

        return format_date(day, "LLL", locale=self._locale)

    def p(self, value: float) -> str:
        """A p-value with its sign, two significant digits: ``= 0.030``, ``= 0.20``, ``< 0.001``."""
        if value < LEAST_P:
            return "< " + self.fixed(LEAST_P, 3)
        return "= " + self.fixed(value, max(2, 1 - floor(log10(value))))

    def write(self, value: Any, form: str) -> str | None:
        """A number as a format word says (``percent``, ``number.3``), None where there is no such word.

        The decimals are those that the number knows; only of others are they those of the word.
        """
        word, _, named = form.partition(".")
        own = places_in(value)

        def places(default: int, of: int = 0) -> int:
            return int(named or default) if own is None else max(own - of, 0)

        match word:
            case "month":
                return self.month(value)
            case "percent":
                return self.percent(value, places(1, 2))
            case "plain":
                return self.plain(value)
            case "points":
                return self.points(value, places(1, 2))
            case "points_value":
                return self.points_value(value, places(1, 2))
            case "points_size":
                return self.points_size(value, places(1, 2))
            case "level":
                return self.level(value)
            case "compound":
                # Within a compound of German, 95-%-KI, whose first hyphen does not end a line.
                return self.level(value).rstrip("%").rstrip() + "\N{NON-BREAKING HYPHEN}%"
            case "count":
                return self.count(value)
            case "p":
                return self.p(value)
            case "number":
                return self.fixed(value, places(2))
            case "about":
                return self.fixed(value, places(0 if abs(value) >= 10 else 1))
            case "size":
                return self.fixed(value, places(by_width(value, value, value)))
        return None


class _Formatter(string.Formatter):
    """str.format with the catalogue's own words for how a value is written."""

    def __init__(self, catalogue: "Catalogue") -> None:
        self._catalogue = catalogue

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Message | Note):
            value = self._catalogue(value)
        if value is None:
            return self._catalogue("word.not_known")
        if isinstance(value, date) and not format_spec:
            return self._catalogue.numbers.day(value)
        match format_spec:
            case "count_or_none":
                return self._catalogue.numbers.count(value) if value else self._catalogue("word.none")
            case "numeral":
                return self._catalogue.numeral(value)
            case "numeral_first":
                text = self._catalogue.numeral(value)
                return text[:1].upper() + text[1:]
            case "the" | "of" | "bare":
                return self._catalogue.nouns.write(str(value), format_spec)
            case "The":
                text = self._catalogue.nouns.write(str(value), "the")
                return text[:1].upper() + text[1:]
            case "list":
                return self._catalogue.listed(value)
            case "declared":
                return self._catalogue.declared(value)
            case "group":
                return self._catalogue.group(value)
            case "typed":
                return self._catalogue.numbers.typed(value)
            case "title":
                return str(value[:1].upper() + value[1:])
        if isinstance(value, float) and not format_spec:
            return self._catalogue.numbers.plain(value)
        if not format_spec:
            return str(value)
        written = self._catalogue.numbers.write(value, format_spec)
        if written is None:
            raise ValueError(f"the message catalogue has no way {format_spec!r} to write a value")
        return written


def _is_group(node: Any) -> bool:
    """Whether this is a table of texts, not one text nor the plural forms of one."""
    return isinstance(node, Mapping) and not ("other" in node and node.keys() <= PLURALS)


class Catalogue:
    """The texts of one language. Call it with a message, a note, or a key and its values."""

    def __init__(
        self,
        language: str,
        texts: Mapping[str, Any],
        own: Mapping[str, str] | None = None,
        nouns: Nouns | None = None,
    ) -> None:
        self.language = language
        self.numbers = Numbers(language)
        self.nouns = nouns or Nouns({})
        self.between: str = texts.get("word", {}).get("between", "; ")  # in French after a space that holds
        self._texts = _with_terms(texts, own) if own else texts
        self._formatter = _Formatter(self)

    def __call__(self, message: Message | Note | str, /, **values: Any) -> str:
        if isinstance(message, Note):
            return self.between.join(map(self, message.messages))
        key, given = (
            (message, values) if isinstance(message, str) else (message.key, {**message.values, **values})
        )
        text = self.text(key)
        if isinstance(text, Mapping):
            text = text[self._plural(given.get("n", 1), text)]
        return self._formatter.vformat(text, (), given)

    def __contains__(self, key: str) -> bool:
        try:
            self.text(key)
        except KeyError:
            return False
        return True

    def text(self, key: str) -> Any:
        """A text as the catalogue has it, values not put in; one with plural forms as a table of them."""
        node: Any = self._texts
        for part in key.split("."):
            if not isinstance(node, Mapping) or part not in node:
                raise KeyError(f"the message catalogue {self.language} has no text {key}")
            node = node[part]
        if _is_group(node):
            raise KeyError(f"{key} of the message catalogue {self.language} is a group, not a text")
        return node

    def _plural(self, n: float, forms: Mapping[str, str]) -> str:
        from babel import Locale

        form = Locale.parse(self.language).plural_form(n)
        return form if form in forms else "other"

    def listed(self, items: Any) -> str:
        """Items joined as the language joins them: ``a, b and c``."""
        from babel.lists import format_list

        texts = [self(item) if isinstance(item, Message | Note) else str(item) for item in items]
        if any(", " in WITHIN.sub("", text) for text in texts) and len(texts) > 1:
            # A comma within an item and one between two would look alike.
            and_ = format_list(["", ""], locale=self.language).strip()
            return f"{self.between.join(texts[:-1])}{self.between}{and_} {texts[-1]}"
        return format_list(texts, locale=self.language)

    def numeral(self, n: int) -> str:
        """A count within a sentence: as a word below ten, else in digits."""
        return self(NUMERALS[n]) if 0 <= n < len(NUMERALS) else self.numbers.count(n)

    def declared(self, value: str) -> str:
        """A declared word in this language where it is one of the usual vocabulary, else as declared."""
        key = f"value.{value.strip().casefold()}"
        return self(key) if key in self else value

    def group(self, name: str) -> str:
        """A group of cases within a sentence, its column said only where its value does not name it.

        ``scanner: scanner Y`` is written scanner Y, ``age_group: over 60`` age group “over 60”, and
        ``sex: M`` as words.
        """
        if patients := patients_of_sex(name):
            return self(patients)
        column, _, level = name.partition(": ")
        column = column.replace("_", " ")
        if not level or column.casefold() in level.casefold():
            return level or name
        return self("where.name.labelled", column=column, level=level)

    def called(self, name: "str | Message") -> str:
        """A candidate or an arm within a sentence, in quotation marks where its name is a common noun."""
        if not isinstance(name, str):
            return self(name)
        return self("word.quoted", text=name) if name[:1].islower() else name

    def keys(self, prefix: str = "") -> list[str]:
        """All keys of texts, for the tests that look for what is missing or unused."""

        def walk(node: Mapping[str, Any], path: str) -> list[str]:
            found = []
            for name, value in node.items():
                here = f"{path}.{name}" if path else name
                found += walk(value, here) if _is_group(value) else [here]
            return found

        return [key for key in walk(self._texts, "") if key.startswith(prefix)]


def languages() -> tuple[str, ...]:
    """The languages that have a catalogue, English first."""
    found = sorted(entry.name for entry in (folder("templates") / "messages").iterdir() if entry.is_dir())
    return ("en", *(name for name in found if name != "en"))


def texts_of(language: str) -> dict[str, Any]:
    """The texts of a language as its files have them: one file for each group of texts."""
    texts: dict[str, Any] = {}
    for file in sorted((folder("templates") / "messages" / language).glob("*.toml")):
        _add(texts, tomllib.loads(file.read_text(encoding="utf-8")), file.name)
    return texts


def _add(texts: dict[str, Any], more: Mapping[str, Any], file: str) -> None:
    """Put the texts of a file to the others; a group may have its texts in several files."""
    for name, value in more.items():
        if name not in texts:
            texts[name] = value
        elif _is_group(value) and _is_group(texts[name]):
            _add(texts[name], value, file)
        else:
            raise ValueError(f"{file} has {name}, which another file of the catalogue has")


def terms(language: str) -> dict[str, Any]:
    """The glossary of a language: ``terms``, and the keys of texts that are ``unchanged`` from English."""
    file = folder("templates") / "messages" / f"{language}.terms.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def catalogue(language: str = "en") -> Catalogue:
    """The catalogue of a language, read once.

    Raises
    ------
    LookupError : a quantity has no name in this language, or its method in clusters no text
    """
    texts = texts_of(language)
    lacking = [f"quantity.{row.id}" for row in ROWS if row.id not in texts["quantity"]]
    methods = {row.clustered for row in ROWS if row.clustered}
    lacking += [f"method.{word}" for word in sorted(methods) if word not in texts["method"]]
    if lacking:
        raise LookupError(f"templates/messages/{language} lacks {', '.join(lacking)}")
    if language == "en":
        return Catalogue(language, texts)
    glossary = terms(language)
    return Catalogue(language, texts, glossary["terms"], Nouns(glossary))


def _with_terms(node: Any, own: Mapping[str, str]) -> Any:
    """Texts with the terms of the glossary in their places."""
    if isinstance(node, Mapping):
        return {name: _with_terms(value, own) for name, value in node.items()}

    def term(found: re.Match[str]) -> str:
        name = found[1]
        text = own[name.lower()]
        return text[:1].upper() + text[1:] if name[:1].isupper() else text

    return TERM.sub(term, node)
