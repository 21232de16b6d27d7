"""What is said of a truth that is wrong at times: corrected measures, and the tests that it is made of."""

from collections.abc import Iterator
from math import isnan

from trustreport.assessment.dimensions.advice_accuracy.words import in_sentence, text
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.performance.labels import label_error
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.quantity import CORRECTED
from trustreport.vocabulary.results import Result


def corrected_for_label_error(results: list[Result], plan: Plan) -> Iterator[Message]:
    """The measures without the error of the labels, and what remains if both may err together."""
    of_labels = [r for r in results if r.name.startswith(CORRECTED)]
    found = {r.name.removeprefix(CORRECTED): r for r in of_labels if not isnan(r.estimate.value)}
    standard, error = plan.reference_standard, label_error(plan)
    latent = standard.kind == "latent_class"
    items = _items([r for name, r in found.items() if name != "prevalence"])
    if latent and not items and of_labels:
        yield text("label_latent_none", reason=of_labels[0].estimate.note)
    if not found or (latent and not items):
        return
    allowed = [
        text("label_bound", measure=quantity_name(name), low=known["lowest"], high=known["highest"])
        for name, r in found.items()
        if "lowest" in (known := r.estimate.details)
    ]
    bounds = None
    if latent and standard.dependence:
        bounds = text("label_dependence", share=standard.dependence, measures=allowed)
    elif allowed and not latent:
        bounds = text("label_bounds", measures=allowed)
    if items:
        said = text("label_latent", measures=items, n=next(iter(found.values())).estimate.n)
        if error is not None:
            said = text("label_corrected", se=error.sensitivity, sp=error.specificity, measures=items)
        # The report prints few sentences: what rests on an assumption is not said without its bounds.
        yield text("label_corrected_unless", corrected=said, bounds=bounds) if bounds else said
    elif bounds:
        yield bounds


def reference_tests(results: list[Result], plan: Plan, tests: list[str]) -> Iterator[Message]:
    """Of which tests the truth is made, by which rule, how often they disagree, and how good each is."""
    apart = next((r for r in results if r.name == "reference_disagreement"), None)
    if apart is None or isnan(apart.estimate.value):
        return
    e = apart.estimate
    values = {"tests": tests, "n": e.n, "unlike": round(e.value * e.n)}
    yield text(f"label_rule_{plan.reference_standard.rule}", e, **values)
    for test in tests:
        rates = [r for r in results if r.name.startswith("reference_") and r.parameters.get("test") == test]
        if items := _items(rates):
            yield text("reference_test", test=test, measures=items)


def _items(results: list[Result]) -> list[Message]:
    """Each measure with its interval, where it has one."""
    return [
        text(
            "weighted_item",
            measure=quantity_name(r.name.removeprefix(CORRECTED).removeprefix("reference_")),
            estimate=in_sentence(r),
        )
        for r in results
        if not isnan(r.estimate.low)
    ]
