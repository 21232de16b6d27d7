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
    AuditRecord,
    ComparisonRecord,
    DeliveryRecord,
    DeviceRecord,
    DifferenceRecord,
    FileRecord,
    JobRecord,
    LogVerification,
    ProblemRecord,
    ReportRecord,
    ScheduleRecord,
    SideRecord,
    SignatureRecord,
    StudyRecord,
    TimelineRecord,
    VersionRecord,
    WebhookRecord,
)
from trustreport.service.client.webhooks import BadSignature, WebhookEvent, verify_webhook

__all__ = [
    "AuditRecord",
    "BadSignature",
    "Client",
    "ComparisonRecord",
    "DeliveryRecord",
    "DeviceRecord",
    "DifferenceRecord",
    "FileRecord",
    "JobRecord",
    "LogVerification",
    "ProblemRecord",
    "ReportRecord",
    "ScheduleRecord",
    "ServiceError",
    "SideRecord",
    "SignatureRecord",
    "StudyRecord",
    "TimelineRecord",
    "VersionRecord",
    "WebhookEvent",
    "WebhookRecord",
    "verify_webhook",
]
