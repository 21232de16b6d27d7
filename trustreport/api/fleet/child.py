"""The process that builds: reads a task a line from stdin, answers a line each on stdout.

``python -m trustreport.api.fleet.child``. It ends when nobody is left to give it a task, also in the middle
of one, so that no report is built for a run that was ended. Faults are reported by kind and place, never by
the text of an exception, which may quote patients.
"""

import json
import os
import queue
import resource
import sys
import threading
import traceback
from pathlib import Path
from time import perf_counter
from typing import Any

from trustreport.api.fleet import records
from trustreport.report.layout.pipes import seldom_collect


def main() -> None:
    """Build what stdin names, one report after another."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer
    seldom_collect()
    tasks: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    while True:
        answers.write(json.dumps(answer(tasks.get())) + "\n")
        answers.flush()


def _listen(tasks: "queue.SimpleQueue[dict[str, Any]]") -> None:
    for line in sys.stdin.buffer:
        tasks.put(json.loads(line))
    os._exit(0)


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """How a task ended: ``built``, ``current``, or the record of a failure."""
    from trustreport.vocabulary.errors import StudyError

    study = task["study"]
    try:
        return {"status": build(task)}
    except StudyError as error:
        first = str(error.problems[0])
        return records.failed(study, "unreadable", n=len(error.problems), first=first)
    except MemoryError:
        return records.failed(study, "memory")
    except OSError as error:
        return records.failed(study, "files", reason=error.strerror or type(error).__name__)
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__}, {Path(at.filename).name}:{at.lineno}"
        return records.failed(study, "fault", place=place)


def build(task: dict[str, Any]) -> str:
    """Build the report of a study, unless there is one of the same inputs; keep its results and a record."""
    out, name, path, options = Path(task["out"]), task["name"], Path(task["study"]), task["options"]
    if not task["again"] and records.is_current(out, name, path, options):
        return "current"
    began, before = perf_counter(), _cpu_seconds()
    records.forget(out, name)
    from trustreport.api import assess, read_study, record_look, write_report
    from trustreport.api.fleet import facts

    study, plan = read_study(path, allow_outside=options["allow_outside"])
    study = record_look(path, study, plan)
    if options["seed"] is not None:
        drawn = plan.similarity.model_copy(update={"seed": options["seed"]})
        plan = plan.model_copy(update={"similarity": drawn})
    assessment = assess(study, plan)
    folder = records.report_folder(out, name)
    written = write_report(assessment, folder, formats=options["formats"])
    document = json.loads((folder / "results.json").read_bytes())
    of_study = facts.facts_of(assessment, document, task["site"], task["period"])
    n_bytes = facts.write_results(document, of_study, name, records.results_file(out, name))
    inputs = records.hashed(path, (s.file for s in study.sources))
    inputs |= {s.file: s.sha256 for s in study.sources}  # as they were when they were read
    record = {
        "status": "done",
        "study": task["study"],
        "key": records.key_of(inputs, options),
        "inputs": inputs,
        **of_study,
        "not_written": sorted(written.failed),
        "files": sorted(file.relative_to(folder).as_posix() for file in written.files),
        "report_bytes": sum(file.stat().st_size for file in written.files),
        "results_bytes": n_bytes,
        "seconds": round(perf_counter() - began, 3),
        "cpu_seconds": round(_cpu_seconds() - before, 3),
    }
    records.write_record(out, name, record)
    return "built"


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
