"""A new user in a browser, without YAML: from the first start to an approved report, a wrong file first."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import right, served
from services import PASSWORD

from tests.browsing import PATIENCE
from trustreport.service.access import accounts

EXAMPLE = Path(__file__).parents[2] / "examples" / "certification-dossier"
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
        yield url, f"{url}/setup#{link}"


def coded(table: str) -> str:
    """Readings under the headers of another program, the truth in words."""
    header, *rows = (line.split(",") for line in table.splitlines())
    words = {"1": "malignant", "0": "benign"}
    lines = [[*row[:3], words[row[3]], *row[4:]] for row in rows]
    assert header[3] == "truth"
    return "\n".join(map(",".join, [["radiologist", "case", "arm", "diagnosis", "decision"], *lines])) + "\n"


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

    def brings(self, name: str, file: tuple[str, str], kind: str) -> None:
        """Drop a file on the desktop, choose it on the phone."""
        if kind == "desktop":
            dropped = self.page.evaluate_handle(DROP, [file])
            self.page.dispatch_event("[data-drop]", "drop", {"dataTransfer": dropped})
        else:
            sent = {"name": file[0], "mimeType": "text/plain", "buffer": file[1].encode()}
            self.page.set_input_files(f"[name={name}]", [sent])

    def types(self, control: str, text: str) -> None:
        self.page.fill(f'[name="{control}"]', text)

    def shows(self, control: str, text: str) -> None:
        field = self.page.locator(f'[name="{control}"]')
        field.wait_for()
        assert field.input_value() == text

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
        # Polled: after a click there is no document between the old page and the new one.
        self.page.wait_for_function("document.body && document.documentElement.scrollWidth <= innerWidth")


def founder(browser: Any, link: str, kind: str) -> Visit:
    """The first person of a new service, signed in."""
    anna = Visit(browser, WINDOWS[kind])
    anna.page.goto(link)
    anna.fill(organisation="Hospital", name="Anna", email="anna@hospital.test")
    anna.fill(password=PASSWORD, password_again=PASSWORD)
    anna.press("Set up and sign in")
    return anna


@pytest.mark.parametrize("kind", WINDOWS)
def test_from_first_start_to_an_approved_report(
    browser: Any, service: tuple[str, str], tmp_path: Path, kind: str
) -> None:
    url, link = service
    anna = founder(browser, link, kind)
    anna.reads("The service is set up.")
    anna.page.get_by_role("link", name="New study").click()

    # A table with a fault and headers of its own, no manifest: dropped on the desktop, chosen on the phone.
    anna.fill(name="Readings")
    anna.brings("files", ("export.csv", coded(right().replace("R0,C0,unaided", "R0,,unaided"))), kind)
    anna.reads("export.csv (2 kB)")
    anna.press("Upload")
    anna.page.wait_for_url("**/guide/files", wait_until="commit")
    anna.page.get_by_role("link", name="All fields").click()
    anna.page.wait_for_url("**/edit", wait_until="commit")

    # Its columns are recognised; the fault is said beside the column.
    anna.shows("/tables/readings/columns/reader", "radiologist")
    anna.shows("/tables/readings/values/truth/malignant", "1")
    slot = anna.page.locator('[data-beside="/tables/readings/columns/case"]', has_text="found an empty cell")
    slot.wait_for()
    anna.fits()
    corrected = ("export.csv", coded(right()))
    if kind == "desktop":
        anna.brings("files", corrected, kind)
        anna.reads("export.csv (2 kB)")
        anna.press("Add these tables")
        anna.reads("No problems found.")
    else:
        anna.press("Save as a new version")
        anna.reads("One problem must be fixed before a report can be made.")
        row = anna.page.locator("table.problems tbody tr").first
        assert [part in row.inner_text() for part in ("export.csv", "case", "an empty cell")] == [True] * 3
        anna.fits()
        file = tmp_path / "corrected (1).csv"  # in its place, whatever it is called
        file.write_text(corrected[1])
        anna.page.set_input_files("#file-0", file)
        anna.press("Check again")
        anna.reads("No problems found in these files.")
        anna.page.get_by_role("link", name="Change in a form").click()

    # A criterion with a bound: checked as it is typed.
    anna.types("/device/trade_name", "Example aid")
    anna.press("Add: Criteria")
    anna.types("/endpoints/+0/endpoint", "fewer errors")
    anna.page.select_option('[name="/endpoints/+0/measure"]', label="mean change")
    anna.page.get_by_role("group", name="Criteria: new").get_by_text("More fields").click()
    anna.types("/endpoints/+0/of", "accuracy")
    anna.page.select_option('[name="/endpoints/+0/hypothesis"]', "superiority")
    anna.types("/endpoints/+0/bound_or_margin", "0,01")
    anna.page.locator('[data-beside="/endpoints/+0/bound_or_margin"]', has_text='found "0,01"').wait_for()
    anna.reads("1 problem to fix.")
    anna.types("/endpoints/+0/bound_or_margin", "0.01")
    anna.page.locator('[data-bound="/endpoints/+0/bound_or_margin"]', has_text="above 0.01").wait_for()
    assert "fewer errors" in anna.page.locator("[data-yaml]").text_content()
    anna.fits()
    anna.press("Save as a new version")
    anna.page.wait_for_url(lambda address: not address.endswith("/edit"), wait_until="commit")
    anna.reads("No problems found in these files.")
    anna.page.uncheck("[name=format][value=pdf]")
    anna.press("Build the report")
    anna.page.wait_for_url("**/jobs/*", wait_until="commit")
    anna.page.locator("progress").wait_for(state="attached")
    anna.page.wait_for_url("**/reports/*", wait_until="commit")
    report = anna.page.url
    document = anna.page.frame_locator("iframe")
    document.locator("main svg").first.wait_for()
    anna.page.locator("iframe").element_handle().content_frame().wait_for_load_state("load")
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
    carl.page.wait_for_url("**/", wait_until="commit")
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
    page.fill("[name=link]", link)  # what a script takes from the address
    for name, value in {"organisation": "H", "name": "Anna", "email": "a@h.test"}.items():
        page.fill(f"[name={name}]", value)
    page.fill("[name=password]", PASSWORD)
    page.fill("[name=password_again]", PASSWORD)
    with page.expect_navigation():
        page.get_by_role("button", name="Set up and sign in").click()
    page.goto(page.url.split("?")[0] + "studies/new")
    page.fill("[name=name]", "Wrong")
    page.set_input_files(
        "[name=files]", [{"name": "study.json", "mimeType": "text/plain", "buffer": b'{"report": {}}'}]
    )
    with page.expect_navigation():
        page.get_by_role("button", name="Upload").click()
    for _ in range(PATIENCE // 200):
        if page.locator("table.problems").count():
            break
        page.wait_for_timeout(200)
        with page.expect_navigation():
            page.locator("noscript a").click()
    page.locator("table.problems tbody tr").first.wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in*")
    context.close()


MOST_CLICKS = 25


@pytest.mark.parametrize("kind", WINDOWS)
def test_two_tables_of_a_reader_study_become_an_approved_report_in_few_clicks(
    browser: Any, service: tuple[str, str], kind: str
) -> None:
    url, link = service
    clicks = 3  # each of the three signs in
    anna = founder(browser, link, kind)
    people = {name: invited(anna, url, name) for name in ("approver", "reviewer")}
    anna.page.goto(f"{url}/studies")

    def click(visit: Visit, role: str, name: str) -> None:
        nonlocal clicks
        clicks += 1
        visit.page.wait_for_load_state("load")
        visit.page.get_by_role(role, name=name, exact=role == "button").first.click()

    click(anna, "link", "New study")
    anna.fill(name="Reading study")
    clicks += 1  # the two files, chosen at once
    anna.page.set_input_files("[name=files]", [EXAMPLE / "cases.csv", EXAMPLE / "readings.csv"])
    click(anna, "button", "Upload")
    for step in ("who", "arms", "criteria"):
        click(anna, "button", "Save and continue")
        anna.page.wait_for_url(f"**/guide/{step}")
        anna.fits()
    click(anna, "checkbox", "Readers make fewer errors")
    click(anna, "button", "Save and continue")
    anna.page.wait_for_url("**/guide/device")
    anna.types("/device/trade_name", "Example aid")
    anna.types("/intended_use/intended_purpose", "Advise readers of fundus photographs")
    click(anna, "button", "Save the study")
    anna.reads("No problems found in these files.")
    anna.reads("the report will print NOT DECLARED for them")
    click(anna, "button", "Build the report")
    anna.page.wait_for_url("**/reports/*", wait_until="commit")
    assert "criterion" in anna.page.locator(".report-answer").inner_text()
    for name, act in (("reviewer", "I reviewed it"), ("approver", "I approve it")):
        visit = people[name]
        click(visit, "link", "Reports")
        click(visit, "link", "Certification dossier")
        if name == "approver":  # a report that has a statement keeps the form for another one closed
            clicks += 1
            visit.page.get_by_text("Sign a statement on this report", exact=True).click()
        click(visit, "radio", act)
        visit.fill(meaning="Complete.", password=PASSWORD)
        click(visit, "button", "Sign")
        visit.reads("Your statement has been signed")
        assert visit.faults == []
    assert anna.faults == []
    assert clicks <= MOST_CLICKS
    for visit in (anna, *people.values()):
        visit.context.close()


@pytest.mark.parametrize("kind", WINDOWS)
def test_criteria_fixed_before_two_tables_are_uploaded_get_a_verdict(
    browser: Any, service: tuple[str, str], tmp_path: Path, kind: str
) -> None:
    url, link = service
    anna = founder(browser, link, kind)
    clicks = 0

    def click(role: str, name: str) -> None:
        nonlocal clicks
        clicks += 1
        anna.page.wait_for_load_state("load")
        anna.page.get_by_role(role, name=name, exact=role == "button").first.click()

    click("link", "New study")
    anna.fill(name="Planned study")
    click("button", "Start without files")
    click("checkbox", "Readings with and without the device")
    click("checkbox", "The reference standard in a table of its own")
    anna.fits()
    for step in ("who", "arms", "criteria"):
        click("button", "Save and continue")
        anna.page.wait_for_url(f"**/guide/{step}")
        anna.reads("No data yet: fix the criteria first, then upload them.")
        anna.fits()
    click("checkbox", "Readers make fewer errors")
    click("button", "Save and continue")
    anna.page.wait_for_url("**/guide/device")
    anna.types("/device/trade_name", "Example aid")
    click("button", "Save the study")
    anna.reads("No data yet: fix the criteria first, then upload them.")
    assert anna.page.locator("table.problems").count() == 0
    click("link", "Fix the criteria")
    click("button", "Fix the criteria")
    anna.reads("The criteria are fixed, and nothing that they rest on was changed.")
    click("link", "Upload the data")
    anna.page.wait_for_url("**/guide/files")
    for name in ("readings", "cases"):  # in their places, whatever they are called
        clicks += 1
        file = tmp_path / f"{name} (final).csv"
        file.write_bytes((EXAMPLE / f"{name}.csv").read_bytes())
        anna.page.get_by_label(f"{name}.csv: not uploaded yet").set_input_files(file)
    anna.fits()
    click("button", "Upload the data")
    anna.reads("No problems found.")
    click("link", "Version")
    anna.reads("Nothing stands against the verdict on the criterion.")
    anna.page.uncheck("[name=format][value=pdf]")
    click("button", "Build the report")
    anna.page.wait_for_url("**/reports/*", wait_until="commit")
    report = anna.page.url.rpartition("/")[2]
    results = anna.page.request.get(f"{url}/api/v1/reports/{report}/results").json()
    assert [v["verdict"] for v in results["verdicts"]] == ["pass"]
    assert anna.faults == []
    assert clicks <= MOST_CLICKS
    anna.context.close()


def invited(anna: Visit, url: str, role: str) -> Visit:
    """Somebody with a role, who has taken up an invitation."""
    anna.page.goto(f"{url}/admin/users")
    anna.fill(name=role.title(), email=f"{role}@hospital.test")
    anna.page.check(f"[name=role][value={role}]")
    anna.press("Invite")
    invitation = anna.page.locator(".once code").inner_text()
    size = anna.page.viewport_size
    visit = Visit(anna.context.browser, (size["width"], size["height"]))
    visit.page.goto(invitation)
    visit.fill(password=PASSWORD, password_again=PASSWORD)
    visit.press("Save and sign in")
    visit.page.wait_for_url(f"{url}/", wait_until="commit")
    return visit
