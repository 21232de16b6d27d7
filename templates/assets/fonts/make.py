"""Make the fonts of this folder from Debian's Inter: ``python make.py /usr/share/fonts/opentype/inter``.

Needs fonttools and brotli. Quadratic outlines, because TrueType embeds in PDF/A without doubt and matplotlib
hints it; the signs of European languages and of statistics only; figure space and punctuation space as wide
as a tabular figure and its point, so that numbers padded with them align on the decimal. Weights: Regular,
SemiBold. TTF serves the PDF and the charts, WOFF2 the HTML.
"""

import sys
from pathlib import Path

from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont, newTable

WEIGHTS = ("Regular", "SemiBold")
RANGES = (
    (0x20, 0x7E),  # Basic Latin
    (0xA0, 0x17F),  # Latin-1, Latin Extended-A
    (0x218, 0x21B),  # Romanian
    (0x2C6, 0x2DD),
    (0x300, 0x304),
    (0x306, 0x30C),
    (0x370, 0x3FF),  # Greek
    (0x400, 0x45F),  # Cyrillic
    (0x1E9E, 0x1E9E),
    (0x2000, 0x200A),  # spaces, the figure space U+2007 and the punctuation space U+2008 among them
    (0x2010, 0x2027),
    (0x202F, 0x203A),
    (0x2044, 0x2044),
    (0x2070, 0x2099),  # superscripts and subscripts
    (0x20AC, 0x20AC),
    (0x2116, 0x2122),
    (0x2190, 0x2199),  # arrows
    (0x2202, 0x2265),  # mathematics
    (0x25A0, 0x25D0),  # marks of a verdict
    (0x2713, 0x2717),
    (0xFFFD, 0xFFFD),
)
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl", "case", "tnum", "sups", "subs"]


def quadratic(font: TTFont) -> None:
    """Turn CFF outlines into TrueType outlines, to a thousandth of an em."""
    glyphs, order = font.getGlyphSet(), font.getGlyphOrder()
    drawn = {}
    for name in order:
        pen = TTGlyphPen(glyphs)
        glyphs[name].draw(Cu2QuPen(pen, font["head"].unitsPerEm / 1000, reverse_direction=True))
        drawn[name] = pen.glyph()
    font["loca"] = newTable("loca")
    font["glyf"] = table = newTable("glyf")
    table.glyphOrder, table.glyphs = order, drawn
    for name, glyph in drawn.items():
        glyph.recalcBounds(table)
        font["hmtx"][name] = (font["hmtx"][name][0], getattr(glyph, "xMin", 0))
    maxp = font["maxp"]
    maxp.tableVersion = 0x00010000
    for field in (
        "maxTwilightPoints maxStorage maxFunctionDefs maxInstructionDefs maxStackElements "
        "maxSizeOfInstructions"
    ).split():
        setattr(maxp, field, 0)
    maxp.maxZones = 1
    for field in "maxPoints maxContours maxCompositePoints maxCompositeContours maxComponentElements".split():
        setattr(maxp, field, 0)
    maxp.maxComponentDepth = 0
    maxp.recalc(font)
    post = font["post"]
    post.formatType, post.extraNames, post.mapping, post.glyphOrder = 2.0, [], {}, order
    del font["CFF "]
    if "VORG" in font:
        del font["VORG"]
    font.sfntVersion = "\0\1\0\0"


def subset(font: TTFont) -> None:
    """Keep the signs and features that a report uses."""
    options = Options()
    options.layout_features = FEATURES
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14, 16, 17]
    options.notdef_outline = True
    options.glyph_names = False
    options.hinting = False
    options.recalc_timestamp = False
    options.drop_tables += ["DSIG", "meta"]
    chosen = Subsetter(options)
    chosen.populate(unicodes=[u for first, last in RANGES for u in range(first, last + 1)])
    chosen.subset(font)


def align_spaces(font: TTFont) -> None:
    """Give figure and punctuation space the widths of the tabular zero and point."""
    tabular = {}
    for record in font["GSUB"].table.FeatureList.FeatureRecord:
        if record.FeatureTag == "tnum":
            for i in record.Feature.LookupListIndex:
                for sub in font["GSUB"].table.LookupList.Lookup[i].SubTable:
                    tabular |= getattr(sub, "ExtSubTable", sub).mapping
    names, widths = font.getBestCmap(), font["hmtx"]
    for space, sign in ((0x2007, "0"), (0x2008, ".")):
        plain = names[ord(sign)]
        widths[names[space]] = (widths[tabular.get(plain, plain)][0], 0)


def main(source: Path) -> None:
    """Write each weight as TTF and WOFF2."""
    here = Path(__file__).parent
    for weight in WEIGHTS:
        font = TTFont(source / f"Inter-{weight}.otf", recalcTimestamp=False)
        subset(font)
        quadratic(font)
        align_spaces(font)
        font.save(here / f"Inter-{weight}.ttf")
        font.flavor = "woff2"
        font.save(here / f"Inter-{weight}.woff2")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
