"""What the device is for, as declared, and on whom it was tested: facts that stand before the chapters."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from trustreport.assessment.assess import Assessment
from trustreport.assessment.case_mix import MAKING, CaseMix
from trustreport.report import declared
from trustreport.report.answer.other_evidence import of_raters_alone
from trustreport.report.declared import day
from trustreport.report.elements.about import (
    counted,
    device_line,
    n_measured,
    n_published,
    n_raters,
    reference,
)
from trustreport.study.plan import DatasetFacts, Plan
from trustreport.vocabulary.digits import share
from trustreport.vocabulary.messages import Catalogue

BETWEEN = " · "
MOST_SITES = 6  # named; of more the number is said

Rows = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class UseBox:
    """The declared use and the tests, label and text each; names of what is not declared."""

    use: tuple[tuple[str, str], ...]
    tested: tuple[tuple[str, str], ...]
    undeclared: tuple[str, ...]


def use_box(assessment: Assessment, say: Catalogue) -> UseBox:
    """The box of the front matter."""
    plan = assessment.plan
    use = _use(plan, say)
    return UseBox(
        tuple((say(f"report.use.{key}"), text) for key, text in use if text),
        tuple((say(f"report.use.{key}"), text) for key, text in _tested(assessment, say) if text),
        tuple(say(f"report.use.{key}") for key, text in use if not text),
    )


def purpose_line(plan: Plan, say: Catalogue) -> str:
    """Purpose, condition and users; of a triage device also what happens to a case that it misses."""
    use = plan.intended_use
    purpose, condition = (" ".join((text or "").split()) for text in _purpose(plan))
    if not purpose:
        return say("report.use.no_purpose")
    if condition and condition.casefold() not in purpose.casefold():
        purpose = say("report.use.purpose_of", purpose=purpose.rstrip("."), condition=condition.rstrip("."))
    triage = (use.decision_role or "").strip().casefold() == "triage"
    said = say("report.use.line_triage" if triage else "report.use.line", purpose=purpose.rstrip("."))
    users = " ".join((use.intended_users or "").split()).rstrip(".")
    return f"{said} {say('report.use.users_line', users=users) if users else say('report.use.no_users')}"


def _purpose(plan: Plan) -> tuple[str | None, str | None]:
    return plan.intended_use.intended_purpose, plan.intended_use.medical_condition


def _use(plan: Plan, say: Catalogue) -> Rows:
    """Each fact of the intended use by the key of its label; empty where it is not declared."""
    use = plan.intended_use
    role = declared.text(use.decision_role, say) if use.decision_role else ""
    return [
        ("purpose", use.intended_purpose or ""),
        ("condition", use.medical_condition or ""),
        ("users", _joined(use.intended_users, use.use_environment)),
        ("role", _joined(role, use.output_type)),
        ("patients", _patients(plan, say)),
        ("not_for", use.out_of_scope_uses or ""),
        ("contraindications", use.contraindications or ""),
        ("risks", declared.text(use.known_risks, say) if use.known_risks else ""),
    ]


def _joined(*texts: str | None) -> str:
    return BETWEEN.join(text.rstrip(".") for text in texts if text)


def _patients(plan: Plan, say: Catalogue) -> str:
    use, population = plan.intended_use, plan.intended_use.intended_patient_population
    ages = (population.age_range if population else None) or use.age_range
    sex = (population.sex if population else None) or use.sex
    prevalence = plan.expected_prevalence
    said = ""
    if ages:
        low, high = map(say.numbers.plain, ages)
        said = say("report.use.ages", low=low, high=high)
    sexes = say("report.use.sex", sex=declared.text(sex, say)) if sex else ""
    expected = "" if prevalence is None else say("report.use.prevalence", share=prevalence)
    setting = (population.setting if population else None) or use.setting
    return _joined(population.description if population else None, setting, said, sexes, expected)


def _tested(assessment: Assessment, say: Catalogue) -> Rows:
    """The device where it was tested, cases of each test, the reference, and when criteria were locked."""
    study, plan = assessment.study, assessment.plan
    locked, none = plan.study.sap_locked_at, say("word.not_declared")
    alone = [m for m in assessment.case_mixes if m.role and m.role not in MAKING]
    read = [m for m in assessment.case_mixes if not m.role]
    published = not alone and not read
    return [
        ("device", "" if of_raters_alone(assessment) else device_line(plan, say)),
        ("alone", _cases(alone, plan, say) if alone else ""),
        ("readers", _readers(assessment, read, say) if read else counted(study, "readers", say)),
        ("published", _joined(n_published(study, say), counted(study, "cases", say)) if published else ""),
        ("pooled", say("report.use.n_sites", n=len(study.pooled.sites)) if study.pooled else ""),
        ("measured", n_measured(study, say)),
        ("raters", n_raters(study, say)),
        ("reference", reference(plan, say)),
        ("size", plan.study.sample_size or ""),
        ("locked", day(locked, say) if locked else none),
    ]


def _cases(mixes: Sequence[CaseMix], plan: Plan, say: Catalogue) -> str:
    """How many cases from where and when, how many with the condition, and how they were sampled."""
    names = {mix.name for mix in mixes}
    facts = [d for d in plan.datasets if d.dataset in names]
    n = say("report.tested.n_datasets", n=len(names))
    return _joined(_numbers(mixes, plan, say), n, *_origin(facts, say))


def _numbers(mixes: Sequence[CaseMix], plan: Plan, say: Catalogue) -> str:
    n, positive = sum(m.n for m in mixes), sum(m.positive for m in mixes)
    known = positive + sum(m.negative for m in mixes)
    if not known:
        return say("report.tested.n_cases", n=n)
    prevalence, expected = share(positive, known), plan.expected_prevalence
    key = "cases" if expected is None else "cases_expected"
    return say(f"report.use.{key}", n=n, positive=positive, share=prevalence, expected=expected)


def _origin(facts: Sequence[DatasetFacts], say: Catalogue) -> Iterator[str]:
    """Sites, dates and sampling of data sets, as declared."""
    sites = list(dict.fromkeys(site for d in facts for site in d.sites or ()))
    if sites:
        named = "sites_named" if len(sites) <= MOST_SITES else "sites"
        yield say(f"report.use.{named}", n=len(sites), names=sites)
    starts, ends = ([d for one in facts if (d := getattr(one, name))] for name in ("start_date", "end_date"))
    if starts and ends:
        yield _period(starts, ends, say)
    yield from dict.fromkeys(declared.text(d.sampling, say) for d in facts if d.sampling)


def _period(starts: Iterable[dt.date], ends: Iterable[dt.date], say: Catalogue) -> str:
    return say("word.to", low=day(min(starts), say), high=day(max(ends), say))


def _readers(assessment: Assessment, mixes: Sequence[CaseMix], say: Catalogue) -> str:
    """Cases and readers of the reader study, its design, and how its cases were chosen."""
    study, plan = assessment.study, assessment.plan
    reading = plan.reading
    names = {mix.name for mix in mixes}
    facts = [d for d in plan.datasets if d.dataset in names]
    said = [_numbers(mixes, plan, say), counted(study, "readers", say), *_origin(facts, say)]
    said += [d.enrichment for d in facts if d.enrichment]
    said.append(declared.text(reading.design, say) if reading.design else "")
    if reading.washout_days is not None:
        said.append(say("report.use.washout", days=say.numbers.plain(reading.washout_days)))
    if reading.order_assignment:
        said.append(say("report.use.order", order=reading.order_assignment))
    return _joined(*said)
