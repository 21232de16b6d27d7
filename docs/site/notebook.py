"""The notebook as a page: its words, its code, and what each cell showed when it was last run."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebook.ipynb"


def page(sources: Path) -> str:
    """The notebook as Markdown; its pictures are written into `sources`."""
    parts = []
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    for i, cell in enumerate(cells):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text.replace("# From a table to an assessment\n", "").strip())
            continue
        parts.append(f"```python\n{text}\n```")
        parts += [
            _shown(output["data"], sources / "pictures" / f"notebook-{i}.png") for output in cell["outputs"]
        ]
    return "\n\n".join(parts)


def _shown(data: dict[str, Any], picture: Path) -> str:
    """One output: a picture, else HTML, else text."""
    if "image/png" in data:
        picture.parent.mkdir(exist_ok=True)
        picture.write_bytes(b64decode(data["image/png"]))
        return f"```{{image}} pictures/{picture.name}\n:alt: the figure that this cell shows\n```"
    if "text/html" in data:
        return f'```{{raw}} html\n<div class="output">{"".join(data["text/html"])}</div>\n```'
    return f"```text\n{''.join(data['text/plain'])}\n```"
