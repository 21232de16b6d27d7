"""Families of criteria: some far on the right side, the others at the border."""

from numpy.random import Generator

from designs.drawn import ALPHA, Drawn
from designs.of_scores import drawn_cases, risk_and_threshold, scored, table

RULES = ("holm", "bonferroni", "fixed sequence", "co-primary")
MEASURES = ("sensitivity", "specificity", "accuracy", "balanced_accuracy", "ppv", "npv", "auc")


def families(rng: Generator) -> Drawn:
    """Of co-primary criteria a false pass is a family that is met."""
    risk, threshold = risk_and_threshold(rng)
    truth, score = drawn_cases(rng, risk, int(rng.integers(200, 501)))
    true, rule = risk.true(threshold), str(rng.choice(RULES))
    drawn = scored(
        table(truth, score), threshold, families=[{"family": "main", "rule": rule, "alpha": ALPHA}]
    )
    names = [str(name) for name in rng.permutation(MEASURES)[: int(rng.integers(2, 6))]]
    good = rng.random(len(names)) < 0.4
    good[int(rng.integers(len(names)))] = False
    for name, far in zip(names, good, strict=True):
        drawn.ask(
            f"advice_accuracy.{name}",
            "performance goal",
            true[name] - 0.3 if far else true[name],
            "good" if far else "border",
            dataset="test",
            multiplicity_family="main",
        )
    drawn.counted = "all of the family" if rule == "co-primary" else "any of the family"
    return drawn
