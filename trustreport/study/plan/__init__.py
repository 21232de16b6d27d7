"""What was declared about a study: the manifest as frozen models, and what it leaves undeclared.

One class per group of the manifest. Unknown keys are errors. A field marked with the kinds of report that
need it (C certification, P procurement, V vigilance) may be absent; the report then prints NOT DECLARED.
"""

from trustreport.study.plan.analysis import (
    DiagramAxes,
    Endpoint,
    Family,
    RiskLimits,
    Similarity,
    Subgroup,
    UtilityMatrix,
)
from trustreport.study.plan.data import (
    Complexity,
    DatasetFacts,
    HAccuracy,
    Measurement,
    TableFile,
    TimeToEvent,
    VerificationDesign,
)
from trustreport.study.plan.device import (
    CHOSEN_ELSEWHERE,
    CHOSEN_ON_TESTED,
    DAYS_TO_REPORT,
    Amendment,
    Approval,
    Claim,
    Document,
    Incident,
    Indicator,
    Language,
    Question,
    Report,
    Signal,
    SiteContext,
    StudyFacts,
    Vigilance,
)
from trustreport.study.plan.fields import FIRST_YEAR, LAST_YEAR, MOST_CANDIDATES, NOT_DECLARED, Kind, Protocol
from trustreport.study.plan.manifest import (
    EMPTY_IS_SAID,
    LIMIT_ALIASES,
    Plan,
    required,
    undeclared,
    undeclared_fields,
)
from trustreport.study.plan.published import (
    Confusion,
    CountsRow,
    Nomogram,
    PairedCounts,
    PublishedReader,
    PublishedReaders,
    PublishedSite,
    PublishedSites,
    PublishedValue,
    RelianceCounts,
    Reported,
    StudyPool,
)
from trustreport.study.plan.sources import (
    FETCHED,
    SCALES,
    FileForm,
    Pivot,
    TableSource,
    TakenExport,
    Unpivot,
    as_coded,
    as_moment,
    is_one_query,
)

__all__ = ["FIRST_YEAR", "LAST_YEAR", "MOST_CANDIDATES", "NOT_DECLARED", "Kind", "Protocol"]
__all__ += ["CHOSEN_ELSEWHERE", "CHOSEN_ON_TESTED", "DAYS_TO_REPORT", "Amendment", "Approval"]
__all__ += ["Claim", "Document", "Language"]
__all__ += ["Report", "StudyFacts"]
__all__ += ["TimeToEvent", "VerificationDesign"]
__all__ += [
    "FETCHED",
    "SCALES",
    "Complexity",
    "DatasetFacts",
    "FileForm",
    "HAccuracy",
    "Measurement",
    "Pivot",
    "TableFile",
    "TableSource",
    "TakenExport",
    "Unpivot",
    "as_coded",
    "as_moment",
    "is_one_query",
]
__all__ += ["DiagramAxes", "Endpoint", "Family", "RiskLimits", "Similarity", "Subgroup"]
__all__ += ["UtilityMatrix"]
__all__ += ["Incident", "Indicator", "Question", "Signal", "SiteContext", "Vigilance"]
__all__ += ["Confusion", "CountsRow", "Nomogram", "PairedCounts", "PublishedReader"]
__all__ += ["PublishedReaders", "PublishedSite", "PublishedSites", "PublishedValue", "RelianceCounts"]
__all__ += ["Reported", "StudyPool"]
__all__ += ["EMPTY_IS_SAID", "LIMIT_ALIASES", "Plan", "required", "undeclared"]
__all__ += ["undeclared_fields"]
