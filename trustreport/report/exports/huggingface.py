"""The metadata of a Hugging Face model card with its results (model-index, YAML)."""

from trustreport.assessment.assess import Assessment
from trustreport.report.elements.about import device_name
from trustreport.report.exports.chosen import PERFORMANCE, chosen
from trustreport.vocabulary.messages import catalogue

TASK = "other"  # the hub's word for what none of its tasks is


def render(assessment: Assessment, suffix: str) -> bytes:
    """The head of a README.md, as huggingface_hub writes it: the results on each set, with their intervals.

    Raises
    ------
    ValueError : no result of the device on a set of cases
    """
    from huggingface_hub import EvalResult, ModelCardData

    say = catalogue(assessment.plan.report.language)
    found = [one for one in chosen(assessment, PERFORMANCE, say) if one.dataset]
    if not found:
        raise ValueError("the study has no result of the device on a set of cases, which a model-index lists")
    results = [
        EvalResult(
            task_type=TASK,
            dataset_type=one.dataset,
            dataset_name=one.dataset,
            metric_type=one.quantity,
            metric_name=one.label,
            metric_value=one.value,
            metric_args={
                "lower": one.low,
                "upper": one.high,
                "level": one.level,
                "n": one.n,
                "method": one.method,
            },
        )
        for one in found
    ]
    data = ModelCardData(
        language=assessment.plan.report.language,
        model_name=device_name(assessment.plan, say),
        eval_results=results,
    )
    return f"---\n{data.to_yaml()}\n---\n".encode()
