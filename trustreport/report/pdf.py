"""The report as one PDF, from the same templates as the HTML."""

import threading
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from trustreport.assessment import Assessment
from trustreport.errors import MissingLibrary
from trustreport.report import html
from trustreport.report.figures import Drawn
from trustreport.resources import folder


def render(
    assessment: Assessment, *, results_hash: str, provenance: Mapping[str, Any], drawn: Mapping[str, Drawn]
) -> bytes:
    try:
        import weasyprint
    except OSError as error:
        raise MissingLibrary(str(error)) from error
    fonts = "".join(
        f'@font-face {{ font-family: "Inter"; font-weight: {w}; src: url(file://{folder("templates")}/assets/fonts/Inter-{n}.ttf); }}\n'
        for w, n in ((400, "Regular"), (600, "SemiBold"))
    )
    style = Markup(fonts + html._css("report.css") + html._css("page.css"))
    text = html.body(assessment, medium="page", results_hash=results_hash, provenance=provenance, drawn=drawn, style=style)
    return weasyprint.HTML(string=text).write_pdf()
