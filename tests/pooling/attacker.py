"""An attacker of site files: all that a file says of one joint table of cases, by linear programs.

It shares no code with the disclosure rules. What it knows: which columns and outcomes there are, every
number of the file, and that cases are whole numbers.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint, linprog, milp

from trustreport.study.pooled.site_file import SetCounts

Atom = tuple[Any, ...]
Pick = Callable[[Atom], bool]


def recovered_cells(handed_over: SetCounts, table: Mapping[Atom, int], fewest: int) -> list[str]:
    """Small counts that the file gives back.

    Parameters
    ----------
    table : the true number of cases by (truth, outcome, value of each column), which the attacker looks for
    """
    atoms = list(table)
    rows, values = [], []
    for pick, n in _published(handed_over):
        rows.append([float(pick(atom)) for atom in atoms])
        values.append(float(n))
    equations = np.array(rows).reshape(len(rows), len(atoms))
    truth = np.array([table[atom] for atom in atoms], float)
    assert np.allclose(equations @ truth, values), "the file is not of these cases"
    found = []
    for name, pick in _looked_for(atoms):
        wanted = np.array([float(pick(atom)) for atom in atoms])
        n = round(wanted @ truth)
        if 0 < n < fewest and _is_fixed(wanted, n, equations, np.array(values)):
            found.append(f"{name}: {n}")
    return found


def _published(handed_over: SetCounts) -> Iterator[tuple[Pick, int]]:
    patterns = {k: [p for p in handed_over.patterns if p.truth == k] for k in (0, 1)}
    for k, own in patterns.items():
        for one in own:
            yield lambda atom, k=k, one=one: atom[:2] == (k, one.outcomes[0]), one.n
    for place, group in enumerate(handed_over.groups):
        for level in group.levels:
            for one, n in zip(patterns[level.truth], level.n):
                key = (level.truth, one.outcomes[0])
                yield lambda a, key=key, p=place, v=level.values[0]: a[:2] == key and a[2 + p] == v, n
    for scores in handed_over.scores.values():
        area = scores.estimates.get("auc")
        if area:
            for k, word in ((1, "positives"), (0, "negatives")):
                yield lambda a, k=k: a[0] == k and a[1] != "not run", round(area[0].details[word])
        if scores.sums is not None:
            yield lambda a: a[1] not in ("not run", "failed"), scores.sums.n
            yield lambda a: a[0] == 1 and a[1] not in ("not run", "failed"), scores.sums.events


def _looked_for(atoms: list[Atom]) -> Iterator[tuple[str, Pick]]:
    """Cells of the decisions, those of each group, and the sizes of classes and groups."""
    outcomes = sorted({atom[:2] for atom in atoms})
    yield from ((f"{k} {o}", lambda a, key=(k, o): a[:2] == key) for k, o in outcomes)
    for place in range(len(atoms[0]) - 2):
        for (k, o), value in product(outcomes, sorted({atom[2 + place] for atom in atoms}, key=str)):
            yield f"{k} {o} {value}", lambda a, key=(k, o), p=place, v=value: a[:2] == key and a[2 + p] == v


def _is_fixed(wanted: np.ndarray, n: int, equations: np.ndarray, values: np.ndarray) -> bool:
    """Whether every whole-numbered table that agrees has this count."""
    for sign in (1, -1):
        loose = linprog(sign * wanted, A_eq=equations, b_eq=values, bounds=(0, None))
        if loose.status == 3:
            return False
        if abs(sign * loose.fun - n) < 1 - 1e-6:
            continue
        held = LinearConstraint(equations, values, values)
        whole = milp(sign * wanted, constraints=held, integrality=np.ones(len(wanted)))
        if whole.x is not None and round(float(wanted @ whole.x)) != n:
            return False
    return True
