"""What is laid out with less work is the same to the byte."""

import pytest
from weasyprint import HTML
from weasyprint.css import ComputedStyle
from weasyprint.text.line_break import Layout

from trustreport.report import faster_layout, pdf_layout

PAGE = """<html lang="en"><title>A</title><style>%s
body { font: 10pt "Report Text"; font-variant-numeric: tabular-nums lining-nums; line-height: 1.4 }
.wide { letter-spacing: 1px } .code { overflow-wrap: anywhere; width: 3em }
</style><h1>One</h1><ul><li>first <b>bold</b></li></ul><details open><summary>more</summary>x</details>
<p class="wide">wide <u>under</u> <a href="#t">table</a></p><p class="code">aaaaaaaaaaaaaaaaaaaaaaaaa</p>
<p lang="fr">deux <i>mots</i></p><table id="t"><tr><th>n<td>0.85 (0.80 to 0.90)<tr><th>m<td>1</table>"""


def test_a_page_has_the_same_bytes_with_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = pdf_layout.PaperText(PAGE % pdf_layout.faces(), "0" * 64, (), pdf_layout.UNDATED)
    lighter = pdf_layout.laid_out(sheet)
    assert faster_layout.page_class() is not HTML  # the version that is installed is the one that is known
    monkeypatch.setattr(Layout, "setup", Layout.setup.__wrapped__)
    monkeypatch.setattr(ComputedStyle, "__missing__", ComputedStyle.__missing__.__wrapped__)
    monkeypatch.setattr(pdf_layout, "page_class", lambda: HTML)
    assert pdf_layout.laid_out(sheet) == lighter
