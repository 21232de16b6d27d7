"""The PDF: conforming, reproducible, and closed to the outside."""

import datetime as dt
import logging
import re
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO

import page as conformance
import pikepdf
import pydyf
import pytest
from made_up import HASH, HOSTILE, Bars, about, assessment, manifest, part, words

from trustreport.assessment.finding import Column, PlainTable
from trustreport.measures.estimate import Estimate
from trustreport.report import pdf
from trustreport.report.layout import figures, pdf_layout
from trustreport.study.plan import Plan
from trustreport.vocabulary.errors import MissingLibrary

pytestmark = pytest.mark.pdf
ATTACHED = [
    ("results.json", b'{"results": []}\n', "The results"),
    ("study.yaml", b"report: {}\n", "The manifest"),
]


def render(of, *, attachments=(), volume="report", **given):
    return pdf.Volumes(of, **given).printed(volume, attachments).content


@pytest.fixture(scope="module", params=["simple", "several", "hostile", "empty"])
def written(request):
    one = request.getfixturevalue(request.param)
    return render(one, **about(one), attachments=ATTACHED)


@pytest.fixture(scope="module")
def made(simple):
    return render(simple, **about(simple), attachments=ATTACHED)


@pytest.mark.parametrize("profile", ["3a", "ua1"])
def test_it_conforms(written, profile):
    report = conformance.validate_pdf_bytes(written, profile=profile)
    assert [(f.rule_id, f.message) for f in report.failures] == []
    assert report.is_compliant


def test_no_stream_has_a_length_that_can_be_read_in_two_ways(written):
    assert b"\r\nendstream" not in written


def test_a_stream_with_an_unlucky_end_is_stored_as_it_is():
    document = pydyf.PDF()
    streams = [pydyf.Stream([str(i)], compress=True) for i in range(18_000, 20_000)]
    unlucky = [stream for stream in streams if stream.data.endswith(b"\r\nendstream")]
    assert unlucky
    for stream in streams:
        document.add_object(stream)
    before = len(document.objects)
    pdf_layout.settle(document, spare=2)
    assert len(document.objects) == before + 2
    written = {one.number: one.data for one in document.objects[before - len(streams) : before]}
    stored = [number for number, data in written.items() if b"FlateDecode" not in data]
    assert stored == [stream.number for stream in unlucky]
    assert not any(data.endswith(pdf_layout.UNSURE_END) for data in written.values())


def test_the_first_page_has_question_answer_and_limits(made):
    first = " ".join(pages(made)[0].split())
    assert "Does the evidence support what is claimed?" in first
    assert "Limits that matter most" in first


def test_a_table_of_many_intervals_stays_within_the_margins():
    """Five columns of intervals: they go below their estimates; an interval itself is never broken."""
    columns = (Column(words("Group")), Column(words("Cases"), "count"))
    columns += tuple(Column(words(f"Measure {i}, per cent"), "number") for i in range(5))
    row = ("a group of readers", 164, *[Estimate(0.912, 0.851, 0.949, 164)] * 5)
    table = PlainTable("wide", words("Each group."), columns, (row,) * 4)
    one = assessment((replace(part("Knee"), tables=(table,)),), Plan.model_validate(manifest()))
    data = render(one, **about(one), volume="annex")
    found = subprocess.run(["pdftotext", "-bbox", "-", "-"], input=data, capture_output=True, check=True)
    ends = re.findall(r'xMax="([\d.]+)" yMax="[\d.]+">(.*)</word>', found.stdout.decode())
    assert sum("0.949)" in word for _, word in ends) == 20
    edge = 595.28 - 20 / 25.4 * 72
    assert [word for end, word in ends if float(end) > edge + 0.5] == []


class HighBars(Bars):
    """The same labels on a figure that takes most of a page."""

    def draw(self, say):
        figure = super().draw(say)
        figure.set_size_inches(170 / 25.4, 200 / 25.4)
        return figure


def test_a_high_figure_is_printed_as_large_as_it_is_drawn():
    """A figure that is made to fit would have smaller print than the least that figures are drawn with."""
    rows = (("Unmistakable", 0.9, 0.8, 1.0),)
    heights = []
    for kind in (Bars, HighBars):
        of = part("Knee")
        shown = tuple(replace(figure, drawing=kind(rows)) for figure in of.figures)
        one = assessment((replace(of, figures=shown),), Plan.model_validate(manifest()))
        data = render(one, **about(one), volume="annex")
        found = subprocess.run(["pdftotext", "-bbox", "-", "-"], input=data, capture_output=True, check=True)
        label = r'yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)">Unmistakable</word>'
        ((top, bottom), *_) = re.findall(label, found.stdout.decode())
        heights.append(float(bottom) - float(top))
    assert heights[1] == pytest.approx(heights[0], rel=0.01)


def test_every_page_has_head_foot_and_number(made):
    texts = pages(made)
    for i, text in enumerate(map(solid, texts), 1):
        assert f"results{HASH[:8]}·draft,notsigned" in text
        assert f"{i}/{len(texts)}" in text
        assert "Illustration·notarealdevice" in text


def test_the_contents_name_the_pages(made):
    texts = pages(made)
    contents = next(text for text in texts if "Contents" in text)
    limits = next(i for i, text in enumerate(texts, 1) if "What weakens these results, and" in text)
    assert f"Limitsandfollow-up{limits}" in solid(contents)


def test_the_same_report_has_the_same_bytes(simple, made):
    again = {**about(simple), "drawn": figures.draw_all(simple)}
    assert made == render(simple, **again, attachments=ATTACHED)


def test_the_only_date_is_the_manifests(simple, made):
    assert "/CreationDate" not in pikepdf.open(BytesIO(made)).docinfo
    report = simple.plan.report.model_copy(update={"date": dt.date(2026, 3, 2)})
    dated = replace(simple, plan=simple.plan.model_copy(update={"report": report}))
    document = pikepdf.open(BytesIO(render(dated, **about(dated))))
    assert str(document.docinfo["/CreationDate"]).startswith("D:20260302")


def test_files_are_attached(made):
    document = pikepdf.open(BytesIO(made))
    assert {name: a.get_file().read_bytes() for name, a in document.attachments.items()} == {
        name: content for name, content, _ in ATTACHED
    }


def test_only_bundled_fonts_are_used(made):
    document = pikepdf.open(BytesIO(made))
    names = {
        str(o["/BaseFont"])
        for o in document.objects
        if isinstance(o, pikepdf.Dictionary) and "/BaseFont" in o
    }
    assert names
    assert all("+Report-" in name for name in names)


def test_labels_of_figures_can_be_searched(simple):
    annex = render(simple, **about(simple), volume="annex")
    assert "odds ratio of an error" in " ".join(pages(annex))


def test_a_label_in_signs_that_no_font_has_conforms():
    # Cuneiform is in none of the faces; an empty box in its place is what PDF/A forbids.
    told = part("x")
    labelled = replace(told.figures[0], drawing=Bars((("\N{CUNEIFORM SIGN A} readings", 0.9, 0.8, 1.1),)))
    plan = Plan.model_validate(manifest("x"))
    one = assessment((replace(told, figures=(labelled,)),), plan, ())
    made = render(one, **about(one), volume="annex")
    assert conformance.validate_pdf_bytes(made, profile="3a").is_compliant
    assert "\N{REPLACEMENT CHARACTER} readings" in " ".join(pages(made))


def test_it_is_laid_out_once_and_draws_what_it_prints(several, monkeypatch):
    laid_out, looked_at = [], {"report": set(), "annex": set()}
    lay_out = pdf_layout.weasyprint_module().HTML.render
    monkeypatch.setattr("weasyprint.HTML.render", lambda *a, **k: laid_out.append(a) or lay_out(*a, **k))

    class Noted(dict):
        def __getitem__(self, name):
            looked_at[volume].add(name)
            return super().__getitem__(name)

    given = about(several)
    for volume in looked_at:
        render(several, **{**given, "drawn": Noted(given["drawn"])}, volume=volume)
    assert len(laid_out) == 2
    assert not looked_at["report"] & looked_at["annex"]
    assert looked_at["report"] | looked_at["annex"] == {figure.id for figure in several.figures}


def test_nothing_is_fetched():
    hits = []

    class Canary(BaseHTTPRequestHandler):
        def do_GET(self):
            hits.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Canary)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/x"
        local = '<link rel=attachment href="file:///etc/hostname">'
        bait = f'"><img src="{url}">{local}<style>@import url({url})</style>{HOSTILE}'
        one = assessment((part(bait),), Plan.model_validate(manifest(bait)), (bait,))
        made = render(one, **about(one))
    finally:
        server.shutdown()
        server.server_close()
    assert hits == []
    assert not pikepdf.open(BytesIO(made)).attachments


def test_an_address_outside_stops_the_report(simple, monkeypatch):
    text = pdf.html.Documents.text
    monkeypatch.setattr(
        pdf.html.Documents,
        "text",
        lambda *a, **k: text(*a, **k).replace("<main>", '<main><img src="file:///etc/hostname" alt="x">'),
    )
    with pytest.raises(RuntimeError, match="outside itself"):
        render(simple, **about(simple))


def test_the_style_has_nothing_that_the_writer_does_not_know(simple, caplog):
    with caplog.at_level(logging.WARNING, logger="weasyprint"):
        render(simple, **about(simple))
    assert caplog.records == []


def test_without_pango_it_says_what_to_install(simple, monkeypatch):
    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name == "weasyprint":
                raise OSError("cannot load library 'libpango-1.0-0'")

    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])
    with pytest.raises(MissingLibrary, match="apt-get install libpango"):
        render(simple, **about(simple))


def solid(text):
    """Text without its spaces, which a reader of PDF finds here or there."""
    return "".join(text.split())


def test_words_in_capitals_are_one_word_each(empty):
    """Wide letters read as several words: whoever searches or listens would not find them."""
    first = pages(render(empty, **about(empty)))[0]
    assert "TECHNO-VIGILANCE AUDIT" in first


def pages(data):
    """The text of each page."""
    text = subprocess.run(
        ["pdftotext", "-", "-"], input=data, capture_output=True, check=True
    ).stdout.decode()
    return text.split("\f")[:-1]
