"""A client of the service, for programs: ``pip install 'trustreport[client]'``.

>>> from trustreport.service.client import Client
>>> client = Client("https://trustreport.example.org", "tr_...")  # doctest: +SKIP
>>> for study in client.studies():  # doctest: +SKIP
...     print(study.id, study.name)
"""

try:
    from trustreport.service.client.client import Client
except ModuleNotFoundError as error:
    if error.name != "httpx2":
        raise
    raise ImportError("The client needs httpx2: pip install 'trustreport[client]'") from error
from trustreport.service.client.errors import ServiceError
from trustreport.service.client.records import (
    AttestationResponse,
    AuditEntry,
    CriteriaResponse,
    DeliveryResponse,
    DeviceResponse,
    DifferenceResponse,
    FileResponse,
    FixedResponse,
    JobResponse,
    Moment,
    ProblemResponse,
    PsurCount,
    PsurExport,
    ReportComparison,
    ReportResponse,
    ScheduleResponse,
    Side,
    StudyResponse,
    TrendPoint,
    Verification,
    VersionResponse,
    VigilanceChangeResponse,
    VigilanceEntryResponse,
    WebhookResponse,
)
from trustreport.service.client.webhooks import BadSignature, WebhookEvent, verify_webhook

__all__ = [
    "AttestationResponse",
    "AuditEntry",
    "BadSignature",
    "Client",
    "CriteriaResponse",
    "DeliveryResponse",
    "DeviceResponse",
    "DifferenceResponse",
    "FileResponse",
    "FixedResponse",
    "JobResponse",
    "Moment",
    "ProblemResponse",
    "PsurCount",
    "PsurExport",
    "ReportComparison",
    "ReportResponse",
    "ScheduleResponse",
    "ServiceError",
    "Side",
    "StudyResponse",
    "TrendPoint",
    "Verification",
    "VersionResponse",
    "VigilanceChangeResponse",
    "VigilanceEntryResponse",
    "WebhookEvent",
    "WebhookResponse",
    "verify_webhook",
]
