"""The catalogue holds every text of the report, and no text that a report may not use."""

import re
import typing
from html.parser import HTMLParser

import pytest
from pydantic import BaseModel

from trustreport.assessment.dimensions import DIMENSIONS
from trustreport.report import declared
from trustreport.report.declared import NOT_PRINTED
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.resources import folder

say = catalogue("en")
# Of the report; the pages of the service have their words in place.
TEMPLATES = sorted(
    t
    for t in folder("templates").rglob("*.html.j2")
    if "service" not in t.relative_to(folder("templates")).parts
)
# Words that a report may use only of what was tested, and then it says of what and with a number.
BANNED = r"\b(proves?|safe|safely|superior|equivalent|trustworthy|bias-free|accurate|accurately|validated)\b"
ATTRIBUTES = {"alt", "title", "aria-label", "aria-description", "placeholder", "content"}
METHODS = """
    wald wilson clopper_pearson newcombe miettinen_nurminen katz koopman woolf exact_conditional baptista_pike
    wald_paired tango newcombe_paired matched_wald matched_exact mcnemar_exact mcnemar_midp
    mcnemar_clustered_case cluster_case cluster_reader cluster_twoway_z cluster_twoway_t gee_case_exchangeable
    or_delta rr_delta or_rrrc or_frrc or_rrfc ustatistic_bdg fixed_cases delong logit_delong gwet_variance
    nomogram majority
""".split()


class Literals(HTMLParser):
    """Collects text and attribute values that hold letters."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag == "meta" and ("name", "generator") in attrs:
            return
        spoken = {k: v for k, v in attrs if k in ATTRIBUTES and v}
        if tag == "meta" and dict(attrs).get("name") in ("viewport", "referrer"):
            spoken = {}
        self.found += [value for value in spoken.values() if re.search(r"[^\W\d_]", value)]

    def handle_data(self, data):
        if re.search(r"[^\W\d_]", data):
            self.found.append(data.strip())


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_every_text_of_a_template_comes_from_the_catalogue(template):
    source = template.read_text(encoding="utf-8")
    source = re.sub(r"\{#.*?#\}|\{%.*?%\}", "", source, flags=re.S)
    source = re.sub(r"\{\{.*?\}\}", "", source, flags=re.S)
    source = re.sub(r"<style>.*?</style>", "", source, flags=re.S)
    parser = Literals()
    parser.feed(source)
    assert parser.found == []


def test_every_key_that_a_template_names_is_in_the_catalogue():
    missing = []
    for template in TEMPLATES:
        named = re.findall(r'say\("([\w.]+)"( ~)?', template.read_text(encoding="utf-8"))
        missing += [
            f"{template.name}: {key}" for key, more in named if not (say.keys(key) if more else key in say)
        ]
    assert missing == []


def test_every_key_that_the_report_names_is_in_the_catalogue():
    missing = []
    for module in sorted((folder("templates").parent / "trustreport" / "report").glob("*.py")):
        named = re.findall(r'say\("([\w.]+)"', module.read_text(encoding="utf-8"))
        missing += [f"{module.name}: {key}" for key in named if key not in say]
    assert missing == []


def texts():
    return [(key, text) for key in say.keys() for text in _forms(key)]  # noqa: SIM118 -- a method of its own


def _forms(key):
    text = say.text(key)
    return [text] if isinstance(text, str) else list(text.values())


def test_no_text_uses_a_word_that_claims_too_much():
    # The headings of an authority's form are the authority's words.
    # A "cross-validated" classifier is a term.
    texts_of_ours = [(key, text.replace("cross-validated", "")) for key, text in texts()]
    own = [(key, text) for key, text in texts_of_ours if not key.startswith("form.")]
    assert [key for key, text in own if re.search(BANNED, text, re.I)] == []


def test_no_text_holds_a_hyphen_for_a_minus_or_a_range():
    assert [key for key, text in texts() if re.search(r"\}\s*[-–]\s*\{", text)] == []


@pytest.mark.parametrize("word", METHODS)
def test_every_method_has_a_text_and_a_source(word):
    assert say(f"method.{word}.text")
    assert re.search(r"\d{4}|sum over", say(f"method.{word}.source"))


@pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda d: d.name)
def test_every_question_of_trust_has_its_texts_and_its_template(dimension):
    for key in ("short", "title", "question", "lacking"):
        assert say(f"{dimension.name}.{key}")
    assert (folder("templates") / "dimensions" / f"{dimension.name}.html.j2").is_file()


def models(annotation):
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from models(inner)


def fields(model, path=""):
    for name, info in model.model_fields.items():
        here = f"{path}.{name}" if path else name
        yield here
        for inner in models(info.annotation):
            yield from fields(inner, here)


@pytest.mark.parametrize("path", sorted(fields(Plan)))
def test_every_field_of_the_manifest_has_a_label(path):
    assert declared.label(path, say) != path or path in NOT_PRINTED


def test_a_missing_key_is_an_error():
    with pytest.raises(KeyError, match=r"no text report\.nothing"):
        say("report.nothing")
