"""Logs as JSON lines on stderr: what happened, never what was in it.

No query strings, no bodies, no names of files, no texts of exceptions that read data: any of them may name a
patient.
"""

import logging
import sys
from typing import Any

import structlog

SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def log() -> Any:
    """The service's log."""
    return structlog.get_logger("trustreport.service")


def set_up_logs() -> None:
    """JSON lines from here and from the libraries below."""
    structlog.configure(
        processors=[*SHARED, structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("uvicorn.access").disabled = True  # ours has the request's name, and no query


def place_of(error: BaseException) -> str:
    """Kind and place of an exception, without its text: where it arose, and where in our code."""
    trace, places = error.__traceback__, ["?"]
    while trace is not None:
        frame = trace.tb_frame
        places.append(f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}:{trace.tb_lineno}")
        trace = trace.tb_next
    ours = [place for place in places if place.startswith("trustreport.")]
    under = f" under {ours[-1]}" if ours and ours[-1] != places[-1] else ""
    return f"{type(error).__name__} at {places[-1]}{under}"
