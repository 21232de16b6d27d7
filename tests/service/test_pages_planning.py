"""The page that sizes a reader study: what the command gives, every problem at once, and nothing stored."""

import html
import json
import subprocess
import sys

from pages import HTML, Taken, get
from services import Client

from trustreport.api import plan_reader_study
from trustreport.service.core import Core
from trustreport.service.storage.models import Audit
from trustreport.sizing import protocol

ASKED = "endpoint=sensitivity&effect=0.1&expected=0.75&readers=5,8&cases=50,100&structure=HL&margin="


def test_the_page_shows_what_the_command_prints_and_stores_nothing(light: Core, anna: Client) -> None:
    with light.store.read() as rows:
        before = rows.query(Audit).count()
    text = html.unescape(anna.get(f"/planning?{ASKED}", headers=HTML).text)
    sizes = plan_reader_study(
        endpoint="sensitivity",
        effect=0.1,
        expected=0.75,
        readers=[5, 8],
        cases=[50, 100],
        components={"model": "roe_metz", "structure": "HL"},
    )
    assert protocol.to_markdown(sizes) in text
    request = text.split("<pre>")[2].split("</pre>")[0]
    assert protocol.to_json(plan_reader_study(**json.loads(request))) == protocol.to_json(sizes)
    assert text.count("<polyline") == 2
    with light.store.read() as rows:
        assert rows.query(Audit).count() == before


def test_the_form_keeps_what_was_typed_and_names_every_problem(anna: Client) -> None:
    asked = "endpoint=auc&effect=much&readers=5,x&components.arm_reader=0.1&expected=%3Cb%3E"
    answer = anna.get(f"/planning?{asked}", headers=HTML)
    assert answer.status_code == 422
    for field in ("effect", "readers[1]", "expected", "components.cases"):
        assert f"<b><bdi>{field}</bdi></b>" in answer.text, field
    assert '<b>"' not in answer.text
    assert Taken(answer.text).forms[-1]["fields"]["effect"] == "much"
    many = anna.get(f"/planning?readers={','.join(map(str, range(2, 14)))}", headers=HTML)
    assert (many.status_code, "Too many numbers" in many.text) == (422, True)


def test_an_empty_form_asks_nothing(anna: Client) -> None:
    page = get(anna, "/planning")
    assert page.forms[-1]["fields"]["effect"] == ""
    assert "Sample size" not in page.words


def test_who_is_not_signed_in_is_led_to_the_login(anonymous: Client) -> None:
    answer = anonymous.get("/planning", headers=HTML, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/sign-in")


def test_a_server_has_no_statistics_in_memory_before_they_are_asked_for() -> None:
    script = (
        "import sys, trustreport.service.server; print([n for n in ('scipy', 'pandas') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
