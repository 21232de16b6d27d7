"""What a plan is asked for: the fields of the file or of the options, read with every problem gathered."""

from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trustreport.errors import StudyError
from trustreport.ingest.manifest import Manifest, dotted, expectation, parse
from trustreport.ingest.problems import Problems, did_you_mean, quoted
from trustreport.measures.mrmc.planned import Hypothesis
from trustreport.sizing.moments import Endpoint
from trustreport.sizing.request_rules import contradictions

OPTIONS = "options"
Design = Literal["crossed", "split_plot", "sequential", "sites", "device"]
Structure = Literal["HL", "HH", "LL", "LH"]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Inside = Annotated[float, Field(gt=0, lt=1)]
Variance = Annotated[float, Field(ge=0, le=1)]
Signed = Annotated[float, Field(ge=-1, le=1)]
Readers = Annotated[int, Field(ge=1, le=1000)]


class _Group(BaseModel):
    """Unknown keys are errors, and numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ObuchowskiRocketteInput(_Group):
    """Components of the Obuchowski-Rockette model for a study of `cases` cases.

    Covariances, or correlations `r1`, `r2`, `r3` of the estimates; with these and without `error`, that
    follows from `expected`.
    """

    model: Literal["obuchowski_rockette"]
    arm_reader: Variance
    cases: Count
    positives: Count | None = None
    reader: Variance | None = None
    error: Variance | None = None
    cov1: Signed | None = None
    cov2: Signed | None = None
    cov3: Signed | None = None
    r1: Signed | None = None
    r2: Signed | None = None
    r3: Signed | None = None


class RoeMetzInput(_Group):
    """Variance components of the ratings: a structure of Roe and Metz (1997), or the six."""

    model: Literal["roe_metz"]
    structure: Structure | None = None
    reader: Annotated[float, Field(ge=0)] | None = None
    arm_reader: Annotated[float, Field(ge=0)] | None = None
    case: Annotated[float, Field(ge=0)] | None = None
    arm_case: Annotated[float, Field(ge=0)] | None = None
    reader_case: Annotated[float, Field(ge=0)] | None = None
    error: Annotated[float, Field(ge=0)] | None = None


class BdgInput(_Group):
    """Moments of Gallas: M1 to M8 of an area (of decisions M1 to M4), of each arm and of both arms."""

    model: Literal["bdg"]
    arms: Annotated[tuple[tuple[Share, ...], ...], Field(min_length=1, max_length=2)]
    across: tuple[Share, ...]


Components: TypeAlias = Annotated[
    ObuchowskiRocketteInput | RoeMetzInput | BdgInput, Field(discriminator="model")
]


class Published(_Group):
    """A published study: its difference with the interval, its readers and cases.

    `readers_share`, `cases_share` and `both_share` say what the variance of the difference is due to.
    """

    difference: Signed
    low: Signed
    high: Signed
    readers: Annotated[int, Field(ge=2, le=1000)]
    cases: Count
    positives: Count | None = None
    level: Inside = 0.95
    readers_share: Share | None = None
    cases_share: Share | None = None
    both_share: Share | None = None


class SizingRequest(_Group):
    """A reader study to be sized. One of `components`, `published` and `pilot` says how much varies."""

    endpoint: Endpoint = "auc"
    design: Design = "crossed"
    hypothesis: Hypothesis = "superiority"
    goal: Literal["power", "width"] = "power"
    target: Annotated[float, Field(gt=0, lt=2)] | None = None
    alpha: Inside = 0.05
    effect: Signed | None = None
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    expected: Inside | None = None
    readers: Annotated[tuple[Readers, ...], Field(min_length=1, max_length=40)] = (4, 5, 6, 8, 10, 12, 15, 20)
    cases: Annotated[tuple[Count, ...], Field(min_length=1, max_length=40)] = (
        50,
        100,
        150,
        200,
        300,
        400,
        600,
    )
    positive_share: Inside | None = None
    groups: Annotated[int, Field(ge=2, le=1000)] | None = None
    carry_over: Share | None = None
    sites: Annotated[int, Field(ge=2, le=1000)] | None = None
    site_share: Share | None = None
    site_cases: Literal["same", "own"] | None = None
    device_correlation: Annotated[float, Field(ge=0, le=1)] | None = None
    cases_per_patient: Annotated[float, Field(ge=1, le=1000)] = 1.0
    patient_correlation: Share | None = None
    components: Components | None = None
    published: Published | None = None
    pilot: str | None = None
    simulate: Annotated[int, Field(ge=0, le=100_000)] = 0
    seed: Annotated[int, Field(ge=0)] = 1

    @property
    def wished(self) -> float:
        """The power or the width that is wished."""
        return self.target if self.target is not None else 0.8

    @property
    def true_difference(self) -> float:
        """The difference that the study is planned for."""
        return self.effect if self.effect is not None else 0.0

    @property
    def share_positive(self) -> float:
        """The share of positive cases."""
        return self.positive_share if self.positive_share is not None else 0.5


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
            problems.at(str(path), "this cannot be read", "a file of YAML or JSON")
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
            problems.at(OPTIONS, f"{quoted(group)} is one value and a group at once", column=name)
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
    problems.at(file, found, expected, fix, rows=rows, column=dotted(path))


def finite(value: float) -> float | None:
    """A number for JSON, whose undefined ones are null."""
    return value if isfinite(value) else None
