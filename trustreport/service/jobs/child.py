"""What runs in the limited process: reads one task from stdin, answers in lines of JSON on stdout.

``python -m trustreport.service.jobs.child PARENT``. Nothing that reads data is imported before the limits are
on. Failures are reported by kind and place, never by the text of an exception, which may quote patients.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from trustreport.pipes import seldom_collect
from trustreport.service.jobs.confine import confine, cut_network, die_with, refuse


def main() -> None:
    """Do the task that stdin names."""
    die_with(int(sys.argv[1]))
    seldom_collect()
    task = json.loads(sys.stdin.buffer.read())
    line = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer

    def say(**what: Any) -> None:
        line.write(json.dumps(what) + "\n")
        line.flush()

    work = Path(task["work"])
    cut_network()
    confine(**task["limits"])
    refuse(work, [Path(folder) for folder in task["closed"]])
    try:
        from trustreport.service.jobs.tasks import TASKS

        answer = TASKS[task["task"]](task, work, lambda step, share: say(step=step, share=share))
    except MemoryError:
        megabytes = task["limits"]["memory"] // 1_000_000
        answer = {"failed": f"It needs more than the {megabytes} MB of memory that it may use."}
    except BaseException as error:
        from trustreport.service.log import place_of

        answer = {"failed": f"A fault of the program: {place_of(error)}."}
    say(answer=answer)


if __name__ == "__main__":
    main()
