"""Spares WeasyPrint work that a report does not need; what it lays out is the same to the byte.

Each of these stands in for a part of the version named here; another version is used as it is.
"""

from __future__ import annotations

from copy import copy
from functools import cache, wraps
from typing import Any

VERSION = "70.0"
# Pseudo-elements that WeasyPrint makes for every element of a document, and where ours has them.
OF_NOTES = {"footnote-call", "footnote-marker", "note-call", "note-marker", "note-callback"}
LISTED = {"li", "summary"}
# What decides how Pango sets a text.
OF_FONT = (
    *("direction", "font_language_override", "lang", "font_family", "font_style", "font_stretch"),
    *("font_weight", "font_size", "font_variation_settings", "font_kerning", "font_variant_ligatures"),
    *("font_variant_position", "font_variant_caps", "font_variant_numeric", "font_variant_alternates"),
    *("font_variant_east_asian", "font_feature_settings"),
)
OWN_ATTRIBUTES = {"letter_spacing": ("normal", 0), "word_spacing": (0,), "overflow_wrap": ("normal",)}
SPECIAL = {"float", "display", "position", "page"}


@cache
def page_class() -> type[Any]:
    """`weasyprint.HTML` with a lighter sheet of what HTML looks like; the first call sets up the rest."""
    import weasyprint

    if weasyprint.__version__ != VERSION:
        return weasyprint.HTML
    from weasyprint.css import ComputedStyle
    from weasyprint.text.line_break import Layout

    Layout.setup = _setup_once(Layout.setup)
    ComputedStyle.__missing__ = _inherited_first(ComputedStyle.__missing__)
    return type("Page", (weasyprint.HTML,), {"_ua_stylesheets": _light_sheets(weasyprint.HTML)})


def _light_sheets(html: Any) -> Any:
    """How HTML looks without notes, and with markers in lists only; each element would have them all."""

    @cache
    def light(sheet: Any) -> Any:
        lighter, matcher = copy(sheet), copy(sheet.matcher)
        matcher.other_selectors = [
            (_in_list(test), *more) if more[2] == "marker" else (test, *more)
            for test, *more in matcher.other_selectors
            if more[2] not in OF_NOTES
        ]
        lighter.matcher = matcher
        return lighter

    def sheets(self: Any, forms: bool = False) -> list[Any]:
        return [light(sheet) for sheet in html._ua_stylesheets(self, forms)]

    return sheets


def _in_list(test: Any) -> Any:
    return lambda element: element.local_name in LISTED and test(element)


def _setup_once(setup: Any) -> Any:
    """Set up Pango once for all texts of a font, not for each word: its context, its font, its features."""
    from weasyprint.text.constants import LST_TO_ISO, PANGO_DIRECTION
    from weasyprint.text.ffi import ffi, gobject, pango, unicode_to_char_p
    from weasyprint.text.fonts import get_font_description

    def context_of(style: Any) -> Any:
        context = ffi.gc(
            pango.pango_font_map_create_context(style.font_config.font_map), gobject.g_object_unref
        )
        pango.pango_context_set_round_glyph_positions(context, False)
        pango.pango_context_set_base_dir(context, PANGO_DIRECTION[style["direction"]])
        override = style["font_language_override"]
        name = style["lang"] if override == "normal" else LST_TO_ISO.get(override.lower(), override)
        if not name:
            return context, pango.pango_language_get_default()
        pointer, _ = unicode_to_char_p(name)
        language = pango.pango_language_from_string(pointer)
        pango.pango_context_set_language(context, language)
        return context, language

    @wraps(setup)
    def once(self: Any, style: Any) -> None:
        if style["text_decoration_line"] != "none" or any(
            style[name] not in plain for name, plain in OWN_ATTRIBUTES.items()
        ):  # such a text adds attributes of its own to the list
            setup(self, style)
            return
        fonts = style.font_config
        known = fonts.__dict__.setdefault("_set_up", {})
        key = tuple(tuple(x) if isinstance(x := style[name], list) else x for name in OF_FONT)
        if key not in known:
            setup(self, style)
            features = pango.pango_layout_get_attributes(self.layout)
            # The layout is kept for its features.
            known[key] = *context_of(style), get_font_description(style), features, self.layout
        context, language, font, features, _ = known[key]
        self.style, self.first_line_direction, self.language = style, 0, language
        self.layout = ffi.gc(pango.pango_layout_new(context), gobject.g_object_unref)
        pango.pango_layout_set_auto_dir(self.layout, False)
        pango.pango_layout_set_font_description(self.layout, font)
        if features != ffi.NULL:
            pango.pango_layout_set_attributes(self.layout, features)
        self.ascent = self.underline_position = self.strikethrough_position = None
        self.underline_thickness = self.strikethrough_thickness = None

    return once


def _inherited_first(missing: Any) -> Any:
    """Take what is inherited from the parent, and what is initial as it is, without looking for more."""
    from weasyprint.css.computed_values import PHYSICAL_FUNCTIONS
    from weasyprint.css.properties import INHERITED, INITIAL_NOT_COMPUTED, INITIAL_VALUES

    inherited = {key for key in INHERITED if key not in PHYSICAL_FUNCTIONS}
    initial = {
        key: value
        for key, value in INITIAL_VALUES.items()
        if key not in INHERITED
        and key not in PHYSICAL_FUNCTIONS
        and key not in INITIAL_NOT_COMPUTED
        and key not in SPECIAL
        and not key.startswith("text_decoration_")
    }

    @wraps(missing)
    def value_of(self: Any, key: str) -> Any:
        if key in self.cascaded or self.parent_style is None:
            return missing(self, key)
        if key in initial:
            value = self[key] = initial[key]
        elif key in inherited and not key.startswith("text_decoration_"):
            value = self[key] = self.parent_style[key]
        else:
            value = missing(self, key)
        return value

    return value_of
