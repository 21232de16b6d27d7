"""Run the notebooks of this folder and write what each cell shows; or check that it still does.

    python docs/execute.py [--check]

A cell shows the value of its last line, as in Jupyter: HTML where the object has it, a picture of a figure,
else its repr. Pictures are not compared.
"""

import argparse
import ast
import json
import os
import sys
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def outputs(cells: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """What each code cell shows, run in order in one namespace."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    found = []
    for cell in cells:
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), namespace)  # noqa: S102 -- our own notebook
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)  # noqa: S307 -- as above
        found.append([] if value is None else [_output(value)])
    return found


def _output(value: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "savefig"):
        file = BytesIO()
        value.savefig(file, format="png", dpi=80, metadata={"Software": None})
        data = {"image/png": b64encode(file.getvalue()).decode(), "text/plain": ["a figure"]}
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def compared(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Outputs without their pictures."""
    return [{k: v for k, v in one["data"].items() if k != "image/png"} for one in shown]


def main() -> None:
    """Write the notebooks anew, or say which cells show something else."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    os.chdir(HERE.parent)
    changed = []
    for file in sorted(HERE.glob("*.ipynb")):
        notebook = json.loads(file.read_text("utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for i, (cell, shown) in enumerate(zip(cells, outputs(cells)), 1):
            if compared(cell["outputs"]) != compared(shown):
                changed.append(f"{file.name}: code cell {i} shows something else")
            cell.update(outputs=shown, execution_count=i)
        if not check:
            file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if check and changed:
        sys.exit("\n".join([*changed, "Run python docs/execute.py and look at what changed."]))


if __name__ == "__main__":
    main()
