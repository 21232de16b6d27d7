"""Make the README's picture: page 1 of the report of the certification example, with its answer as text.

    python docs/readme_picture.py

The answer is in the file as the PNG text `Description`; a test compares it with the example's report.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from trustreport import assess, read_study, write_report
from trustreport.report.write import as_data

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples" / "certification-dossier"
PICTURE = HERE / "report.png"
COLOURS = 64  # of a page in black, grey and five colours; chosen to cover the rare ones, red among them


def main() -> None:
    """Write the picture."""
    sys.path.insert(0, str(HERE / "site"))
    from pictures import first_page

    assessment = assess(*read_study(EXAMPLE))
    described = PngInfo()
    described.add_text("Description", as_data(assessment)["answer"]["sentence"])
    with TemporaryDirectory() as folder:
        written = write_report(assessment, Path(folder) / "out", formats=("pdf",))
        page = Path(folder) / "page.png"
        first_page(written.folder / "report.pdf", page)
        small = Image.open(page).quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        small.save(PICTURE, optimize=True, pnginfo=described)


if __name__ == "__main__":
    main()
