"""Reads what a plan is asked for, with every problem gathered, contradictions between fields among them."""

from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from trustreport.planning.request import (
    OPTIONS,
    BdgInput,
    ObuchowskiRocketteInput,
    Published,
    RoeMetzInput,
    SizingRequest,
)
from trustreport.study.ingest.manifest import parse
from trustreport.study.ingest.problems import Manifest, Problems, did_you_mean, dotted, quoted
from trustreport.study.ingest.validation import expectation
from trustreport.vocabulary.errors import StudyError


def read_request(file: str | Path | None = None, options: Mapping[str, Any] | None = None) -> SizingRequest:
    """A request from a YAML or JSON file, from options, or from a file some fields of which options replace.

    Parameters
    ----------
    file : the fields of `SizingRequest`
    options : by field; a dot leads into a group (``published.low``)

    Raises
    ------
    StudyError : with every problem
    """
    problems = Problems()
    manifest = Manifest(OPTIONS, {}, {})
    if file is not None:
        path = Path(file)
        try:
            with path.open("rb") as stream:
                data = stream.read(1_000_001)
        except OSError:
            problems.add_at(str(path), "this cannot be read", "a file of YAML or JSON")
            raise StudyError(problems) from None
        found = parse(path.name, data, problems)
        if found is None or problems:
            raise StudyError(problems)
        manifest = found
    values, from_options = _merged(manifest.values, options or {}, problems)
    if values.get("pilot") and file is not None and "pilot" not in from_options:
        values["pilot"] = str(Path(file).parent / str(values["pilot"]))
    request = _valid(values, manifest, from_options, problems)
    if request is not None:
        for key, found_, expected, fix in contradictions(request):
            _note(manifest, from_options, (key,), problems, found_, expected, fix)
    if problems or request is None:
        raise StudyError(problems)
    return request


def _merged(
    values: Mapping[str, Any], options: Mapping[str, Any], problems: Problems
) -> tuple[dict[str, Any], set[str]]:
    """The fields with those of the options in their place, and which are from options."""
    made: dict[str, Any] = {k: dict(v) if isinstance(v, dict) else v for k, v in values.items()}
    for name, value in options.items():
        group, _, key = name.partition(".")
        if not key:
            made[group] = value
        elif isinstance(made.setdefault(group, {}), dict):
            made[group][key] = value
        else:
            problems.add_at(OPTIONS, f"{quoted(group)} is one value and a group at once", column=name)
    return {k: v for k, v in made.items() if v is not None}, {name.partition(".")[0] for name in options}


def _valid(
    values: dict[str, Any], manifest: Manifest, from_options: set[str], problems: Problems
) -> SizingRequest | None:
    try:
        return SizingRequest.model_validate(values)
    except ValidationError as error:
        for path, errors in _by_path(error).items():
            kind = errors[0]["type"]
            given = errors[0].get("input")
            shown = "a group" if isinstance(given, dict) else quoted(getattr(given, "text", given))
            found, expected, fix = f"found {shown}", " or ".join(dict.fromkeys(map(expectation, errors))), ""
            if kind == "missing":
                found, expected, fix = "this key is missing", "a value", f"Add {path[-1]}: to this group."
            elif kind == "extra_forbidden":
                found, expected = f"unknown key {quoted(path[-1])}", ""
                fix = did_you_mean(str(path[-1]), _known(path))
            elif kind.startswith("union_tag"):
                found, expected = "the model is missing or unknown", "obuchowski_rockette, roe_metz or bdg"
                path = (*path, "model")
            _note(manifest, from_options, path, problems, found, expected, fix)
    return None


TAGS = ("obuchowski_rockette", "roe_metz", "bdg")
GROUPS: Mapping[str, tuple[type[BaseModel], ...]] = {
    "components": (ObuchowskiRocketteInput, RoeMetzInput, BdgInput),
    "published": (Published,),
}


def _by_path(error: ValidationError) -> dict[tuple[str | int, ...], list[Any]]:
    grouped: dict[tuple[str | int, ...], list[Any]] = {}
    for e in error.errors(include_url=False):
        path = tuple(key for i, key in enumerate(e["loc"]) if not (i == 1 and key in TAGS))
        grouped.setdefault(path, []).append(e)
    return grouped


def _known(path: tuple[str | int, ...]) -> Iterator[str]:
    models = GROUPS.get(str(path[0]), (SizingRequest,)) if len(path) > 1 else (SizingRequest,)
    for model in models:
        yield from model.model_fields


def _note(
    manifest: Manifest,
    from_options: set[str],
    path: tuple[str | int, ...],
    problems: Problems,
    found: str,
    expected: str,
    fix: str,
) -> None:
    own = manifest.file != OPTIONS and str(path[0]) not in from_options
    file, rows = (manifest.file, (manifest.line(path),)) if own else (OPTIONS, ())
    problems.add_at(file, found, expected, fix, rows=rows, column=dotted(path))


def finite(value: float) -> float | None:
    """A number for JSON, whose undefined ones are null."""
    return value if isfinite(value) else None


Fault = tuple[str, str, str, str]
SIX = ("reader", "arm_reader", "case", "arm_case", "reader_case", "error")
# A field that speaks of one design, and the designs.
OF_DESIGN = {
    "groups": ("split_plot",),
    "carry_over": ("sequential",),
    "sites": ("sites",),
    "site_share": ("sites",),
    "site_cases": ("sites",),
    "device_correlation": ("device",),
}


def contradictions(request: "SizingRequest") -> Iterator[Fault]:
    """Every rule that the request breaks: field, found, expected, fix."""
    yield from _goal(request)
    yield from _design(request)
    yield from _origin(request)
    if request.components is not None:
        yield from _components(request, request.components)
    if request.published is not None:
        yield from _published(request.published)


def _goal(request: "SizingRequest") -> Iterator[Fault]:
    by_power = request.goal == "power"
    if request.goal == "width" and request.target is None:
        yield "target", "this key is missing", "the width of the interval, such as 0.1", "Add target."
    if by_power and request.target is not None and request.target >= 1:
        yield "target", f"found {request.target:g}", "a power below 1", "Did you mean 0.8?"
    if by_power and request.target is not None and request.target <= request.alpha:
        yield "target", f"found {request.target:g}", f"a power above alpha ({request.alpha:g})", ""
    if by_power and request.hypothesis == "superiority" and not request.effect:
        yield "effect", "there is no difference to find", "a difference other than 0", "Add effect: 0.05."
    if request.hypothesis == "superiority" and request.margin is not None:
        yield "margin", "superiority has no margin", "", "Set hypothesis: non_inferiority, or leave it out."
    if request.hypothesis != "superiority":
        margin, effect = request.margin, request.true_difference
        if margin is None:
            yield "margin", "this key is missing", "the largest acceptable loss, such as 0.05", "Add margin."
        elif by_power and effect <= -margin:
            yield "effect", f"found {effect:g}", f"a true difference above {-margin:g}, the margin", ""
        elif by_power and request.hypothesis == "equivalence" and effect >= margin:
            yield "effect", f"found {effect:g}", f"a true difference within {margin:g} of 0", ""
    if request.expected is not None and not 0 < request.expected + request.true_difference < 1:
        yield (
            "effect",
            f"expected {request.expected:g} and effect {request.true_difference:g} give no share",
            "a sum between 0 and 1",
            "",
        )


def _design(request: "SizingRequest") -> Iterator[Fault]:
    for name, designs in OF_DESIGN.items():
        if getattr(request, name) is not None and request.design not in designs:
            yield name, f"this is of the design {' or '.join(designs)}", f"no {name} here", "Leave it out."
    if request.design == "split_plot" and request.groups is None:
        yield "groups", "this key is missing", "the number of groups of readers", "Add groups: 2."
    if request.design == "sites" and request.sites is None:
        yield "sites", "this key is missing", "the number of sites", "Add sites: 4."
    parts = request.groups or request.sites or 1
    if parts > 1 and not any(readers % parts == 0 for readers in request.readers):
        listed = ", ".join(map(str, request.readers))
        yield "readers", f"none of {listed} divides by {parts}", f"a multiple of {parts}", ""
    if request.cases_per_patient > 1 and request.patient_correlation is None:
        yield (
            "patient_correlation",
            "this key is missing",
            "how alike the cases of one patient are, from 0 to 1",
            "Add patient_correlation: 0.5.",
        )
    if request.patient_correlation is not None and request.cases_per_patient == 1:
        yield "patient_correlation", "a patient has one case", "cases_per_patient above 1", ""
    if request.positive_share is not None and request.endpoint == "accuracy":
        yield "positive_share", "accuracy is of all cases", "no positive_share here", "Leave it out."


def _origin(request: "SizingRequest") -> Iterator[Fault]:
    names = ("components", "published", "pilot")
    given = [name for name in names if getattr(request, name) is not None]
    if not given:
        yield (
            "components",
            "nothing says how much readers and cases vary",
            "one of components, published and pilot",
            "",
        )
    for name in given[1:]:
        yield name, f"{given[0]} is given too", "one of components, published and pilot", "Keep one."
    if request.design == "device" and request.published is not None:
        yield (
            "published",
            "an interval of two arms says nothing of a device alone",
            "components or pilot",
            "",
        )


def _components(
    request: "SizingRequest", given: "ObuchowskiRocketteInput | RoeMetzInput | BdgInput"
) -> Iterator[Fault]:
    if given.model == "roe_metz":
        yield from _roe_metz(request, given)
    elif given.model == "bdg":
        wanted = 8 if request.endpoint == "auc" else 4
        for where, moments in (("arms", (*given.arms,)), ("across", (given.across,))):
            for one in moments:
                if len(one) != wanted:
                    yield (
                        "components",
                        f"{where} has {len(one)} moments",
                        f"{wanted} of {request.endpoint}",
                        "",
                    )
    else:
        yield from _obuchowski_rockette(request, given)


def _roe_metz(request: "SizingRequest", given: "RoeMetzInput") -> Iterator[Fault]:
    own = [name for name in SIX if getattr(given, name) is not None]
    if given.structure and own:
        yield "components", "a structure and components", "one of both", f"Leave out {', '.join(own)}."
    elif not given.structure and len(own) < len(SIX):
        lacking = ", ".join(name for name in SIX if name not in own)
        yield "components", f"{lacking} missing", "a structure, or all six components", ""
    elif not given.structure and not sum(getattr(given, name) for name in SIX) > 0:
        yield "components", "nothing varies", "components above 0", ""
    if request.expected is None:
        yield "expected", "this key is missing", "the endpoint without the aid, such as 0.8", "Add expected."


def _obuchowski_rockette(request: "SizingRequest", given: "ObuchowskiRocketteInput") -> Iterator[Fault]:
    covariances = [name for name in ("cov1", "cov2", "cov3") if getattr(given, name) is not None]
    correlations = [name for name in ("r1", "r2", "r3") if getattr(given, name) is not None]
    device = request.design == "device"
    if covariances and correlations:
        yield "components", "covariances and correlations", "cov1 to cov3 or r1 to r3", "Keep one kind."
        return
    kind = "r" if correlations else "cov"
    # A device alone is compared within one arm.
    needed = [f"{kind}2"] if device else [f"{kind}{i}" for i in (1, 2, 3)]
    lacking = [name for name in needed if getattr(given, name) is None]
    if lacking:
        yield "components", f"{', '.join(lacking)} missing", "cov1, cov2 and cov3, or r1, r2 and r3", ""
    if device and given.reader is None:
        yield "components", "reader missing", "the variance between readers, for a device alone", ""
    if given.error is None:
        if not correlations:
            yield "components", "error missing", "the variance of one reader's estimate", ""
        elif request.expected is None:
            yield "components", "error missing", "error, or expected from which it follows", ""
    if lacking:
        return
    if device and request.expected is None:
        yield "expected", "this key is missing", "the endpoint of the readers, such as 0.8", "Add expected."
    scale = given.error if given.error is not None and kind == "cov" else 1.0
    values: dict[str, Any] = {name: getattr(given, name) for name in needed}
    if given.error is not None or correlations:
        for name, value in values.items():
            if abs(value) > scale:
                yield "components", f"{name} {value:g}", f"at most the error variance ({scale:g})", ""
    if not device and given.error is not None and kind == "cov" and values["cov1"] < values["cov3"]:
        yield "components", "cov1 is below cov3", "a reader is most like himself: cov1 at least cov3", ""
    if given.positives is not None and given.positives >= given.cases:
        yield "components", f"{given.positives} positives of {given.cases} cases", "fewer", ""


def _published(given: "Published") -> Iterator[Fault]:
    if not given.low < given.difference < given.high:
        yield (
            "published",
            f"the difference {given.difference:g} is not between {given.low:g} and {given.high:g}",
            "low, difference and high in this order",
            "",
        )
    shares = [given.readers_share, given.cases_share, given.both_share]
    known = [share for share in shares if share is not None]
    if known and (len(known) < 3 or abs(sum(known) - 1) > 1e-6):
        yield "published", "shares that are not complete", "readers, cases and both, adding up to 1", ""
    if given.positives is not None and given.positives >= given.cases:
        yield "published", f"{given.positives} positives of {given.cases} cases", "fewer", ""
