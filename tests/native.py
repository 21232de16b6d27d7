"""Faults of grammar and typesetting seen without reading: elision, contractions, articles, spaces."""

import re

# A name of the data in a slot begins with a vowel as often as not.
NAMED = (
    "name|names|dataset|measurement|column|group|data|training|study|file|title|set|arm|compared|baseline"
    "|candidate|indicator|less|reader|site|place|unaided|aided|criterion|family"
)
VOWELS = "aeiouéèêàâîôœAEIOUÉÈÊÀÂ"
ASPIRATED = "huit|haut|hausse|has|hors|onz|oui|un\\b|une\\b|abc"
PLAIN = "(?::list|:group|:title)?"
EVERYWHERE = (r"  ", r"(?<!\.)\.\.(?!\.)", r"[;:,] ?[,;:]", r"\(\s|\s\)", r"\(\)")
FAULTS = {
    "en": EVERYWHERE,
    "de": (*EVERYWHERE, r"(?<=[\d}]) %", r"[^\s(/–] [,;:!?]", r"(?<=\w)'(?=\w)"),
    "fr": (
        *EVERYWHERE,
        r"(?<=[\d}]) %",
        r"[\d%)}»][;!?](?=\s|$)",
        r"(?<=\w)'(?=\w)",
        rf"(?<!-)\b([Dd]e|[Nn]e|[Ll]e|[Ll]a|[Jj]usque|[Ll]orsque|[Qq]ue) (?!{ASPIRATED})[{VOWELS}h]\w",
        rf"\b([Dd]e|[Qq]ue|[Ll]e|[Ll]a|[Ll]orsque) \{{({NAMED}){PLAIN}\}}",
        r"\b[Ss]i ils?\b",
        r"\b(à|de) (le|les) (?!\w+(er|ir|re)\b)",
        r"\b(du|au|des|aux|de la|à la) (les? |la |l’)",
    ),
    "it": (
        *EVERYWHERE,
        r"(?<=[\d}]) %",
        r"’",
        r"[^\s(/–] [,;:!?]",
        r"\b([Dd]i|[Dd]a|[Ii]n|[Ss]u) (il|lo|i|gli|le) ",
        r"\b[Aa] (il|lo|gli) ",
        r"\b([Ii]l|[Dd]el|[Nn]el|[Dd]al|[Ss]ul|[Cc]ol) \{\w+:percent",
        r"\b([Ii]l|[Uu]n|[Dd]el|[Aa]l|[Nn]el|[Dd]al|[Ss]ul) (s[bcdfglmnpqrtvz]|z|ps|gn)",
        r"\b([Dd]el|[Dd]al|[Nn]el|[Ss]ul|[Dd]ella|[Dd]alla|[Nn]ella|[Ss]ulla|[Uu]na) [aeiou]\w",
    ),
}


def faults(language: str, text: str) -> list[str]:
    """What is wrong in a text, each with the words around it."""
    found = (match for fault in FAULTS[language] if (match := re.search(fault, text)))
    return [text[max(0, match.start() - 30) : match.end() + 30] for match in found]
