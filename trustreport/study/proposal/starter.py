"""The first manifest of a study: every group and field, with what it means and who requires it."""

from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from trustreport.study.plan import Kind, Plan
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.resources import folder as templates

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
