"""The terms that a report uses, found in what it prints."""

import re
from html import unescape

from trustreport.vocabulary.messages import Catalogue

MOST_TERMS = 12
# In the order in which they matter where a report uses more of them.
TERMS = (
    *("interval", "sensitivity", "auc", "predictive", "oe_ratio", "holm", "non_inferiority", "control_chart"),
    *("in_control", "nnd", "harmful_switch", "calibration_slope", "net_benefit", "reliance"),
    *("other_reliance", "brier", "mcc", "ece", "gici", "advisory_value", "actual_accuracy"),
    *("degree_of_correspondence", "spr", "utility_yield", "alpha", "h_accuracy", "bias_odds", "voi"),
    "advice",
)
UNSEEN = re.compile(r"(?s)<(style|script)\b.*?</\1>|<!--.*?-->")
# The dimensions at a glance name what would be needed for those that are not measured.
NEEDED = re.compile(r'(?s)<section [^>]*id="glance".*?</section>')
TAG = re.compile(r"<[^>]*>")
WITHIN = re.compile(r"</?(?:wbr|b|i|em|strong|bdi|a|span)\b[^>]*>")  # which part no words
BREAKS = dict.fromkeys(map(ord, "\u200b\u00ad\u2060")) | {ord("\u00a0"): " ", ord("\u202f"): " "}


def terms(page: str, say: Catalogue) -> list[tuple[str, str]]:
    """The terms of which a page says any name, at most twelve, each with its meaning."""
    text = printed(page)
    found = [term for term in TERMS if any(_says(text, name) for name in names(say(f"glossary.{term}.term")))]
    return [(say(f"glossary.{term}.term"), say(f"glossary.{term}.text")) for term in found[:MOST_TERMS]]


def printed(page: str) -> str:
    """What a reader sees of a report in HTML, without the dimensions at a glance and the annex."""
    report = page.partition('<section class="annexes"')[0]
    text = TAG.sub(" ", WITHIN.sub("", UNSEEN.sub(" ", NEEDED.sub(" ", report))))
    return " ".join(unescape(text).translate(BREAKS).split())


def names(term: str) -> list[str]:
    """The names in the heading of a term: what commas and brackets part.

    >>> names("Observed over expected (O/E)"), names("SPR, WPR")
    (['Observed over expected', 'O/E'], ['SPR', 'WPR'])
    """
    return [name.translate(BREAKS).strip() for name in re.split(r"[,()]", term) if name.strip()]


def _says(text: str, name: str) -> bool:
    """Whether a text has a name at the beginning of a word; an abbreviation as it is, and whole."""
    if sum(letter.isupper() for letter in name) > 1:
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
    return re.search(rf"(?<!\w){re.escape(name)}", text, re.IGNORECASE) is not None
