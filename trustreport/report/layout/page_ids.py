"""Ids of the page: each heading and table has one, so that a link can lead to it."""

import re
from collections import Counter

OPENING = re.compile(r"<(section|figure|table|h[1-4])\b([^>]*)>")
GIVEN = re.compile(r'\bid="([^"]*)"')
NAMED = {"section", "figure"}  # what lends its id to the headings and tables within


def with_ids(page: str) -> str:
    """The page with an id for each heading and table that has none, after the section or figure it stands in.

    The first table of a section is `section-table`, the second `section-table-2`.

    >>> with_ids('<section id="E03"><h3>Data</h3><table></table></section>')
    '<section id="E03"><h3 id="E03-title">Data</h3><table id="E03-table"></table></section>'
    """
    taken = set(GIVEN.findall(page))
    seen: Counter[str] = Counter()
    place = "page"

    def named(found: re.Match[str]) -> str:
        nonlocal place
        tag, attributes = found[1], found[2]
        given = GIVEN.search(attributes)
        if given:
            place = given[1] if tag in NAMED else place
        if given or tag in NAMED:
            return found[0]
        base = f"{place}-{'table' if tag == 'table' else 'title'}"
        while True:
            seen[base] += 1
            name = base if seen[base] == 1 else f"{base}-{seen[base]}"
            if name not in taken:
                break
        taken.add(name)
        return f'<{tag} id="{name}"{attributes}>'

    return OPENING.sub(named, page)
