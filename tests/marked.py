"""Studies of localisation: lesions, and marks of candidates or readers."""

from typing import Any

import numpy as np

from trustreport.study.study import Cases, Coded, Dataset, Labels, Localisation, Readers, Study

LESION_CASE = np.array([0, 0, 1, 2, 3, 3], np.int32)
N = 8


def cases(n: int = N, lesion_case: Any = LESION_CASE, patients: int = 0) -> Cases:
    """Cases whose truth is whether they have a lesion; so many to a patient, if any are."""
    truth = np.zeros(n, np.int8)
    truth[lesion_case] = 1
    codes = (np.arange(n) // patients).astype(np.int32) if patients else None
    labels = Labels(tuple(f"P{i}" for i in range(n)))
    return Cases(
        Labels(tuple(f"C{i}" for i in range(n))),
        truth,
        patient=None if codes is None else Coded(codes, labels),
    )


def of_candidates(
    n: int = 60, names: tuple[str, ...] = ("A",), seed: int = 1, patients: int = 0, **more: Any
) -> Study:
    """Candidates on a data set: the first half of the cases has one or two lesions."""
    rng = np.random.default_rng(seed)
    lesion_case = np.sort(np.concatenate([np.arange(n // 2), np.arange(0, n // 2, 3)])).astype(np.int32)
    rows = [_marks(rng, n, lesion_case, 2.0 - 0.4 * j) for j in range(len(names))]
    of = _localisation(rows, [0] * len(names), list(range(len(names))))
    held = cases(n, lesion_case, patients)
    one = Localisation(held, lesion_case, None, Labels(names), *of, dataset="north", **more)
    return Study(datasets=(Dataset("north", "external", held),), localisations=(one,))


def of_readers(n: int = 60, readers: int = 5, seed: int = 1, task: str = "") -> Study:
    """Readers in two arms who find more with the aid."""
    rng = np.random.default_rng(seed)
    lesion_case = np.sort(np.concatenate([np.arange(n // 2), np.arange(0, n // 2, 3)])).astype(np.int32)
    skill = rng.normal(0, 0.2, readers)
    pairs = [(a, j) for a in range(2) for j in range(readers)]
    rows = [_marks(rng, n, lesion_case, 1.0 + 1.5 * a + skill[j]) for a, j in pairs]
    of = _localisation(rows, [a for a, _ in pairs], [j for _, j in pairs])
    names = Labels(tuple(f"R{j + 1}" for j in range(readers)))
    one = Localisation(
        cases(n, lesion_case),
        lesion_case,
        None,
        names,
        *of,
        arms=("unaided", "aided"),
        task=task,
        readers=Readers(names),
    )
    return Study(arms=("unaided", "aided"), localisations=(one,))


def by_radius(spread: float) -> Study:
    """A candidate whose marks are about as far from their lesions as `spread`; the radius is 2."""
    study = of_candidates()
    (one,) = study.localisations
    away = np.where(one.lesion >= 0, np.linspace(0.5, 1.5, len(one.rating)) * spread, np.inf)
    made = {field: getattr(one, field) for field in one.__dataclass_fields__}
    moved = Localisation(**{**made, "radius": 2.0, "distance": away})
    return Study(datasets=study.datasets, localisations=(moved,))


def _marks(rng: np.random.Generator, n: int, lesion_case: Any, mean: float) -> tuple[Any, Any, Any]:
    """Case, rating and lesion of each mark."""
    hit = np.flatnonzero(rng.random(len(lesion_case)) < 0.85)
    false = rng.integers(0, n, n)
    case = np.concatenate([lesion_case[hit], false])
    rating = np.concatenate([rng.normal(mean, 1, len(hit)), rng.normal(0, 1, n)])
    return case, rating, np.concatenate([hit, np.full(n, -1)])


def _localisation(rows: list[Any], arms: list[int], makers: list[int]) -> tuple[Any, ...]:
    sizes = [len(case) for case, *_ in rows]
    arm, maker = (np.repeat(of, sizes).astype(np.int32) for of in (arms, makers))
    case, rating, lesion = (np.concatenate([row[k] for row in rows]) for k in range(3))
    return arm, maker, case.astype(np.int32), rating, lesion.astype(np.int32)
