"""The client: a method for each thing that a hospital's script does."""

import base64
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import httpx2

from trustreport.service.client import operations as op
from trustreport.service.client import records
from trustreport.service.client.errors import ServiceError
from trustreport.service.client.files import pack, write_whole
from trustreport.service.client.service_requests import ServiceRequests
from trustreport.service.client.transport import Transport

IN_MEMORY = 10_000_000  # bytes of a zip that is made; a larger one is written to the disk
A_BLOCK = 65_536


class Client(ServiceRequests):
    """A service, seen with an API token.

    Parameters
    ----------
    url : where the service is, ``https://trustreport.example.org``
    token : an API token (``tr_...``), made on the page of one's account
    timeout : seconds that one answer may take
    retries : how often a request is sent again that may safely be: those that only read, and those that do
        no more when they come twice. An upload is never repeated.
    http : a client of httpx2 to use instead of one of its own, such as one with a proxy or with certificates
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 60.0,
        retries: int = 4,
        http: httpx2.Client | None = None,
    ) -> None:
        self._owns = http is None
        self._http = http or httpx2.Client(base_url=url.rstrip("/"), timeout=timeout)
        self._transport = Transport(self._http, token, retries)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, unless they are of a client that was given."""
        if self._owns:
            self._http.close()

    def call(self, method: str, path: str, *, idempotent: bool | None = None, **more: Any) -> Any:
        """What any operation of the API answers; for those that no method here is for.

        JSON comes as what it holds, anything else (a zip, CSV, a statement) as bytes.

        >>> client.call("GET", "/api/v1/session")["permissions"]
        ['manage', 'read', 'write']
        """
        response = self._transport.request(method, path, idempotent=idempotent, **more)
        if response.headers.get("Content-Type", "").partition(";")[0] not in ("", "application/json"):
            return response.content
        return response.json() if response.content else None

    # Studies and what is uploaded

    def studies(self) -> Iterator[records.StudyResponse]:
        """All studies, the newest first.

        >>> [study.name for study in client.studies()][-1]
        'Chest readings'
        """
        return self._pages(op.STUDIES)

    def study(self, study: str) -> records.StudyResponse:
        """One study."""
        return self._ask(op.STUDY, study=study)

    def create_study(self, name: str) -> records.StudyResponse:
        """A new study, without data yet.

        >>> client.create_study("Chest CT, spring").name
        'Chest CT, spring'
        """
        return self._ask(op.CREATE_STUDY, {"name": name})

    def upload(self, study: str, source: Path | str | Iterable[Path | str]) -> records.VersionResponse:
        """Upload a new version of a study: its folder, a zip of it, or its files one by one.

        Parameters
        ----------
        source : a folder (its hidden files and links are left out), a file that ends with .zip, or files

        Examples
        --------
        >>> client.upload(study, folder).state
        'checking'
        """
        with ExitStack() as stack:
            if isinstance(source, str | Path) and Path(source).is_dir():
                stream: Any = stack.enter_context(tempfile.SpooledTemporaryFile(IN_MEMORY))
                pack(Path(source), stream)
            elif isinstance(source, str | Path) and Path(source).suffix.lower() == ".zip":
                stream = stack.enter_context(Path(source).open("rb"))
            else:
                files = [Path(file) for file in ([source] if isinstance(source, str | Path) else source)]
                parts = [("files", (file.name, stack.enter_context(file.open("rb")))) for file in files]
                return op.UPLOAD.read(self._send(op.UPLOAD, {"files": parts}, study=study).json())
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            headers = {"Content-Type": "application/zip", "Content-Length": str(size)}
            sent = {"content": iter(lambda: stream.read(A_BLOCK), b""), "headers": headers}
            return op.UPLOAD_ZIP.read(self._send(op.UPLOAD_ZIP, sent, study=study).json())

    def versions(self, study: str) -> Iterator[records.VersionResponse]:
        """All versions of a study, the newest first."""
        return self._pages(op.VERSIONS, study=study)

    def version(self, version: str) -> records.VersionResponse:
        """One version."""
        return self._ask(op.VERSION, version=version)

    def wait_for_check(
        self,
        version: str,
        *,
        timeout: float = 900,
        on_progress: Callable[[records.VersionResponse], None] = lambda version: None,
    ) -> records.VersionResponse:
        """A version once its check is through; `problems` lists what was found.

        Raises
        ------
        TimeoutError : it took longer than `timeout` seconds

        Examples
        --------
        >>> client.wait_for_check(version).state
        'valid'
        """
        return self._waited(
            op.VERSION, lambda found: found.state != "checking", timeout, on_progress, version=version
        )

    def problems(self, version: str) -> Iterator[records.ProblemResponse]:
        """Every problem that the check of a version found, by file and row.

        >>> for problem in client.problems(version):
        ...     print(problem)
        """
        return self._pages(op.PROBLEMS, version=version)

    def version_files(self, version: str) -> Iterator[records.FileResponse]:
        """The files of a version."""
        return self._pages(op.VERSION_FILES, version=version)

    def download_version(
        self, version: str, folder: Path | str, names: Iterable[str] | None = None
    ) -> list[Path]:
        """Save the files of a version as they were uploaded, like `download`."""
        return self._download(op.VERSION_FILES, op.VERSION_FILE, Path(folder), names, version=version)

    # Criteria fixed in advance

    def criteria(self, study: str) -> records.CriteriaResponse:
        """What is fixed of a study, and which verdicts its newest version would not be given.

        >>> client.criteria(study).withheld
        []
        """
        return self._ask(op.CRITERIA, study=study)

    def fix_criteria(self, study: str, reason: str = "") -> records.FixedResponse:
        """Fix the criteria of the newest version before data are there; with a `reason`, amend them.

        Raises
        ------
        ServiceError : data are there already, or nothing can be fixed; `detail` says why
        """
        return self._ask(op.FIX_CRITERIA, {"reason": reason}, study=study)

    def declare_criteria(
        self, study: str, document: Path | str, *, fixed_on: date, data_opened_on: date
    ) -> records.FixedResponse:
        """Declare that the criteria were fixed elsewhere, with the document that shows it."""
        file = Path(document)
        said = {"name": file.name, "content": base64.b64encode(file.read_bytes()).decode()}
        said |= {"fixed_on": fixed_on.isoformat(), "data_opened_on": data_opened_on.isoformat()}
        return self._ask(op.DECLARE_CRITERIA, said, study=study)

    def countersign(self, fixing: str, password: str) -> records.FixedResponse:
        """Countersign what somebody else fixed, with one's own password."""
        return self._ask(op.COUNTERSIGN, {"password": password}, fixing=fixing)

    # Jobs and reports

    def request_report(
        self,
        version: str,
        *,
        kind: Literal["certification", "procurement", "vigilance"] | None = None,
        formats: Sequence[str] = ("html", "pdf", "json"),
        release: Literal["internal", "public"] | None = None,
        seed: int | None = None,
    ) -> records.JobResponse:
        """Request a report of a valid version. The same version, options and program are the same job.

        >>> job = client.request_report(version, formats=["json"])
        >>> client.request_report(version, formats=["json"]).id == job.id
        True
        """
        asked = {"kind": kind, "formats": list(formats), "release": release, "seed": seed}
        return self._ask(op.REQUEST_REPORT, asked, version=version)

    def jobs(self, *, state: str | None = None, study: str | None = None) -> Iterator[records.JobResponse]:
        """All jobs, the newest first; those in one state or of one study."""
        return self._pages(op.JOBS, {"state": state, "study": study})

    def job(self, job: str) -> records.JobResponse:
        """One job."""
        return self._ask(op.JOB, job=job)

    def cancel(self, job: str) -> records.JobResponse:
        """Ask that a job stops; one that has ended stays as it is."""
        return self._ask(op.CANCEL, job=job)

    def wait_for_report(
        self,
        job: str,
        *,
        timeout: float = 7200,
        on_progress: Callable[[records.JobResponse], None] = lambda job: None,
    ) -> records.ReportResponse:
        """The report of a job, once it is made; asks as often as the service says.

        Parameters
        ----------
        on_progress : called with the job each time it was asked for

        Raises
        ------
        ServiceError : the job failed or was cancelled; `detail` is the reason
        TimeoutError : it took longer than `timeout` seconds; the job goes on

        Examples
        --------
        >>> made = client.wait_for_report(job, on_progress=lambda job: None)
        >>> made.facts["verdicts"]
        {}
        """
        ended = ("done", "failed", "cancelled")
        found = self._waited(op.JOB, lambda job: job.state in ended, timeout, on_progress, job=job)
        if found.report is None:
            raise ServiceError(0, f"The job is {found.state}", found.reason or f"It is job {found.id}.")
        return self.report(found.report)

    def reports(self, *, study: str | None = None) -> Iterator[records.ReportResponse]:
        """All reports, the newest first; those of one study."""
        return self._pages(op.REPORTS, {"study": study})

    def report(self, report: str) -> records.ReportResponse:
        """One report."""
        return self._ask(op.REPORT, report=report)

    def results(self, report: str) -> dict[str, Any]:
        """The results of a report, `results.json`.

        >>> client.results(report)["study"]["title"]
        'Counts'
        """
        found: dict[str, Any] = self._send(op.RESULTS, report=report).json()
        return found

    def report_files(self, report: str) -> Iterator[records.FileResponse]:
        """The files of a report: report.html, report.pdf, annex.pdf where it was requested, results.json."""
        return self._pages(op.REPORT_FILES, report=report)

    def download(self, report: str, folder: Path | str, names: Iterable[str] | None = None) -> list[Path]:
        """Save files of a report into a folder, all of them where no names are given.

        Each is compared with the SHA-256 that the service has of it before it gets its name.

        >>> sorted(file.name for file in client.download(report, out))
        ['manifest.sha256', 'results.json', 'run.json']
        """
        return self._download(op.REPORT_FILES, op.REPORT_FILE, Path(folder), names, report=report)

    def signatures(self, report: str) -> Iterator[records.AttestationResponse]:
        """Reviews, approvals and rejections of a report."""
        return self._pages(op.SIGNATURES, report=report)

    def download_statements(self, report: str, folder: Path | str) -> list[Path]:
        """Save the signed statements beside a report's files, where `trustreport verify` checks them."""
        saved = []
        for signature in self.signatures(report):
            statement = self._send(op.STATEMENT, attestation=signature.id)
            target = Path(folder) / f"{signature.act}.json"
            write_whole(target, statement.content)
            write_whole(target.with_name(f"{target.name}.sig"), base64.b64decode(signature.signature))
            saved.append(target)
        return saved

    def compare(self, old: str, new: str) -> records.ReportComparison:
        """What changed from one report to another.

        >>> client.compare(report, report).differences
        ()
        """
        *_, last = pages = list(self._parts(op.COMPARE, {"old": old, "new": new}))
        differences = tuple(one for page in pages for one in page.items)
        return records.ReportComparison(old=last.old, new=last.new, same=last.same, differences=differences)

    # Devices over time

    def devices(self) -> Iterator[records.DeviceResponse]:
        """All devices of which a study was uploaded."""
        return self._pages(op.DEVICES)

    def continue_device(self, device: str, continued: str) -> records.DeviceResponse:
        """Say that a device is another one, `continued`, under a new UDI: what it has becomes the other's."""
        return self._ask(op.CONTINUE_DEVICE, {"device": continued}, device=device)

    def timeline(self, device: str) -> Iterator[records.Moment]:
        """The reports of a device, the newest first, with their periods.

        >>> [entry.software_version for entry in client.timeline(device)]
        ['1.0']
        """
        return self._pages(op.TIMELINE, device=device)

    def schedules(self) -> Iterator[records.ScheduleResponse]:
        """All periodic audits."""
        return self._pages(op.SCHEDULES)

    # Incidents and signals of devices

    def incidents(
        self, device: str, *, group: Literal["incidents", "signals"] | None = None
    ) -> Iterator[records.VigilanceEntryResponse]:
        """The incidents and signals of a device, the newest first."""
        return self._pages(op.INCIDENTS, {"group": group}, device=device)

    def register_incident(
        self,
        device: str,
        facts: Mapping[str, Any],
        *,
        group: Literal["incidents", "signals"] = "incidents",
        name: str = "",
    ) -> records.VigilanceEntryResponse:
        """Register an incident, complaint or signal; without a name it gets the next one.

        >>> facts = {"awareness_date": "2026-09-01", "seriousness": "serious"}
        >>> made = client.register_incident(device, facts)
        >>> made.name, str(made.deadline)
        ('I-1', '2026-09-16')
        """
        asked = {"group": group, "name": name, "facts": dict(facts)}
        return self._ask(op.REGISTER_INCIDENT, asked, device=device)

    def import_incidents(self, device: str) -> list[records.VigilanceEntryResponse]:
        """Take over what the newest manifest of a device has and its register has not."""
        return self._ask(op.IMPORT_INCIDENTS, device=device)

    def change_incident(
        self,
        entry: records.VigilanceEntryResponse,
        act: Literal["change", "assess", "link", "close", "reopen"],
        facts: Mapping[str, Any] = MappingProxyType({}),
        *,
        reason: str = "",
    ) -> records.VigilanceEntryResponse:
        """Change an incident or signal; a `ServiceError` (409) says where it has changed since."""
        asked = {"number": entry.number, "act": act, "facts": dict(facts), "reason": reason}
        return self._ask(op.CHANGE_INCIDENT, asked, entry=entry.id)

    def incident_changes(self, entry: str) -> Iterator[records.VigilanceChangeResponse]:
        """Every change of an incident or signal, the newest first."""
        return self._pages(op.INCIDENT_CHANGES, entry=entry)

    def psur(self, device: str, since: str = "", until: str = "") -> records.PsurExport:
        """The incidents and signals of a period, for a PSUR: counts, then every one."""
        return self._ask(op.PSUR, {"since": since, "until": until}, device=device)

    # The record

    def audit_log(self, *, subject: str | None = None) -> Iterator[records.AuditEntry]:
        """The audit log, the newest entry first; what concerns one study, report or user.

        >>> next(client.audit_log(subject=report)).action
        'report.made'
        """
        return self._pages(op.AUDIT_LOG, {"subject": subject})

    def verify_audit_log(self) -> records.Verification:
        """Have every hash of the audit log computed anew and compared with all that was signed.

        >>> client.verify_audit_log().faults
        []
        """
        return self._ask(op.VERIFY_AUDIT_LOG)

    # Webhooks

    def webhooks(self) -> Iterator[records.WebhookResponse]:
        """All webhooks."""
        return self._pages(op.WEBHOOKS)

    def add_webhook(self, url: str, events: Sequence[str]) -> tuple[records.WebhookResponse, str]:
        """Register an address that events are sent to; the webhook, and its secret, which is shown once.

        >>> webhook, secret = client.add_webhook("https://example.org/trustreport", ["report.made"])
        >>> secret[:6]
        'whsec_'
        """
        made = self._ask(op.ADD_WEBHOOK, {"url": url, "events": list(events)})
        return made.webhook, made.secret

    def remove_webhook(self, webhook: str) -> None:
        """Remove a webhook; what waits is not sent."""
        self._send(op.REMOVE_WEBHOOK, webhook=webhook)

    def test_webhook(self, webhook: str) -> records.DeliveryResponse:
        """Have an event of the kind `webhook.test` sent."""
        return self._ask(op.TEST_WEBHOOK, webhook=webhook)

    def deliveries(self, webhook: str) -> Iterator[records.DeliveryResponse]:
        """What was sent, waits or was given up, the newest first."""
        return self._pages(op.DELIVERIES, webhook=webhook)

    def send_again(self, webhook: str, delivery: str) -> records.DeliveryResponse:
        """Have an event sent again, under the same id."""
        return self._ask(op.SEND_AGAIN, webhook=webhook, delivery=delivery)
