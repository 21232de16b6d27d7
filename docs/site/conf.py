"""What Sphinx is given: plain Markdown pages in, pages that load nothing from anywhere out."""

import trustreport

project = "trustreport"
author = "The trustreport developers"
release = version = trustreport.__version__
html_title = "trustreport"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
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
autodoc_class_signature = "mixed"
python_display_short_literal_types = True
python_maximum_signature_line_length = 80
add_module_names = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
