"""A reference that is itself wrong at times: its declared error, and what follows for a device."""

import re
from collections.abc import Iterator

import numpy as np

from trustreport.assessment.performance.cases import Mask, ScoredCases
from trustreport.assessment.performance.measures import lead
from trustreport.measures.cluster import together
from trustreport.measures.confusion.label_error import (
    NAMES,
    LabelError,
    area_corrected_for_labels,
    corrected_for_labels,
)
from trustreport.measures.confusion.latent_class import FEWEST, LatentClasses, latent_classes
from trustreport.measures.estimate import Estimate
from trustreport.measures.means import case_share
from trustreport.measures.seeds import generator
from trustreport.study.plan import Plan
from trustreport.study.study import Binary
from trustreport.vocabulary.messages import Message, say

LATENT = "latent_class"
READ = re.compile(
    r"language model|\bllms?\b|\bgpt|\bnlp\b|natural language|report[- ]derived|(label|read|extract|min)\w* "
    r"(automatically )?(from|of) (the )?(radiology |pathology |free-text |clinical )?reports?"
    r"|report labels?|billing codes?|\bicd\b|sprachmodell|aus (den )?befundtexten|modèle de langage"
    r"|comptes rendus|modello linguistico|dai referti",
    re.IGNORECASE,
)


def label_error(plan: Plan) -> LabelError | None:
    """The declared error of the reference; None where nobody declared it."""
    said = plan.reference_standard
    if said.sensitivity is None or said.specificity is None or said.kind == "exact":
        return None
    (se, of_se), (sp, of_sp) = (_rate(x) for x in (said.sensitivity, said.specificity))
    return LabelError(se, sp, of_se, of_sp) if se + sp > 1 else None


def _rate(said: float | tuple[int, int]) -> tuple[float, int | None]:
    return (said[0] / said[1], said[1]) if isinstance(said, tuple) else (said, None)


def words_on_labels(plan: Plan) -> list[str | None]:
    """What the manifest says in words of where the truth comes from."""
    standard = plan.reference_standard
    return [standard.definition, standard.type, *(d.labels_provenance for d in plan.datasets)]


def latent_of(case: ScoredCases, plan: Plan) -> LatentClasses | None:
    """The accuracy of the device and of the tests in a latent class; None where none is declared."""
    standard, called = plan.reference_standard, case.decision
    if standard.kind != "latent_class" or called is None or len(case.dataset.cases.tests) < FEWEST - 1:
        return None
    level = plan.report.confidence_level
    if (LATENT, level) not in case.memo:
        results, known = tests_of(case)
        case.memo[LATENT, level] = latent_classes(
            np.vstack([called, results == 1])[:, known],
            rng=generator(plan.similarity.seed, LATENT, str(case.place.scope)),
            dependence=standard.dependence or 0.0,
            cluster=together(case.cluster, known),
            level=level,
        )
    found: LatentClasses = case.memo[LATENT, level]
    return found


def tests_of(case: ScoredCases) -> tuple[Binary, Mask]:
    """The results of the tests that make the truth, (n_tests, n_cases), and which cases have them all."""
    results = np.stack([result[case.rows] for result in case.dataset.cases.tests.values()])
    return results, np.asarray((results >= 0).all(axis=0))


def disagreement(case: ScoredCases, level: float) -> Estimate | None:
    """The share of cases in which the tests that the truth is made of disagree; None without such tests."""
    if not case.dataset.cases.tests:
        return None
    results, known = tests_of(case)
    unlike = (results != results[0]).any(axis=0)[known]
    return case_share(unlike, cluster=together(case.cluster, known), level=level)


def why_labels_err(plan: Plan) -> Message | None:
    """Why the truth is to be taken as a label that is wrong at times; None where nothing says so."""
    standard, error = plan.reference_standard, label_error(plan)
    if error is not None:
        return say("checks.P73.declared", se=error.sensitivity, sp=error.specificity)
    if standard.kind in ("composite", "latent_class"):
        return say(f"checks.P73.{standard.kind}")
    if standard.kind in ("error_prone", "surrogate", "none"):
        return say("checks.P73.fired")
    if standard.kind is not None:
        return None
    found = (READ.search(words) for words in words_on_labels(plan) if words)
    read = next((one[0] for one in found if one), None)
    return None if read is None else say("checks.P73.read", words=read)


def corrected_measures(case: ScoredCases, plan: Plan) -> Iterator[tuple[str, Estimate]]:
    """The measures of a data set corrected for the error of its labels; nothing where none is known."""
    error, level, latent = label_error(plan), plan.report.confidence_level, latent_of(case, plan)
    if latent is not None:
        yield from latent.device.items()
    if error is None or len(case.dataset.cases.classes) != 2:
        return
    label, called = case.truth, case.decision
    if called is not None:
        for name in NAMES:
            yield name, corrected_for_labels(name, label, called, error, cluster=case.cluster, level=level)
    if case.score is not None:
        apparent = lead(case, "auc", level)
        ranked, _, _ = case.ranked
        yield "auc", area_corrected_for_labels(apparent, np.asarray(ranked, bool), error, level)
