"""Make the pictures of first pages that are kept: of the README, and of each kind of report in each language.

    python docs/readme_picture.py [LANGUAGE ...]

Without a language, all. The answer of the report is in each file as the PNG text `Description`; tests compare
it with that of the report.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from trustreport import assess, read_study, write_report
from trustreport.report.write import as_data
from trustreport.vocabulary.messages import languages

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
KINDS = ("certification-dossier", "procurement-triage", "vigilance-audit")
README = HERE / "report.png"
COLOURS = 64  # of a page in black, grey and five colours; chosen to cover the rare ones, red among them


def pictures(kind: str, chosen: list[str]) -> Iterator[tuple[str, Path]]:
    """Languages and files of an example's first page."""
    for language in chosen:
        if language != "en":
            yield language, HERE / "languages" / f"{kind}.{language}.png"
        elif kind == KINDS[0]:
            yield language, README


def main() -> None:
    """Write the pictures."""
    sys.path.insert(0, str(HERE / "site"))
    from pictures import first_page

    chosen = sys.argv[1:] or list(languages())
    for kind in KINDS:
        assessment = assess(*read_study(EXAMPLES / kind))
        for language, file in pictures(kind, chosen):
            one = assessment.in_language(language)
            described = PngInfo()
            described.add_text("Description", as_data(one)["answer"]["sentence"])
            with TemporaryDirectory() as folder:
                written = write_report(one, Path(folder) / "out", formats=("pdf",))
                page = Path(folder) / "page.png"
                first_page(written.folder / "report.pdf", page)
                small = Image.open(page).quantize(
                    COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
                )
                file.parent.mkdir(exist_ok=True)
                small.save(file, optimize=True, pnginfo=described)


if __name__ == "__main__":
    main()
