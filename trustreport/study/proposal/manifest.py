"""The first manifest of a study, proposed from its tables or blank; a line that rests on a guess says so."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from trustreport.study.ingest.problems import yaml_word
from trustreport.study.plan import Kind, Plan
from trustreport.study.proposal.parts import Entry, Proposal
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.resources import folder as templates


def text(proposal: Proposal, title: str) -> str:
    """The manifest of a proposal; a line that rests on a guess says so."""
    lines = [*_head(proposal, title), *_tables(proposal), *_datasets(proposal), *_hints(proposal)]
    guessed = any("# UNCERTAIN" in line for line in lines)
    first = "# Proposed from the tables." + (" Check what is marked UNCERTAIN." if guessed else "")
    return "\n".join([first, *lines]) + "\n"


def _head(proposal: Proposal, title: str) -> Iterator[str]:
    def doubt(key: str) -> str:
        return proposal.about.get(key, "")

    yield f"report: {{kind: {proposal.kind}, title: {yaml_word(title)}}}"
    yield 'device: {trade_name: ""}  # the name of what is assessed; software_version, manufacturer ...'
    if proposal.arms:
        arms = ", ".join(
            f"{{arm: {yaml_word(a)}, aided: {str(f).lower()}}}" for a, f in proposal.arms.items()
        )
        yield f"arms: [{arms}]{_mark(doubt('arms'))}"
    if proposal.design:
        yield f"reading: {{design: {proposal.design}}}{_mark(doubt('design'))}"
    if proposal.reference or proposal.label_scale == "ordinal":
        scale = {"label_scale": "ordinal"} if proposal.label_scale == "ordinal" else {}
        asked = "; ".join(filter(None, map(doubt, ("reference", "labels" if scale else ""))))
        yield f"reference_standard: {_flow({**proposal.reference, **scale})}{_mark(asked)}"
    if proposal.baseline:
        yield f"vigilance: {{baseline_dataset: {yaml_word(proposal.baseline)}}}{_mark(doubt('baseline'))}"
    if proposal.time_to_event:
        yield f"time_to_event: {_flow(proposal.time_to_event)}{_mark(doubt('time_to_event'))}"
    if proposal.measurements:
        yield "measurements:"
        for facts in proposal.measurements:
            about = str(facts.get("about", ""))
            yield f"  - {_flow({k: v for k, v in facts.items() if k != 'about' and v})}{_mark(about)}"
    if proposal.acceptance_radius:
        radius = proposal.acceptance_radius
        yield f"localisation: {{acceptance_radius: {radius}}}{_mark(doubt('localisation'))}"
    yield from _thresholds(proposal.thresholds)


def _thresholds(found: Mapping[str, str]) -> Iterator[str]:
    """Examples of thresholds, as comments: which one is right no table says."""
    end = "  # example: without a threshold no score is a decision"
    if "" in found:
        yield f"# operating_point: {{threshold: {found['']}}}{end}"
    own = [f"{{candidate: {yaml_word(n)}, threshold: {t}}}" for n, t in found.items() if n]
    if own:
        yield f"# candidates: [{', '.join(own)}]{end}"


def _tables(proposal: Proposal) -> Iterator[str]:
    if not proposal.entries:
        return
    yield "tables:"
    for name, entry in _names(proposal.entries).items():
        yield f"  {yaml_word(name)}:"
        yield f"    file: {yaml_word(entry.path.name)}"
        if name != entry.kind:
            yield f"    kind: {entry.kind}"
        yield from _form(entry.form, entry.about, "    ")


def _names(entries: Iterable[Entry]) -> dict[str, Entry]:
    """A name for each table: its kind, or that of its file where rows have names by it, or a number."""
    named: dict[str, Entry] = {}
    for entry in entries:
        by_file = entry.kind == "confusion" and not {"set", "dataset"} & entry.form.get("columns", {}).keys()
        stem = entry.path.stem if by_file else entry.kind
        name, number = stem, 1
        while name in named:
            number += 1
            name = f"{stem}_{number}"
        named[name] = entry
    return named


def _datasets(proposal: Proposal) -> Iterator[str]:
    if not proposal.datasets:
        return
    yield "datasets:"
    shared, end = (
        _shared_features(proposal),
        "  # declared in each data set, they show how alike the sets are",
    )
    for one in proposal.datasets:
        about = one["about"]
        yield f"  - dataset: {yaml_word(one['dataset'])}"
        yield f"    role: {one['role']}{_mark(about.get('role', ''))}"
        if "file" in one:
            yield f"    file: {yaml_word(one['file'].name)}"
        rest = {k: v for k, v in one.items() if k not in ("dataset", "role", "file", "about")}
        yield from _form(rest, about, "    ")
        if one["dataset"] in proposal.features and shared:
            yield f"    # features: [{', '.join(map(yaml_word, shared))}]{end}"


def _shared_features(proposal: Proposal) -> list[str]:
    """Columns of numbers that every data set with a file has; none where there is one such set."""
    first, *others = proposal.features.values() or [[]]
    return [h for h in first if others and all(h in own for own in others)]


def _form(form: Mapping[str, Any], about: Mapping[str, str], indent: str) -> Iterator[str]:
    for key, value in form.items():
        yield f"{indent}{key}: {_flow(value)}{_mark(about.get(key, ''))}"


def _hints(proposal: Proposal) -> Iterator[str]:
    if proposal.groups:
        names = ", ".join(f"{{name: {yaml_word(name)}}}" for name in proposal.groups)
        yield f"# subgroups: [{names}]"
    for note in (*proposal.notes, *proposal.unused):
        yield f"# {note}"
    for name, why in proposal.unread.items():
        yield f"# {name} is not used: {' '.join(why.split())}"


def _mark(question: str) -> str:
    return f"  # UNCERTAIN: {question}" if question else ""


def _flow(value: Any) -> str:
    """A value on one line of YAML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_word(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, str):
        return value if value in ("0", "1") else yaml_word(value)
    return f"[{', '.join(map(_flow, value))}]" if isinstance(value, Iterable) else str(value)


TABLES = {
    "readings.csv": "reader,case,arm,truth,decision,score,confidence,seconds,order\n",
    "readers.csv": "reader,qualification,site,years_experience\n",
}
# What a first report needs stands uncommented; the rest is there to be filled in.
ACTIVE = {
    "device.trade_name": '""',
    "arms": "[{arm: unaided, aided: false}, {arm: aided, aided: true}]",
    "tables": "{readings: {file: readings.csv}, readers: {file: readers.csv}}",
}


def write_starter(folder: Path, kind: Kind, language: str = "en", *, every: bool = False) -> list[Path]:
    """Write ``study.yaml`` and empty tables into `folder`; refuses to overwrite anything.

    The manifest has what a first report needs, or, with `every`, all fields and what they mean.

    Raises
    ------
    FileExistsError : one of the files is there already
    """
    first = manifest(kind, catalogue(language)) if every else short(kind)
    texts = {"study.yaml": first, **TABLES}
    taken = [name for name in texts if (folder / name).exists()]
    if taken:
        raise FileExistsError(f"{folder} already holds {', '.join(taken)}; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def short(kind: Kind) -> str:
    """A manifest of what a first report needs."""
    return (templates("templates") / "starter.yaml").read_text("utf-8").replace("KIND", kind)


def manifest(kind: Kind, say: Catalogue) -> str:
    """The commented manifest as text."""
    lines = [f"# {line}" for line in say("starter.head", kind=say(f"report.kind.{kind}")).splitlines()]
    for name, info in Plan.model_fields.items():
        model, many = _model(info.annotation)
        lines += ["", f"# {say(f'plan.{name}' if model is None else f'plan.{name}.group')}"]
        if name in ACTIVE:
            lines.append(f"{name}: {ACTIVE[name]}")
        elif name == "report":
            lines += ["report:", f"  kind: {kind}"]
        elif name == "device":
            lines += ["device:", f"  trade_name: {ACTIVE['device.trade_name']}"]
        elif model is None:
            lines.append(f"# {name}:")
            continue
        else:
            lines.append(f"# {name}:")
        if model is not None:
            lines += _fields(model, name, kind, say, many)
    return "\n".join(lines) + "\n"


def _fields(model: type[BaseModel], path: str, kind: str, say: Catalogue, many: bool) -> Iterator[str]:
    for i, (name, info) in enumerate(model.model_fields.items()):
        if f"{path}.{name}" in ("report.kind", "device.trade_name"):
            continue
        extra = info.json_schema_extra
        needed = isinstance(extra, dict) and kind in extra.get("mandatory_for", ())  # type: ignore[operator]
        choices = " | ".join(str(c) for c in _choices(info.annotation))
        nested, several = _model(info.annotation)
        key = f"plan.{path}.{name}"
        about = say(key if key in say else f"{key}.group")
        remarks = "; ".join(filter(None, (about, choices, say("starter.mandatory") if needed else "")))
        bullet = ("- " if i == 0 else "  ") if many else ""
        inside = ", ".join(f"{field}: " for field in nested.model_fields) if nested else ""
        value = (f"[{{{inside}}}]" if several else f"{{{inside}}}") if nested else ""
        yield f"#   {bullet}{name}: {value}  # {remarks}"


def _model(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """The model behind a field's type, and whether the field holds several of them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    origin = get_origin(annotation)
    for argument in get_args(annotation):
        model, many = _model(argument)
        if model is not None:
            return model, many or origin is tuple
    return None, False


def _choices(annotation: Any) -> tuple[Any, ...]:
    """The words that a field may hold, where they are fixed."""
    origin = get_origin(annotation)
    if origin is Literal:
        return get_args(annotation)
    if origin in (Union, UnionType, Annotated):
        return tuple(c for argument in get_args(annotation) for c in _choices(argument))
    return ()
