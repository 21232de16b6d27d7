"""Pages in the language of who reads them: which one, and that no text of a page escapes the catalogue."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from markupsafe import Markup
from pages import HTML, Shown, get, post
from services import Client
from test_pages_access import addresses

from trustreport.service import languages, mail
from trustreport.service.core import Core
from trustreport.service.languages import COOKIE, preferred
from trustreport.service.pages import render
from trustreport.service.pages.render import PageWords
from trustreport.service.settings import Unsuitable, from_environment
from trustreport.service.storage.collaboration import Mail
from trustreport.vocabulary.messages import Catalogue, catalogue, texts_of

MADE_UP = "eo"  # a language of which there is no catalogue: its texts are the English ones, marked
FIELDS = re.compile(r"(\{[^{}]*\})")
TELLING = ("aria-label", "alt", "title", "placeholder", "data-label")
# What the pages of the test show beside their own words: names, addresses, times and formats.
GIVEN = re.compile(
    r"trustreport|Anna\b|Example aid|Chest readings|Five hospitals|Breast, five hospitals|With faults"
    r"|Audit by periods|Open criteria|Nothing announced"
    r"|Chrome on Linux|testclient"
    r"|UTC|Markdown|iMRMC"
    r"|HTML|PDF|XLSX|CSV|JSON|Parquet|\bkB\b|[\w.]+@[\w.]+|[\w.]+\.(csv|yaml|json|made|failed)|arm_reader|cov\d"
    r"|components\.|reader\b|error\b|cases\b|No difference in errors .*? points\.|https:\S+"
    r"|No requirement was declared: .*? open\."
)
# Show results, data, or records in English.
OF_DATA = ("/edit", "/guide/who", "/reports/", "/comparison", "/audit", "/api/docs")
DATA = {"bdi", "code", "pre", "textarea", "script", "style", "template"}  # hold what people or programs wrote


def marked(node: Any) -> Any:
    """Texts in marks, with an accent on each word."""
    if isinstance(node, Mapping):
        return {name: marked(value) for name, value in node.items()}
    parts = FIELDS.split(node)
    parts[::2] = [re.sub(r"[aeiou]", lambda letter: letter[0] + "\u0301", part) for part in parts[::2]]
    return "⟦" + unicodedata.normalize("NFC", "".join(parts)) + "⟧"


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[Catalogue]:
    """The service with a second language."""
    words = Catalogue(MADE_UP, marked(texts_of("en")))
    original, pages = render.catalogue, render.page_words
    monkeypatch.setattr(languages, "offered", lambda: ("en", MADE_UP))
    monkeypatch.setattr(render, "catalogue", lambda name: words if name == MADE_UP else original(name))
    monkeypatch.setattr(
        render, "page_words", lambda name: PageWords(words) if name == MADE_UP else pages(name)
    )
    monkeypatch.setattr(render, "names", lambda: {"en": "English", MADE_UP: "Esperanto"})
    monkeypatch.setattr("trustreport.service.account.login.offered", lambda: ("en", MADE_UP))
    render.environment.cache_clear()
    yield words
    render.environment.cache_clear()


class Visible(HTMLParser):
    """What a person reads or hears of a page, but for data."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.within: list[str] = []
        self.texts: list[str] = []
        self.labels: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        own = "lang" in given and tag != "html"  # says in which other language it is
        self.labels += [given[name] or "" for name in TELLING if name in given]
        if tag not in ("meta", "link", "input", "br", "img"):
            self.within.append(f"{tag} data" if own else tag)

    def handle_endtag(self, tag: str) -> None:
        while self.within and self.within.pop().partition(" ")[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(tag in DATA or tag.endswith(" data") for tag in self.within):
            self.texts.append(data)


def unmarked(html: str) -> list[str]:
    """The words of a page that no text of the catalogue holds, without data."""
    page = Visible(html)
    left = []
    for text in (" ".join(page.texts), *page.labels):
        before = None
        while text != before:
            before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", "", text)
        left += re.findall(r"[A-Za-z]{2,}", GIVEN.sub("", text))
    return left


@pytest.fixture
def reader(app: FastAPI, made_up: Catalogue) -> TestClient:
    """A browser that nobody has signed in with, of the one who reads the second language."""
    asked = {"Accept-Language": f"en;q=0.5, {MADE_UP}-XX"}
    return TestClient(app, base_url="https://testserver", headers={**HTML, **asked})


def test_no_text_of_a_page_escapes_the_catalogue(shown: Shown, made_up: Catalogue) -> None:
    asked = {**HTML, "Accept-Language": f"{MADE_UP};q=0.9, en;q=0.5"}
    paths = [p for p in addresses(shown.names) if not any(part in p for part in OF_DATA)]
    assert len(paths) > 15
    found = {}
    for path in [*paths, "/account/second-factor", "/account/second-factor/app", "/account/provider"]:
        html = shown.anna.get(path, headers=asked).text
        assert f'<html lang="{MADE_UP}"' in html, path
        found[path] = unmarked(html)
    assert not any(found.values()), "\n".join(f"{path}: {left}" for path, left in found.items() if left)


def test_entrances_and_refusals_are_in_the_language_that_is_asked_for(reader: TestClient) -> None:
    for path in (
        "/sign-in",
        "/forgotten",
        "/invitation",
        "/shared",
        "/shared/nothing",
        "/site",
        "/site/no",
        "/nothing",
    ):
        answer = reader.get(path)
        assert f'<html lang="{MADE_UP}"' in answer.text, path
        assert not unmarked(answer.text), path
        assert answer.headers["vary"] == "Accept-Language, Cookie"
    title = reader.get("/api/v1/studies", headers={"Accept": "application/json"}).json()["title"]
    assert title == "Not known"  # the API is English


def test_a_chosen_language_is_kept_and_beats_what_the_browser_asks_for(reader: TestClient) -> None:
    answer = post(reader, "/sign-in", "/language", language="en", next="/forgotten?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/forgotten?x=1")
    assert {"Secure", "HttpOnly", "SameSite=strict"} <= set(answer.headers["set-cookie"].split("; "))
    assert '<html lang="en"' in reader.get("/forgotten").text
    refused = post(reader, "/sign-in", "/language", language="<b>", next="//elsewhere.test")
    assert (refused.status_code, "set-cookie" in refused.headers) == (422, False)
    away = post(reader, "/sign-in", "/language", language=MADE_UP, next="//elsewhere.test")
    assert away.headers["location"] == "/"


def test_a_session_may_choose_too(anna: Client, made_up: Catalogue) -> None:
    answer = post(anna, "/account", "/language", language=MADE_UP)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert anna.cookies[COOKIE] == MADE_UP
    assert get(anna, "/account").tags[0] == ("html", {"lang": MADE_UP, "class": "service"})
    anna.headers.pop("X-CSRF-Token", None)
    refused = anna.post("/language", data={"language": "en"}, headers=HTML, follow_redirects=False)
    assert refused.status_code == 403


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("", []),
        ("it-CH, de;q=0.8, *;q=0.1", ["it-CH", "de", "*"]),
        ("de;q=0.3, fr", ["fr", "de"]),
        ("fr;q=0, de;q=x, ;q=1, en;q=2", []),
        (",".join(f"x{i}" for i in range(90)), [f"x{i}" for i in range(20)]),
    ],
)
def test_languages_are_read_from_a_header(header: str, wanted: list[str]) -> None:
    assert preferred(header) == wanted


def test_a_language_without_a_catalogue_is_refused_as_a_setting(tmp_path: Path) -> None:
    assert from_environment(tmp_path, {}).language == "en"
    with pytest.raises(Unsuitable, match="TRUSTREPORT_LANGUAGE='tlh': expected en"):
        from_environment(tmp_path, {"TRUSTREPORT_LANGUAGE": "tlh"})


def test_markup_stays_and_what_users_wrote_around_it_is_escaped() -> None:
    words = PageWords(Catalogue("en", {"a": "<i>{name} & {link}", "b": "{first}{second}"}))
    link = Markup('<a href="/x">') + "<b>" + Markup("</a>")
    said = words("a", name="<script>\ue000", link=link)
    assert said == Markup('&lt;i&gt;&lt;script&gt; &amp; <a href="/x">&lt;b&gt;</a>')
    # A sign within markup is not replaced by the other markup.
    assert words("b", first=Markup("<u>\ue001</u>"), second=Markup("<s></s>")) == "<u>\ue001</u><s></s>"
    assert not isinstance(words("a", name="x", link="y"), Markup)


def test_mails_are_in_the_language_of_the_service(light: Core, anna: Client, monkeypatch: Any) -> None:
    words = Catalogue(MADE_UP, marked(texts_of("en")))
    monkeypatch.setattr(mail, "catalogue", lambda name: words)
    settings = replace(light.settings, smtp_host="x", mail_from="a@b.test")
    details: dict[str, dict[str, Any]] = {
        "invitation": {},
        "reset": {},
        "report_ready": {"report": "0"},
        "report_failed": {"job": "0"},
        "period_failed": {"version": "0"},
        "period_waiting": {"version": "0"},
        "review_requested": {"report": "0", "due": "2026-03-31"},
        "audit_due": {"job": "", "new": False, "study": "0"},
        "criteria_waiting": {"study": "0"},
        "incident_near": {"incident": "0", "due": "2026-03-31"},
        "incident_overdue": {"incident": "0", "due": "2026-03-31"},
    }
    with light.store.write() as rows:
        for kind, values in details.items():
            row = Mail(id="0" * 26, user=anna.me["user"], kind=kind, details=values, created_at=0)
            message = mail.compose(rows, settings, row)
            assert message is not None
            text = re.sub(r"⟦[^⟦⟧]*⟧|https?://\S+", "", f"{message['Subject']}\n{message.get_content()}")
            assert not re.search(r"[A-Za-z]{2}", text), (kind, text)


def test_a_fault_has_the_title_of_its_details_group() -> None:
    words = {tuple(key.split(".")[2:4]) for key in catalogue().keys("pages.fault")}
    without = {group for group, _ in words if (group, "title") not in words}
    # Parts of sentences, and a detail that is said under several titles.
    assert without == {"field", "thing", "too_many", "weak"}
