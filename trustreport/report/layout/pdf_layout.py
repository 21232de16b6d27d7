"""Lays out HTML as PDF: PDF/A-3a and PDF/UA-1, the same bytes every time.

It knows nothing of reports, so that a process that only lays out imports none of what makes them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trustreport.figures.style import SIGNS_FACE, TEXT_FACE
from trustreport.report.doctor import INSTALL
from trustreport.vocabulary.errors import MissingLibrary
from trustreport.vocabulary.resources import folder

Attached = tuple[str, bytes, str]  # name, content, description

# Faces of the text, and those for what they lack.
FACES = (
    (TEXT_FACE, 400, "Inter-Regular.ttf"),
    (TEXT_FACE, 600, "Inter-SemiBold.ttf"),
    (SIGNS_FACE, 400, "DejaVuSans.ttf"),
    (SIGNS_FACE, 600, "DejaVuSans-Bold.ttf"),
    ("Report Mono", 400, "DejaVuSansMono.ttf"),
    ("Report Mono", 600, "DejaVuSansMono-Bold.ttf"),
)
NO_SIGN = "\N{REPLACEMENT CHARACTER}"
UNSURE_END = b"\r\nendstream"
MOST_SPARE = 8  # tries; one in 128 needs a second
LARGEST_URL = 20_000_000  # characters of a data URL: a figure that is larger is a mistake
UNDATED = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)  # of attachments, where the manifest has no date

UA_NAMESPACE = "http://www.aiim.org/pdfua/ns/id/"
# PDF/A allows a property of XMP only if its schema is described; that of PDF/UA-1 is not a known one.
UA_METADATA = f"""
<rdf:Description rdf:about="" xmlns:pdfuaid="{UA_NAMESPACE}" pdfuaid:part="1"/>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
  xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>PDF/UA Universal Accessibility Schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>{UA_NAMESPACE}</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name>
<pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>Part of ISO 14289 that the file follows</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
""".encode()


@dataclass(frozen=True, slots=True)
class Printed:
    """A PDF, and on which of its pages each anchor is."""

    content: bytes
    pages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PaperText:
    """HTML to be laid out on paper: its text, what it is known by, what is attached to it, its day."""

    text: str
    identifier: str
    attachments: tuple[Attached, ...]
    made: dt.datetime


def laid_out(sheet: PaperText) -> Printed | None:
    """A sheet as PDF; none where no font has one of its signs, for which its text must be made anew."""
    lacks = False

    def text(lacking: set[int]) -> str:
        nonlocal lacks
        lacks = bool(lacking)
        return sheet.text

    made = printed(text, sheet)
    return None if lacks else made


def printed(text: Callable[[set[int]], str], sheet: PaperText) -> Printed:
    """A text of HTML as PDF; it is given the signs that no font has, once they are known."""
    weasyprint = weasyprint_module()
    fetch = fetcher()
    options = {
        **weasyprint.DEFAULT_OPTIONS,
        "pdf_variant": "pdf/a-3a",
        "pdf_tags": True,
        "pdf_identifier": sheet.identifier.encode(),
    }
    lacking: set[int] = set()

    def rendered() -> Any:
        page = weasyprint.HTML(string=legible(text(lacking), lacking), url_fetcher=fetch)
        return page.render(**options)

    def written(document: Any) -> bytes:
        for spare in range(MOST_SPARE):
            files = _attachments(sheet.made, sheet.attachments, fetch)  # each can be read once
            finisher = partial(finish, spare=spare)
            pdf: bytes = document.write_pdf(finisher=finisher, **{**options, "attachments": files})
            if UNSURE_END not in pdf:
                break
        return pdf

    def finish(document: Any, pdf: Any, spare: int) -> None:
        lacking.update(sign for font in document.fonts.values() for sign in font.missing)
        _declare_accessible(pdf)
        settle(pdf, spare)

    try:
        document = rendered()
        pdf = written(document)
        if lacking:  # a sign that no font has would be an empty box, which PDF/A forbids
            document = rendered()
            pdf = written(document)
        return Printed(pdf, _pages_of(document))
    except weasyprint.urls.FatalURLFetchingError as error:  # a BaseException: it would pass by every handler
        raise RuntimeError(f"the report asked for something outside itself: {error}") from error


def _pages_of(document: Any) -> dict[str, int]:
    """The page of each anchor, counted from 1; of one on several pages the first."""
    found: dict[str, int] = {}
    for number, page in enumerate(document.pages, 1):
        for anchor in page.anchors:
            found.setdefault(anchor, number)
    return found


def _attachments(made: dt.datetime, attached: Sequence[Attached], fetch: Any) -> list[Any]:
    weasyprint = weasyprint_module()
    return [
        weasyprint.Attachment(
            string=content,
            name=name,
            description=description,
            relationship="Data",
            created=made,
            modified=made,
            url_fetcher=fetch,
        )
        for name, content, description in attached
    ]


def legible(text: str, lacking: set[int]) -> str:
    """The text with a sign of its own in place of those that no font has."""
    return text.translate(dict.fromkeys(lacking, NO_SIGN))


def weasyprint_module() -> Any:
    """WeasyPrint, which sets labels of figures as a whole; `MissingLibrary` where Pango is not installed."""
    try:
        import weasyprint
        from weasyprint import svg
    except OSError as error:
        raise MissingLibrary(f"PDF writing needs libpango: {INSTALL}") from error
    if not isinstance(getattr(svg, "text", None), _InOne) and hasattr(svg, "TAGS"):
        in_one = _InOne(svg.text)
        svg.TAGS.update((tag, in_one) for tag, draw in svg.TAGS.items() if draw is svg.text)
        svg.text = in_one
    return weasyprint


class _InOne:
    """How WeasyPrint sets the text of an SVG, but all of a label at once.

    It goes letter by letter, so that there is no kerning, labels outgrow the place that was measured for
    them, and setting them takes ten times as long.
    """

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def __call__(self, image: Any, node: Any, size: float) -> None:
        node._etree_node.text = _Whole(node.text or "")
        self._draw(image, node, size)


class _Whole(str):
    """Text that is gone through in one step."""

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        if self:
            yield str(self)


def faces() -> str:
    """The style that declares the embedded fonts."""
    return "".join(
        f'@font-face {{ font-family: "{family}"; font-weight: {weight}; src: url(asset:{file}); }}\n'
        for family, weight, file in FACES
    )


@cache
def assets() -> dict[str, Path]:
    """The files that the document may load, by the name that it gives them."""
    ours = folder("templates") / "assets" / "fonts"
    spec = find_spec("matplotlib")  # its fonts are wanted, not the time that its import takes
    theirs = Path(spec.origin if spec and spec.origin else "").parent / "mpl-data" / "fonts" / "ttf"
    if not theirs.is_dir():
        import matplotlib

        theirs = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return {f"asset:{file}": (ours if file.startswith("Inter") else theirs) / file for _, _, file in FACES}


def fetcher() -> Any:
    """A fetcher for data within the document and for packaged assets; anything else stops the report."""
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class Packaged(URLFetcher):
        def fetch(self, url: str, headers: Any = None) -> Any:
            if url in assets():
                return URLFetcherResponse(url, assets()[url].read_bytes(), {"Content-Type": "font/ttf"})
            if len(url) > LARGEST_URL:
                raise ValueError(f"a data URL of {len(url):,} characters")
            return super().fetch(url, headers)

    return Packaged(allowed_protocols={"data"}, allow_redirects=False, fail_on_errors=True)


def settle(pdf: Any, spare: int) -> None:
    """Turn every object into its bytes, once: writing would ask for those of a stream three times.

    No stream may end so that its length can be read in two ways. A compressed one that happens to end with a
    carriage return is stored as it is. The streams of objects and references, which come last, change with
    every object: a spare one, empty and unused, changes them.
    """
    import pydyf

    for i in range(spare):
        pdf.add_object(pydyf.Dictionary({"Spare": i}))
    for i, one in enumerate(pdf.objects):
        if one.free == "f":
            continue
        data = one.data
        if getattr(one, "compress", False) and data.endswith(UNSURE_END):
            one.compress = False
            data = one.data
        settled = pdf.objects[i] = _settled()()
        settled.number, settled.data, settled.compressible = one.number, data, one.compressible


@cache
def _settled() -> type[Any]:
    """The class of an object that will not change any more."""
    import pydyf

    return type("Settled", (pydyf.Object,), {"data": b"", "compressible": False})


def _declare_accessible(pdf: Any) -> None:
    """Say in the metadata that the PDF/A file is PDF/UA-1 too; the metadata stay uncompressed, for PDF/A."""
    metadata = next(o for o in pdf.objects if getattr(o, "extra", {}).get("Type") == "/Metadata")
    (content,) = metadata.stream
    metadata.stream = [content.replace(b"</rdf:RDF>", UA_METADATA + b"</rdf:RDF>")]
    metadata.compress = False
