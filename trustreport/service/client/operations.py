"""Operations of the API, declared once: the service makes routes of them, and the client asks by them."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter

from trustreport.service.client import records
from trustreport.service.client.records import Page

R = TypeVar("R")
API = "/api/v1"


@dataclass(frozen=True)  # Generic and slots do not go together before Python 3.12
class Operation(Generic[R]):
    """One method of one path below `API`.

    Attributes
    ----------
    answer : what comes as JSON; None where it is a file or nothing
    repeatable : whether sending it twice does no more than once; by the method where None
    """

    method: str
    path: str
    answer: type[R] | None = None
    status: int = 200
    repeatable: bool | None = None

    def address(self, **names: str) -> str:
        """Where it is asked for, with the names of rows and files.

        >>> VERSION_FILE.address(version="v", name="tables/a b.csv")
        '/api/v1/versions/v/files/tables/a%20b.csv'
        """
        return API + self.path.replace(":path", "").format(**{name: quote(names[name]) for name in names})

    def read(self, found: Any) -> R:
        """What a service has answered."""
        assert self.answer is not None
        return TypeAdapter(self.answer).validate_python(found)


STUDIES = Operation("GET", "/studies", Page[records.StudyResponse])
CREATE_STUDY = Operation("POST", "/studies", records.StudyResponse, 201)
STUDY = Operation("GET", "/studies/{study}", records.StudyResponse)
VERSIONS = Operation("GET", "/studies/{study}/versions", Page[records.VersionResponse])
UPLOAD = Operation("POST", "/studies/{study}/versions", records.VersionResponse, 202)
UPLOAD_ZIP = Operation("POST", "/studies/{study}/versions/zip", records.VersionResponse, 202)
VERSION = Operation("GET", "/versions/{version}", records.VersionResponse)
PROBLEMS = Operation("GET", "/versions/{version}/problems", Page[records.ProblemResponse])
VERSION_FILES = Operation("GET", "/versions/{version}/files", Page[records.FileResponse])
VERSION_FILE = Operation[Any]("GET", "/versions/{version}/files/{name:path}")
CRITERIA = Operation("GET", "/studies/{study}/criteria", records.CriteriaResponse)
FIX_CRITERIA = Operation("POST", "/studies/{study}/criteria", records.FixedResponse, 201)
DECLARE_CRITERIA = Operation("POST", "/studies/{study}/criteria/document", records.FixedResponse, 201)
COUNTERSIGN = Operation("POST", "/fixed-criteria/{fixing}/countersignature", records.FixedResponse)
REQUEST_REPORT = Operation("POST", "/versions/{version}/jobs", records.JobResponse, 201, repeatable=True)
JOBS = Operation("GET", "/jobs", Page[records.JobResponse])
JOB = Operation("GET", "/jobs/{job}", records.JobResponse)
CANCEL = Operation("POST", "/jobs/{job}/cancel", records.JobResponse, 202, repeatable=True)
REPORTS = Operation("GET", "/reports", Page[records.ReportResponse])
REPORT = Operation("GET", "/reports/{report}", records.ReportResponse)
RESULTS = Operation[Any]("GET", "/reports/{report}/results")
REPORT_FILES = Operation("GET", "/reports/{report}/files", Page[records.FileResponse])
REPORT_FILE = Operation[Any]("GET", "/reports/{report}/files/{name:path}")
SIGNATURES = Operation("GET", "/reports/{report}/attestations", Page[records.AttestationResponse])
STATEMENT = Operation[Any]("GET", "/attestations/{attestation}/statement")
COMPARE = Operation("GET", "/comparisons", records.ComparisonPage)
DEVICES = Operation("GET", "/devices", Page[records.DeviceResponse])
CONTINUE_DEVICE = Operation("POST", "/devices/{device}/same-as", records.DeviceResponse)
TIMELINE = Operation("GET", "/devices/{device}/timeline", Page[records.Moment])
SCHEDULES = Operation("GET", "/schedules", Page[records.ScheduleResponse])
INCIDENTS = Operation("GET", "/devices/{device}/incidents", Page[records.VigilanceEntryResponse])
REGISTER_INCIDENT = Operation("POST", "/devices/{device}/incidents", records.VigilanceEntryResponse, 201)
IMPORT_INCIDENTS = Operation(
    "POST", "/devices/{device}/incidents/import", list[records.VigilanceEntryResponse]
)
CHANGE_INCIDENT = Operation("POST", "/incidents/{entry}/changes", records.VigilanceEntryResponse)
INCIDENT_CHANGES = Operation("GET", "/incidents/{entry}/changes", Page[records.VigilanceChangeResponse])
PSUR = Operation("GET", "/devices/{device}/psur", records.PsurExport)
AUDIT_LOG = Operation("GET", "/audit", Page[records.AuditEntry])
VERIFY_AUDIT_LOG = Operation("GET", "/audit/verification", records.Verification)
WEBHOOKS = Operation("GET", "/webhooks", Page[records.WebhookResponse])
ADD_WEBHOOK = Operation("POST", "/webhooks", records.CreatedWebhook, 201)
REMOVE_WEBHOOK = Operation[None]("DELETE", "/webhooks/{webhook}", status=204)
TEST_WEBHOOK = Operation("POST", "/webhooks/{webhook}/test", records.DeliveryResponse, 202)
DELIVERIES = Operation("GET", "/webhooks/{webhook}/deliveries", Page[records.DeliveryResponse])
SEND_AGAIN = Operation(
    "POST",
    "/webhooks/{webhook}/deliveries/{delivery}/again",
    records.DeliveryResponse,
    202,
    repeatable=True,
)
