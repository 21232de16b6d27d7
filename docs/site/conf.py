"""What Sphinx is given: plain Markdown pages in, pages that load nothing from anywhere out."""

import re
from collections.abc import Iterator
from typing import Any

import trustreport

project = "trustreport"
author = "The trustreport developers"
release = version = trustreport.__version__
html_title = "trustreport"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 4  # links to headings are those of the repository's own view

html_theme = "furo"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_permalinks_icon = "#"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
python_display_short_literal_types = True
python_maximum_signature_line_length = 80
add_module_names = False
pygments_style = "friendly"
pygments_dark_style = "monokai"


SECTIONS = {"Parameters": "param", "Returns": "returns", "Raises": "raises"}
ITEM = re.compile(r"^(?P<name>\w[\w ,.]*?) : (?P<text>.*)$")


def as_fields(lines: list[str]) -> Iterator[str]:
    """A docstring of this project as a list of fields: under a section, `name : what it is` on each line."""
    section = ""
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and set(lines[i + 1].strip()) == {"-"} and line.strip() in SECTIONS:
            section = SECTIONS[line.strip()]
        elif line.strip() and set(line.strip()) == {"-"}:
            continue
        elif section and (item := ITEM.match(line)):
            yield f":{section} {item['name']}: {item['text']}"
        else:
            yield line


def setup(app: Any) -> None:
    """Read docstrings as they are written here."""

    def process(app: Any, what: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
        lines[:] = as_fields(list(lines))

    app.connect("autodoc-process-docstring", process)
