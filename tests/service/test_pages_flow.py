"""A new user in a browser: from the first start to an approved report, with a wrong file first."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import READINGS, WRONG, right, served
from services import PASSWORD

from tests.browsing import PATIENCE
from trustreport.service.access import accounts

WINDOWS = {"desktop": (1280, 900), "phone": (390, 844)}
DROP = """names => {
    const sent = new DataTransfer();
    for (const [name, text] of names) { sent.items.add(new File([text], name)); }
    return sent;
}"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A service that nobody has an account on, and its setup link."""
    with served(tmp_path, workers=True) as (core, _, url):
        with core.store.write() as rows:
            link = accounts.new_link(rows, "setup", core.settings)
        yield url, f"{url}/setup?link={link}"


def is_fault(message: Any) -> bool:
    """An error, unless it says that the script of a report was not run, which the frame is there for."""
    kept_out = "/document' because the document's frame is sandboxed and the 'allow-scripts' permission"
    return message.type == "error" and kept_out not in message.text


class Visit:
    """A browser of one person, whose faults are noted."""

    def __init__(self, browser: Any, size: tuple[int, int]) -> None:
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]})
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.asked: set[str] = set()
        self.page.on("console", lambda m: self.faults.append(m.text) if is_fault(m) else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda r: self.asked.add(r.url.split("/")[2] if "//" in r.url else "data"))

    def fill(self, **fields: str) -> None:
        for name, value in fields.items():
            self.page.fill(f"[name={name}]", value)

    def press(self, name: str) -> None:
        # A click while the page still moves, because a style or a frame has just come, can miss its button.
        self.page.wait_for_load_state("load")
        self.page.get_by_role("button", name=name, exact=True).click()

    def reads(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def leaves(self) -> None:
        """Sign out by the keyboard: beside a frame that has just come, Chromium can route a click into it."""
        self.page.get_by_role("button", name="Sign out", exact=True).press("Enter")
        self.reads("You have signed out.")

    def fits(self) -> None:
        assert self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


@pytest.mark.parametrize("kind", WINDOWS)
def test_from_first_start_to_an_approved_report(
    browser: Any, service: tuple[str, str], tmp_path: Path, kind: str
) -> None:
    url, link = service
    anna = Visit(browser, WINDOWS[kind])
    anna.page.goto(link)
    anna.fill(organisation="Hospital", name="Anna", email="anna@hospital.test")
    anna.fill(password=PASSWORD, password_again=PASSWORD)
    anna.press("Set up and sign in")
    anna.reads("The service is set up.")
    anna.page.get_by_role("link", name="New study").click()

    # A wrong file: dropped on the desktop, chosen on the phone.
    anna.fill(name="Readings")
    files = [("study.json", json.dumps(READINGS)), ("readings.csv", WRONG)]
    if kind == "desktop":
        dropped = anna.page.evaluate_handle(DROP, files)
        anna.page.dispatch_event("[data-drop]", "drop", {"dataTransfer": dropped})
    else:
        anna.page.set_input_files(
            "[name=files]",
            [{"name": n, "mimeType": "text/plain", "buffer": text.encode()} for n, text in files],
        )
    anna.reads("readings.csv (1 kB)")
    anna.press("Upload")
    anna.reads("2 problems must be fixed before a report can be made.")
    row = anna.page.locator("table.problems tbody tr").first
    assert [part in row.inner_text() for part in ("readings.csv", "truth", '"2"', "0 or 1")] == [True] * 4
    anna.fits()

    # The corrected file in its place.
    corrected = tmp_path / "corrected (1).csv"
    corrected.write_text(right())
    anna.page.set_input_files("#file-0", corrected)
    anna.press("Check again")
    anna.reads("No problems found in these files.")
    anna.page.uncheck("[name=format][value=pdf]")
    anna.press("Build the report")
    anna.page.wait_for_url("**/jobs/*", wait_until="commit")
    assert anna.page.locator("progress").count() == 1
    anna.page.wait_for_url("**/reports/*", wait_until="commit")
    report = anna.page.url
    document = anna.page.frame_locator("iframe")
    document.locator("#answer").wait_for()
    assert document.locator("main svg").count() > 0
    assert document.locator("button").count() == 0  # what only a script could do is not offered
    answer = document.locator("#answer .answer").inner_text()
    assert answer in anna.page.locator(".report-answer").inner_text()
    anna.reads("another person must review and approve it")
    anna.fits()

    # Somebody else, invited by a link.
    anna.page.goto(f"{url}/admin/users")
    anna.fill(name="Carl", email="carl@hospital.test")
    anna.page.check("[name=role][value=approver]")
    anna.press("Invite")
    invitation = anna.page.locator(".once code").inner_text()
    carl = Visit(browser, WINDOWS[kind])
    carl.page.goto(invitation)
    carl.fill(password=PASSWORD, password_again=PASSWORD)
    carl.press("Save and sign in")
    carl.page.wait_for_url("**/studies", wait_until="commit")
    carl.page.goto(report)
    carl.page.get_by_label("I approve it").check()
    carl.fill(meaning="Complete, and its limits are stated.", password=PASSWORD[::-1])
    carl.press("Sign")
    carl.reads("Password is wrong.")
    assert carl.page.get_by_label("Meaning").input_value() == "Complete, and its limits are stated."
    carl.faults.clear()  # the browser notes an answer of 403
    carl.fill(password=PASSWORD)
    carl.press("Sign")
    carl.reads("Your statement has been signed")
    carl.fits()
    carl.leaves()

    anna.page.goto(f"{url}/studies")
    anna.page.get_by_role("row", name="Readings").get_by_text("approved").wait_for()
    assert (anna.faults, carl.faults) == ([], [])
    assert anna.asked | carl.asked == {url.split("/")[2]}
    anna.context.close()
    carl.context.close()


def test_pages_work_without_javascript(browser: Any, service: tuple[str, str]) -> None:
    _, link = service
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(link)
    for name, value in {"organisation": "H", "name": "Anna", "email": "a@h.test"}.items():
        page.fill(f"[name={name}]", value)
    page.fill("[name=password]", PASSWORD)
    page.fill("[name=password_again]", PASSWORD)
    page.get_by_role("button", name="Set up and sign in").click()
    page.goto(page.url.split("?")[0] + "/new")
    page.fill("[name=name]", "Wrong")
    page.set_input_files(
        "[name=files]", [{"name": "study.json", "mimeType": "text/plain", "buffer": b'{"report": {}}'}]
    )
    page.get_by_role("button", name="Upload").click()
    for _ in range(PATIENCE // 200):
        if page.locator("table.problems").count():
            break
        page.wait_for_timeout(200)
        page.locator("noscript a").click()
    assert page.locator("table.problems tbody tr").count() > 0
    page.get_by_role("button", name="Sign out").click()
    assert "/sign-in" in page.url
    context.close()
