"""Tables of choices between two outputs that were shown side by side."""

from trustreport.study.proposal.parts import ExaminedTable, squeezed, vocabulary

MOST_OUTPUTS = 12


def find_choices(table: ExaminedTable, have: dict[str, object]) -> bool:
    """Take the table as one of preferences: two columns of the same few names, and which was preferred.

    Parameters
    ----------
    have : the columns of the table by their words, before any were left out
    """
    known = ("case", "reader", "patient", "site", "date")
    keys = {word: header for word, header in have.items() if word in known and isinstance(header, str)}
    words = set(vocabulary()["preferences"]["preferred"])
    preferred = [h for h in table.headers if words & set(squeezed(h).split("_"))]
    if not {"case", "reader"} <= keys.keys() or len(preferred) != 1:
        return False
    rest = [h for h in table.headers if h not in (*keys.values(), *preferred) and not table.seen[h].numeric]
    names = {h: set(table.seen[h].distinct) for h in rest if 1 < table.seen[h].n_distinct <= MOST_OUTPUTS}
    pairs = [(a, b) for a in names for b in names if a != b and len(names[a] & names[b]) > 1]
    if not pairs:
        return False
    table.columns = {**keys, "first": pairs[0][0], "second": pairs[0][1], "preferred": preferred[0]}
    return True
