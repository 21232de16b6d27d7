"""The report and its annex as PDF, from the templates of the page."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from trustreport.assessment.assess import Assessment
from trustreport.report import html
from trustreport.report.layout.figures import Drawn, Pages
from trustreport.report.layout.pdf_layout import (
    UNDATED,
    Attached,
    PaperText,
    Printed,
    faces,
    legible,
    printed,
)


class Volumes:
    """The report and its annex for paper, of chapters that are made once.

    Parameters
    ----------
    results_hash, provenance, drawn : as for `html.render`
    annexed : where the annex is written beside the report
    """

    def __init__(
        self,
        assessment: Assessment,
        results_hash: str,
        provenance: Mapping[str, Any],
        drawn: Mapping[str, Drawn],
        *,
        annexed: html.Annexed = "file",
    ) -> None:
        self._of = assessment, results_hash, provenance
        self._annexed = annexed
        self._drawn = drawn
        self._made: tuple[set[int], html.Documents] | None = None

    def printed(self, volume: html.Volume, attachments: Sequence[Attached] = ()) -> Printed:
        """One of them as PDF, with files attached, and the page of each of its anchors.

        Parameters
        ----------
        attachments : name, content and description of each file to attach (results.json, the manifest)

        Raises
        ------
        MissingLibrary : Pango is not installed
        """
        return printed(partial(self._text, volume), self._sheet(attachments))

    def paper_text(self, volume: html.Volume, attachments: Sequence[Attached] = ()) -> PaperText:
        """What another process needs to lay one of them out."""
        return self._sheet(attachments, self._text(volume, set()))

    def _sheet(self, attachments: Sequence[Attached], text: str = "") -> PaperText:
        date = self._of[0].plan.report.date
        made = dt.datetime.combine(date, dt.time(), dt.UTC) if date else UNDATED
        return PaperText(text, self._of[1], tuple(attachments), made)

    def _text(self, volume: html.Volume, lacking: set[int]) -> str:
        if self._made is None or self._made[0] != lacking:
            pages = Pages(self._drawn, lambda page: legible(page.decode(), lacking).encode())
            self._made = set(lacking), html.Documents(*self._of, pages, "page", self._annexed)
        sheets = html.style(faces(), self._of[0].plan.report.page, "report.css", "page.css")
        return self._made[1].text(volume, sheets)


def packaged_page(template: str, identifier: str, attachments: Sequence[Attached], **values: Any) -> bytes:
    """A packaged template that is no report as PDF, in the style of one.

    Parameters
    ----------
    identifier : sha256 of what the page shows, in hexadecimal
    attachments : name, content and description of each file to attach
    values : what the template names

    Raises
    ------
    MissingLibrary : Pango is not installed
    """
    sheets = html.style(faces(), "A4", "report.css", "page.css")
    page = html.packaged(template, style=sheets, **values)
    return printed(lambda lacking: page, PaperText(page, identifier, tuple(attachments), UNDATED)).content
