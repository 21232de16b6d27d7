"""Studies of which counts alone are provided."""

import numpy as np
from numpy.random import Generator
from scipy.special import expit, logit

from designs.drawn import Drawn, ask_difference, ask_values, chosen, study
from designs.of_scores import OF_CELLS, of_cells

CONTRAST = ["aided", "unaided"]


def counts(rng: Generator) -> Drawn:
    """A confusion matrix of independent cases."""
    prevalence, n = float(rng.uniform(0.15, 0.6)), int(rng.integers(60, 401))
    sensitivity, specificity = float(rng.uniform(0.65, 0.95)), float(rng.uniform(0.65, 0.97))
    shares = np.array([prevalence * sensitivity, prevalence * (1 - sensitivity)])
    others = np.array([(1 - prevalence) * (1 - specificity), (1 - prevalence) * specificity])
    tp, fn, fp, tn = (int(x) for x in rng.multinomial(n, [*shares, *others]))
    drawn = study(
        confusion=[{"set": "test", "tp": tp, "fp": fp, "fn": fn, "tn": tn, "readers": 1, "cases": n}]
    )
    true = of_cells(sensitivity, specificity, prevalence)
    ask_values(drawn, rng, {name: true[name] for name in OF_CELLS}, "advice_accuracy.", 4, set="test")
    return drawn


def paired(rng: Generator) -> Drawn:
    """Right and wrong decisions of one reader on the same cases in both arms."""
    n, null = int(rng.integers(40, 301)), rng.random() < 0.5
    better = float(rng.uniform(0.03, 0.2))
    worse = better if null else float(rng.uniform(0.02, 0.2))
    wrong = float(rng.uniform(0.05, 0.3))
    shares = [1 - better - worse - wrong, better, worse, wrong]
    names = ("both_right", "aided_right_unaided_wrong", "aided_wrong_unaided_right", "both_wrong")
    drawn = study(
        paired_counts=[
            {"set": "test", "readers": 1, "cases": n}
            | {name: int(x) for name, x in zip(names, rng.multinomial(n, shares), strict=True)}
        ]
    )
    ratio = (worse + wrong) / (better + wrong)
    for name in chosen(rng, ["arr", "rr", "odds_ratio"] if null else ["arr", "rr"], 2):
        measure = f"pragmatic_utility.{name}"
        if name == "arr":
            ask_difference(drawn, rng, measure, better - worse, set="test")
        elif null:
            drawn.ask(measure, "superiority", set="test")
        elif ratio > 1:
            drawn.ask(measure, "non-inferiority", ratio, set="test")
        else:
            drawn.ask(measure, "superiority", ratio, set="test")
    return drawn


def published(rng: Generator) -> Drawn:
    """Confusion matrices of studies whose sensitivity and specificity vary together."""
    studies = int(rng.integers(5, 15))
    centre = logit([rng.uniform(0.7, 0.92), rng.uniform(0.7, 0.95)])
    spread, together = rng.uniform(0.2, 0.8, 2), rng.uniform(-0.7, 0.3)
    noise = rng.multivariate_normal([0, 0], [[1, together], [together, 1]], studies)
    sensitivity, specificity = expit(centre + spread * noise).T
    matrices = []
    for i in range(studies):
        positives, negatives = (int(x) for x in np.exp(rng.uniform(np.log(25), np.log(250), 2)))
        tp, tn = int(rng.binomial(positives, sensitivity[i])), int(rng.binomial(negatives, specificity[i]))
        own = {"tp": tp, "fn": positives - tp, "tn": tn, "fp": negatives - tn}
        matrices.append({"set": f"study {i}", "readers": 1, "cases": positives + negatives, **own})
    drawn = study(confusion=matrices, pools=[{"pool": "all"}])
    true = dict(zip(("pooled_sensitivity", "pooled_specificity"), map(float, expit(centre)), strict=True))
    ask_values(drawn, rng, true, "reported.", set="all")
    return drawn
