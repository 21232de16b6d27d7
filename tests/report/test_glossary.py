"""The glossary of a report has the terms that the report uses, and no others."""

import pytest

from trustreport.report.glossary import MOST_TERMS, TERMS, names, printed, terms
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
LANGUAGES = ("en", "de", "fr", "it")


def used(page: str) -> list[str]:
    return [term for term, _ in terms(page, EN)]


def test_only_what_is_printed_counts() -> None:
    page = (
        '<style>.auc { }</style><section class="glance" id="glance">Needs AUC</section>'
        "<p>With <b>Holm</b>\u2019s adjustment the <bdi>net\u00a0ben\u00adefit</bdi> "
        'is higher.</p><section class="annexes"><p>The Brier score is 0.1.</p></section>'
    )
    assert printed(page) == "With Holm\u2019s adjustment the net benefit is higher."
    assert used(page) == ["Holm", "Net benefit"]


def test_an_abbreviation_is_a_whole_word_in_its_own_capitals() -> None:
    assert used("<p>auc, AUCs, O/E and a sprint</p>") == ["Observed over expected (O/E)"]
    assert used("<p>CUSUM</p>") == ["Control chart (CUSUM, SPRT)"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_is_found_by_any_of_its_names(language: str) -> None:
    say = catalogue(language)
    for term in TERMS:
        heading = say(f"glossary.{term}.term")
        for name in names(heading):
            assert heading in [found for found, _ in terms(f"<p>{name}</p>", say)], (term, name)


def test_more_terms_than_there_is_room_for_are_cut_by_their_order() -> None:
    page = " ".join(EN(f"glossary.{term}.term") for term in TERMS)
    assert used(page) == [EN(f"glossary.{term}.term") for term in TERMS[:MOST_TERMS]]
