"""What the service takes from the statistics and the report beyond `trustreport.api`, and for what.

The API reads, assesses and writes a whole study. The service shows more than whole studies:

- the editor of a manifest reads and checks one while it is typed, and the headers of its tables;
- a report is made with the register of looks that the service keeps, on processes that the service limits;
- the pages calculate, plan and compare without writing any file;
- the record is signed with the key that signs reports.

Each name is loaded when it is asked for, so that a process starts with what it needs and no more.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trustreport.api.sites import Signers, pool_sites, read_site_file, read_sites
    from trustreport.measures.proportion import wilson
    from trustreport.measures.reported.printed import OF_ONE_CLASS, printed
    from trustreport.measures.similarity.features import Run, one_by_one
    from trustreport.planning import SizingRequest, StudySizes, protocol, size_study
    from trustreport.planning.pilot import pilot_parts
    from trustreport.report.calculate import (
        Area,
        Calculation,
        of_counts,
        of_nomogram,
        of_robustness,
        of_scores,
    )
    from trustreport.report.compare import compare
    from trustreport.report.declared import INDEX, label_keys
    from trustreport.report.html import page_one
    from trustreport.report.layout.pipes import seldom_collect
    from trustreport.report.signatures import signing
    from trustreport.report.signatures.signing import Signer, is_signed, name_of, pem_of, read_signers
    from trustreport.report.spreadsheets import cell
    from trustreport.study import lock, proposal
    from trustreport.study.criteria import Bound, bound_of, confirmatory, row_of
    from trustreport.study.identity.pseudonyms import released
    from trustreport.study.ingest.columns import Headers
    from trustreport.study.ingest.contracts import CONTRACTS, TABLE_WORDS, WORDS, our_word
    from trustreport.study.ingest.manifest import MOST_BYTES, TypedFloat, TypedInt, found_in, parse
    from trustreport.study.ingest.problems import Key, KeyPath, Problems, dotted
    from trustreport.study.ingest.reading import read_plan
    from trustreport.study.ingest.tables import Layout, read_table
    from trustreport.study.ingest.validation import plan_of
    from trustreport.study.interop.exports import ExportLimits, is_export, take_export
    from trustreport.study.interop.sql import NotFetched, QueryLimits, fetch, with_driver
    from trustreport.study.next_period import (
        NoNextPeriod,
        enter_events,
        enter_next_period,
        enter_taken,
        proposed_days,
        text_with_period,
    )
    from trustreport.study.plan import (
        DAYS_TO_REPORT,
        FETCHED,
        FIRST_YEAR,
        LAST_YEAR,
        DatasetFacts,
        FileForm,
        Incident,
        Plan,
        Signal,
        TableFile,
        TableSource,
        as_coded,
        undeclared_fields,
    )
    from trustreport.study.proposal.parts import Cells
    from trustreport.study.study import Study

OF_MODULES = {
    "api.sites": "Signers pool_sites read_site_file read_sites",
    "measures.reported.printed": "OF_ONE_CLASS printed",
    "measures.similarity.features": "Run one_by_one",
    "measures.proportion": "wilson",
    "planning": "SizingRequest StudySizes size_study",
    "planning.pilot": "pilot_parts",
    "report.calculate": "Area Calculation of_counts of_nomogram of_robustness of_scores",
    "report.compare": "compare",
    "report.declared": "INDEX label_keys",
    "report.html": "page_one",
    "report.layout.pipes": "seldom_collect",
    "report.signatures.signing": "Signer is_signed name_of pem_of read_signers",
    "report.spreadsheets": "cell",
    "study.criteria": "Bound bound_of confirmatory row_of",
    "study.identity.pseudonyms": "released",
    "study.ingest.columns": "Headers",
    "study.ingest.contracts": "CONTRACTS TABLE_WORDS WORDS our_word",
    "study.ingest.manifest": "MOST_BYTES TypedFloat TypedInt found_in parse",
    "study.ingest.problems": "Key KeyPath Problems dotted",
    "study.ingest.reading": "read_plan",
    "study.ingest.tables": "Layout read_table",
    "study.ingest.validation": "plan_of",
    "study.interop.exports": "ExportLimits is_export take_export",
    "study.interop.sql": "NotFetched QueryLimits fetch with_driver",
    "study.next_period": (
        "NoNextPeriod enter_events enter_next_period enter_taken proposed_days text_with_period"
    ),
    "study.plan": (
        "DAYS_TO_REPORT FETCHED FIRST_YEAR LAST_YEAR DatasetFacts FileForm Incident Plan Signal TableFile "
        "TableSource as_coded undeclared_fields"
    ),
    "study.proposal.parts": "Cells",
    "study.study": "Study",
}
ELSEWHERE = {name: module for module, names in OF_MODULES.items() for name in names.split()}
MODULES = {
    "lock": "study.lock",
    "proposal": "study.proposal",
    "protocol": "planning.protocol",
    "signing": "report.signatures.signing",
}
__all__ = [*ELSEWHERE, *MODULES]


if not TYPE_CHECKING:  # so that mypy knows the names above and no others

    def __getattr__(name: str) -> Any:
        if name in MODULES:
            return import_module(f"trustreport.{MODULES[name]}")
        if name not in ELSEWHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"trustreport.{ELSEWHERE[name]}"), name)
