"""What a plan is asked for: the fields of the file or of the options, read with every problem gathered."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trustreport.measures.mrmc.planned import Hypothesis
from trustreport.planning.moments import Endpoint
from trustreport.study.ingest.problems import did_you_mean, quoted
from trustreport.study.ingest.validation import expectation
from trustreport.vocabulary.errors import Problem, StudyError

OPTIONS = "options"
Design = Literal["crossed", "split_plot", "sequential", "sites", "device"]
Structure = Literal["HL", "HH", "LL", "LH"]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Inside = Annotated[float, Field(gt=0, lt=1)]
Variance = Annotated[float, Field(ge=0, le=1)]
Signed = Annotated[float, Field(ge=-1, le=1)]
Readers = Annotated[int, Field(ge=1, le=1000)]


class OptionsRequest(BaseModel):
    """Unknown keys are errors, and numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ObuchowskiRocketteInput(OptionsRequest):
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


class RoeMetzInput(OptionsRequest):
    """Variance components of the ratings: a structure of Roe and Metz (1997), or the six."""

    model: Literal["roe_metz"]
    structure: Structure | None = None
    reader: Annotated[float, Field(ge=0)] | None = None
    arm_reader: Annotated[float, Field(ge=0)] | None = None
    case: Annotated[float, Field(ge=0)] | None = None
    arm_case: Annotated[float, Field(ge=0)] | None = None
    reader_case: Annotated[float, Field(ge=0)] | None = None
    error: Annotated[float, Field(ge=0)] | None = None


class BdgInput(OptionsRequest):
    """Moments of Gallas: M1 to M8 of an area (of decisions M1 to M4), of each arm and of both arms."""

    model: Literal["bdg"]
    arms: Annotated[tuple[tuple[Share, ...], ...], Field(min_length=1, max_length=2)]
    across: tuple[Share, ...]


Components: TypeAlias = Annotated[
    ObuchowskiRocketteInput | RoeMetzInput | BdgInput, Field(discriminator="model")
]


class Published(OptionsRequest):
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


class SizingRequest(OptionsRequest):
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
        return self.positive_share if self.positive_share is not None else 0.5


Request = TypeVar("Request", bound=OptionsRequest)


def validated(model: type[Request], fields: Mapping[str, Any]) -> Request:
    """A request without groups, from options.

    Raises
    ------
    StudyError : with every problem of the fields
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        problems = []
        for e in error.errors(include_url=False):
            name, kind = str(e["loc"][0]), e["type"]
            if kind == "missing":
                problems.append(Problem(OPTIONS, "this field is missing", "a value", column=name))
            elif kind == "extra_forbidden":
                fix = did_you_mean(name, model.model_fields)
                problems.append(Problem(OPTIONS, f"unknown field {quoted(name)}", "", fix, column=name))
            else:
                found = f"found {quoted(e.get('input'))}"
                problems.append(Problem(OPTIONS, found, expectation(e), column=name))
        raise StudyError(problems) from None
