"""Times calls (CPU seconds) in a process of its own, told by lines of JSON: `python worker.py ours|theirs`.

    {"do": "open", "name": ..., "folder": ...}   get ready, first call: outputs into the folder, seconds back
    {"do": "time", "number": ...}                seconds of a call, mean of so many
    {"do": "version", "name": ...}               of a distribution

Inputs are FOLDER/*.npy. What is printed by others goes to standard error. The folder above is kept off the
path: it has a module of the name of the package coverage, which numba imports.
"""

import json
import os
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent


def package() -> None:
    """Make `compared` known by its own folder."""
    sys.path.remove(str(HERE))
    places = [str(HERE)]
    spec = spec_from_file_location("compared", HERE / "__init__.py", submodule_search_locations=places)
    assert spec is not None
    sys.modules["compared"] = module_from_spec(spec)


def seconds(call: Any, number: int) -> float:
    """Mean of so many calls."""
    start = process_time()
    for _ in range(number):
        call()
    return (process_time() - start) / number


def main() -> None:
    """Answer each line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    package()
    side, call = import_module(f"compared.{sys.argv[1]}"), None
    for line in sys.stdin:
        asked = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            if asked["do"] == "open":
                folder = Path(asked["folder"])
                inputs = {path.stem: np.load(path) for path in folder.glob("*.npy")}
                call = getattr(side, asked["name"])(inputs)
                start = process_time()
                found = call()
                answer["seconds"] = process_time() - start
                np.savez(folder / f"{asked['name']}.npz", **{k: np.asarray(v) for k, v in found.items()})
            elif asked["do"] == "time":
                answer["seconds"] = seconds(call, asked["number"])
            else:
                answer["version"] = version(asked["name"])
        except Exception as problem:  # whatever a peer raises is said, and the next one goes on
            answer["error"] = f"{type(problem).__name__}: {problem}"
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
