"""What sentences and tables call a quantity, an endpoint or a task of readers."""

from trustreport.study.study import DEVELOPMENT_ROLES, Readings
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.quantities import DIFFERENCE, is_named


def quantity_name(id: str, of: str | None = None) -> Message:
    """A quantity, or a result of an endpoint, within a sentence; a name of the manifest's own as it is."""
    name = _bare(id)
    if not of or id == f"mean_{of}":  # mean_seconds of the seconds
        return name
    return say("word.of_endpoint", measure=name, of=_bare(of))


def endpoint_name(endpoint: str) -> Message:
    """An endpoint within a sentence."""
    return _bare(endpoint)


def heading(id: str) -> Message:
    """A quantity at the head of a column or beside a panel."""
    return say("word.heading", text=_bare(id))


def set_label(name: Message | str, role: str) -> Message | str:
    """A data set as tables and figures name it: that the model was made with it is said."""
    return say(f"word.made_with.{role}", name=name) if role in DEVELOPMENT_ROLES else name


def title_of(readings: Readings, arms: tuple[str, str]) -> Message | str:
    """What a task or, where it has no name, its contrast is called."""
    return readings.task or say("report.tested.contrast", aided=arms[0], unaided=arms[1])


def _bare(id: str) -> Message:
    base = id.removesuffix(DIFFERENCE)
    if not is_named(id):
        return say("word.name", name=id.replace("_", " "))
    if base != id and is_named(base):
        return say("word.difference_in", measure=say(f"quantity.{base}"))
    return say(f"quantity.{id}")
