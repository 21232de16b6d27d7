"""Tables alone: a manifest is proposed on the page, completed there, and added."""

from pages import get, post, right
from services import API, Client

from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread


def test_tables_alone_become_a_study_on_the_page(light: Core, anna: Client) -> None:
    worker = WorkerThread(light, "worker")
    files = [("files", ("readings.csv", right()))]
    version = (
        post(anna, "/studies/new", "/studies", files, name="Tables").headers["location"].removesuffix("/edit")
    )
    assert worker.once("check")
    page = get(anna, version)
    assert "tables without a manifest" in page.words
    assert "trustreport init" not in page.words
    form = next(f for f in page.forms if "manifest" in f["fields"])
    assert not [name for f in page.forms for name in f["fields"] if name.startswith("name-")]
    proposal = anna.get(f"{API}{version}").json()["facts"]["proposal"]
    assert "readings.csv" in proposal
    assert proposal.splitlines()[3] in page.words
    sent = {"csrf": form["fields"]["csrf"], "manifest": proposal.replace("\n", "\r\n")}
    answer = anna.post(form["action"], data=sent, headers={"Accept": "text/html"}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    added = answer.headers["location"]
    assert worker.once("check")
    names = {f["name"] for f in anna.get(f"{API}{added}/files").json()["items"]}
    assert names == {"readings.csv", "study.yaml"}
    said = anna.get(f"{API}{added}").json()
    assert said["state"] == "valid", anna.get(f"{API}{added}/problems").text
    assert "proposal" not in said["facts"]


def test_what_is_no_file_is_not_offered_for_replacement(light: Core, anna: Client) -> None:
    worker = WorkerThread(light, "worker")
    files = [("files", ("notes.txt", "nothing"))]
    version = post(anna, "/studies/new", "/studies", files, name="Notes").headers["location"]
    assert worker.once("check")
    page = get(anna, version)
    assert not [name for f in page.forms for name in f["fields"] if name.startswith("name-")]
    assert "A manifest for these tables" not in page.words


def test_a_table_of_nothing_known_is_a_problem_and_no_crash(light: Core, anna: Client) -> None:
    worker = WorkerThread(light, "worker")
    for content in (b"", b"\x00\x00", b"a,b\n1\n", b"PK\x03\x04"):
        files = [("files", ("t.csv", content)), ("files", ("t.xlsx", content or b"x"))]
        version = (
            post(anna, "/studies/new", "/studies", files, name="Odd")
            .headers["location"]
            .removesuffix("/edit")
        )
        assert worker.once("check")
        assert anna.get(f"{API}{version}").json()["state"] == "invalid"
