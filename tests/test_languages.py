"""The catalogues of other languages: whole, with the values of the English texts, and translated."""

import re
from string import Formatter
from typing import Any, get_args

import pytest

from tests.native import faults
from tests.said_keys import ANY, said
from trustreport.commands.fleet import LANGUAGES
from trustreport.measures.confusion.table import MEASURES as METRICS
from trustreport.measures.note import GROUP, NO_NOTE, note
from trustreport.study.plan import Language
from trustreport.vocabulary import packs
from trustreport.vocabulary.messages import PLURALS, Catalogue, catalogue, languages, terms
from trustreport.vocabulary.nouns import FORMS

EN = catalogue("en")
KEYS = frozenset(EN.keys())
OTHERS = [language for language in languages() if language != "en"]
FIELD = re.compile(r"\{[^{}]*\}|‹\w+›")
OF_INFLECTION = {"the", "The", "of", "bare", "compound"}  # ways that English texts have no need of
FOLLOWED = ("auc", "oe_ratio", "calibration_slope", "harmful_switch_rate", "override_rate", "failure_rate")
WORD = re.compile(r"\b[a-z]{3,}\b")


def forms(language: str, key: str) -> dict[str, str]:
    """A text by its plural forms; one without any as `other`."""
    found = catalogue(language).text(key)
    return {"other": found} if isinstance(found, str) else dict(found)


def values_of(language: str, key: str) -> set[str]:
    """The names of the values that the forms of a text use; all may do without their count."""
    texts = forms(language, key).values()
    return {name for text in texts for _, name, _, _ in Formatter().parse(text) if name} - {"n"}


def test_the_languages_of_the_users_are_there() -> None:
    assert {"it", "fr", "de"} <= set(OTHERS)
    assert set(get_args(Language)) == set(LANGUAGES) == set(languages())


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_every_text_and_none_of_its_own(language: str) -> None:
    there = set(catalogue(language).keys())
    assert not KEYS - there, f"not translated: {sorted(KEYS - there)[:20]}"
    assert not there - KEYS, f"not in English: {sorted(there - KEYS)[:20]}"


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_values_and_plurals_of_the_english_text(language: str) -> None:
    wrong = []
    for key in KEYS & set(catalogue(language).keys()):
        own, wanted = values_of(language, key), values_of("en", key)
        if own != wanted:
            wrong.append(f"{key}: {sorted(own ^ wanted)}")
        if not forms(language, key).keys() <= PLURALS or (
            len(forms("en", key)) == 1 < len(forms(language, key))
        ):
            wrong.append(f"{key}: plural forms {sorted(forms(language, key))}")
    assert not wrong, "; ".join(sorted(wrong)[:20])


@pytest.mark.parametrize("language", OTHERS)
def test_no_text_was_left_in_english(language: str) -> None:
    alike = frozenset(terms(language)["unchanged"])
    same = {
        key
        for key in KEYS & set(catalogue(language).keys())
        if forms(language, key) == forms("en", key)
        and any(WORD.search(FIELD.sub("", text)) for text in forms("en", key).values())
    }
    assert not same - alike, f"as in English: {sorted(same - alike)[:20]}"
    assert not alike - same, f"said to be as in English and is not: {sorted(alike - same)}"


@pytest.mark.parametrize("language", OTHERS)
def test_values_are_written_in_ways_that_the_catalogue_has(language: str) -> None:
    def specs(key: str, of: str) -> set[str]:
        return {
            s for text in forms(of, key).values() for _, name, s, _ in Formatter().parse(text) if name and s
        }

    known = {spec for key in KEYS for spec in specs(key, "en")} | OF_INFLECTION
    wrong = {key: specs(key, language) - known for key in KEYS & set(catalogue(language).keys())}
    assert not {key: found for key, found in wrong.items() if found}


@pytest.mark.parametrize("language", OTHERS)
def test_terms_of_the_field_are_those_of_the_glossary(language: str) -> None:
    own: dict[str, Any] = terms(language)["terms"]
    assert set(own) == set(terms(OTHERS[0])["terms"])
    assert len(own) >= 60
    used = set(re.findall(r"‹(\w+)›", "".join(raw_of(language))))
    assert {name.lower() for name in used} >= set(own), sorted(set(own) - {name.lower() for name in used})


def raw_of(language: str) -> list[str]:
    from trustreport.vocabulary.messages import texts_of  # as they are written, before the terms are put in

    def walk(node: Any) -> list[str]:
        return [node] if isinstance(node, str) else [text for one in node.values() for text in walk(one)]

    return walk(texts_of(language))


def test_french_signs_do_not_begin_a_line() -> None:
    broken = [text for text in raw_of("fr") if re.search(r"\S [:;?!%»](?=$|[\s\"'.,)])|« ", text)]
    assert not broken, broken[:5]


@pytest.mark.parametrize("language", OTHERS)
def test_no_text_has_a_fault_of_grammar_or_spacing(language: str) -> None:
    texts = {key: " | ".join(forms(language, key).values()) for key in KEYS} | texts_of_packs(language)
    found = {key: faults(language, text) for key, text in texts.items()}
    own = catalogue(language)
    for key in own.keys("quantity."):
        found[key] += [fault for form in FORMS for fault in faults(language, own.nouns.write(own(key), form))]
    assert not {key: wrong for key, wrong in found.items() if wrong}


@pytest.mark.parametrize(
    "language, text",
    [
        ("fr", "inférieure à celle de Alder"),
        ("fr", "la valeur de {measurement}"),
        ("fr", "plus élevée que {baseline}"),
        ("fr", "par rapport à le bras"),
        ("fr", "le hôpital"),
        ("fr", "si il est"),
        ("fr", "du la sensibilité"),
        ("fr", "11 % des cas"),
        ("fr", "l'aide"),
        ("it", "di il centro"),
        ("it", "rispetto a il braccio"),
        ("it", "nel {value:percent} delle scelte"),
        ("it", "il standard"),
        ("it", "della accuratezza"),
        ("it", "l’ausilio"),
        ("de", "in 11 % der Studien"),
        ("de", "zwei  Leerzeichen"),
        ("de", "ein Satz : einer"),
    ],
)
def test_faults_of_grammar_and_spacing_are_seen(language: str, text: str) -> None:
    assert faults(language, text)


def test_no_text_has_the_decimal_point_of_english() -> None:
    point = re.compile(r"(?<![\d.])\d+\.(?!\d{3}\b)\d+")
    entered = (
        "editor.",
        "guide.",
        "pages.",
        "plan.",
        "mail.",
        "method.",
        "form.",
    )  # typed into fields; sources
    found = {
        (language, key): text
        for language in OTHERS
        for key in KEYS
        if not key.startswith(entered)
        for text in forms(language, key).values()
        if point.search(re.sub(r"\{[^{}]*\}|MDCG [^)]*", "", text))
    }
    assert not found


SLOT = re.compile(r"\(\{(measure|endpoint)(:title)?\}\)")


@pytest.mark.parametrize("language", OTHERS)
def test_no_bracket_stands_in_place_of_a_case_ending(language: str) -> None:
    found = {key for key in KEYS for text in forms(language, key).values() if SLOT.search(text)}
    assert not {key for key in found if not key.startswith("sizing.")}


@pytest.mark.parametrize("language", OTHERS)
def test_measures_have_their_article_and_genitive(language: str) -> None:
    own = catalogue(language)
    measures = {f"quantity.{name}" for name in (*METRICS, *FOLLOWED)}
    assert not [key for key in measures if own(key) not in own.nouns]
    assert own("word.difference_in", measure="Foo").endswith(own.nouns.write("Foo", "of"))


def test_a_noun_keeps_what_follows_it_and_an_unknown_one_is_quoted() -> None:
    de, fr, it = (catalogue(language).nouns for language in ("de", "fr", "it"))
    assert de.write("Sensitivität, Southport", "of") == "der Sensitivität, Southport"
    assert de.write("positiver prädiktiver Wert", "of") == "des positiven prädiktiven Werts"
    assert fr.write("Exactitude", "the") == "l’exactitude"
    assert it.write("specificità (scanner Y)", "of") == "della specificità (scanner Y)"
    assert it.write("qualità", "of") == "di «qualità»"
    assert [fr.write(name, "bare") for name in ("aire sous la courbe ROC", "foo")] == [
        "d’aire sous la courbe ROC", "de «\N{NO-BREAK SPACE}foo\N{NO-BREAK SPACE}»"
    ]  # fmt: skip
    assert it.write("AUC", "bare") == "di AUC"
    assert de.write("Sensitivität", "bare") == "der Sensitivität"
    assert catalogue("en").nouns.write("sensitivity", "of") == "sensitivity"


def test_declared_figures_have_the_decimal_sign_of_the_language() -> None:
    said = {name: catalogue(name).numbers.typed for name in ("en", "de", "fr", "it")}
    assert [said["de"](text) for text in ("0.85", ".8", "88.1 %", "-0.05", "88%")] == [
        "0,85", ",8", "88,1\N{NO-BREAK SPACE}%", "−0,05", "88\N{NO-BREAK SPACE}%"
    ]  # fmt: skip
    assert said["it"]("88.1%") == "88,1%"
    assert said["en"]("0.85") == "0.85"
    others = ["3.1.2", "not defined", "1,160"]
    assert [said["fr"](text) for text in others] == others


def test_declared_words_are_translated_and_others_kept() -> None:
    assert catalogue("de").declared("Not serious") == "nicht schwerwiegend"
    assert catalogue("it").declared("split-plot") == "split-plot"
    assert catalogue("fr").declared("as the site has it") == "as the site has it"


def test_groups_are_named_with_their_column_where_the_value_does_not_name_it() -> None:
    named = map(catalogue().group, ("scanner: scanner Y", "age_group: under 60", "site", ""))
    assert list(named) == ["scanner Y", "age group “under 60”", "site", ""]


def test_a_corrected_term_is_in_every_text_that_has_it() -> None:
    made = Catalogue(
        "it", {"a": "la ‹sensitivity› di {x}", "b": "‹Sensitivity› {x}"}, {"sensitivity": "resa"}
    )
    assert made("a", x="A") == "la resa di A"
    assert made("b", x="A") == "Resa A"


@pytest.mark.parametrize("language", languages())
def test_the_notes_that_code_makes_have_a_text_with_their_values(language: str) -> None:
    made = {key: one for one in said() for key in one.texts if key.startswith(GROUP) and ANY not in key}
    own = catalogue(language)
    assert set(made) == set(own.keys(GROUP))
    fields = {key: {name for _, name, _, _ in Formatter().parse(own.text(key)) if name} for key in made}
    assert not {key: one.where for key, one in made.items() if fields[key] != one.values}


def texts_of_packs(language: str) -> dict[str, str]:
    """What a language prints of the packs in our own words, by pack and word or item."""
    found = {}
    for name in packs.ids():
        pack = packs.load(name, language)
        found |= {f"{name} {word}": getattr(pack, word) for word in packs.WORDS}
        found |= {f"{name} {item.id}": item.description for item in pack.items}
    return found


@pytest.mark.parametrize("language", OTHERS)
def test_the_texts_of_packs_are_translated_and_no_others(language: str) -> None:
    own = dict(packs.translations(language))
    alike = set(own.pop("unchanged"))
    assert set(own) == set(packs.ids())
    english = texts_of_packs("en")
    there = {f"{name} {word}" for name, texts in own.items() for word in texts if word != "items"}
    there |= {f"{name} {item}" for name, texts in own.items() for item in texts["items"]}
    assert not set(english) - there, f"not translated: {sorted(set(english) - there)[:10]}"
    assert not there - set(english), f"of no pack: {sorted(there - set(english))[:10]}"
    made = texts_of_packs(language)
    same = {key for key, text in english.items() if made[key] == text}
    assert not same - alike, f"as in English: {sorted(same - alike)[:10]}"
    assert not alike - same, f"said to be as in English and is not: {sorted(alike - same)}"


@pytest.mark.parametrize("language", OTHERS)
def test_a_translated_pack_differs_in_its_words_alone(language: str) -> None:
    for name in packs.ids():
        made, english = packs.load(name, language), packs.load(name)
        assert packs.translated(made, as_given(english)) == english
        assert all(0 < len(item.description) <= packs.LONGEST for item in made.items)
        numbers = [
            re.findall(r"\d+", " ".join(getattr(pack, word) for word in packs.WORDS))
            for pack in (made, english)
        ]
        assert sorted(numbers[0]) == sorted(numbers[1]), name


def as_given(pack: packs.Pack) -> dict[str, Any]:
    """The texts of a pack as a file of translations would give them."""
    items = {item.id: item.description for item in pack.items}
    return {**{word: getattr(pack, word) for word in packs.WORDS}, "items": items}


def test_a_pack_without_translation_stays_in_english() -> None:
    pack = packs.load("claim-2024")
    assert packs.translated(pack, {}) == pack
    assert packs.translated(pack, {"items": {"2": "Riassunto"}}).items[1].description == "Riassunto"


def test_a_note_is_written_in_the_language_of_the_catalogue() -> None:
    texts = {"no_case": "nessun caso", "too_few_for_percentage": "{n:count}, di cui {k}: troppo pochi"}
    made = Catalogue("it", {"a": "{x}.", "b": "{x:list}.", "note": texts})
    both = note("no_case") + note("too_few_for_percentage", n=1200, k=3)
    assert made(both) == "nessun caso; 1.200, di cui 3: troppo pochi"
    assert made("a", x=note("no_case")) == "nessun caso."
    assert made("b", x=[note("no_case"), "Roma"]) == "nessun caso e Roma."
    assert made(NO_NOTE) == ""
