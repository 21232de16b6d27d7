"""No small number of people follows from what is published: drawn tables, and an attacker who enumerates."""

from itertools import product
from time import process_time

import numpy as np
import pytest

from trustreport.measures.disclosure.counts import Count, Sum
from trustreport.measures.disclosure.invert import Attack, recovered
from trustreport.measures.disclosure.withhold import withheld

ATOMS = ("a", "b", "c", "d")


def drawn(rng: np.random.Generator) -> tuple[dict[str, int], list[Count], list[Sum]]:
    """Four atoms, up to nine counts of them, and sometimes the sum of the probabilities."""
    table = {atom: int(rng.choice([0, 1, 2, 3, 4, 5, 6, 7])) for atom in ATOMS}
    sets = {frozenset(ATOMS)} | {
        frozenset(rng.choice(ATOMS, rng.integers(1, 4), replace=False)) for _ in range(8)
    }
    wanted = [Count("+".join(sorted(s)), s) for s in sorted(sets, key=sorted)]
    if rng.random() < 0.3:
        wanted.append(Count("twice", {"a": 2, "b": 1}))
    sums = []
    for t in rng.choice([0.2, 0.5, 0.8], rng.integers(0, 3), replace=False):
        low, high = dict.fromkeys("ab", float(t)), {"a": 1.0, "b": 1.0, "c": float(t), "d": float(t)}
        least, most = (sum(w * table[x] for x, w in side.items()) for side in (low, high))
        sums.append(Sum(f"sum {t}", float(rng.uniform(least, most)), low, high))
    return table, wanted, sums


def enumerated(wanted, published, sums) -> np.ndarray:
    """All tables that agree with what is published, (n_tables, 4), up to one more than any count."""
    top = max([*published.values(), 7]) + 1
    grid = np.array(list(product(range(top + 1), repeat=2)))
    tables = np.hstack((np.repeat(grid, len(grid), axis=0), np.tile(grid, (len(grid), 1))))
    total = lambda weights: sum(w * tables[:, ATOMS.index(x)] for x, w in weights.items())  # noqa: E731
    agrees = np.ones(len(tables), bool)
    for count in wanted:
        if count.name in published:
            agrees &= total(count.weights) == published[count.name]
    for s in sums:
        agrees &= (total(s.lower) <= s.value + 1e-9) & (total(s.upper) >= s.value - 1e-9)
    return tables[agrees]


def guessed(tables: np.ndarray, wanted, published, least: int) -> set[str]:
    """The names of atoms, counts and differences that are one small number in all of the tables."""
    weights = {atom: {atom: 1} for atom in ATOMS} | {count.name: count.weights for count in wanted}
    shown = [count for count in wanted if count.name in published]
    for whole, part in product(shown, shown):
        rest = {x: whole.weights.get(x, 0) - part.weights.get(x, 0) for x in ATOMS}
        if min(rest.values()) >= 0 and any(rest.values()):
            weights[f"{whole.name} - {part.name}"] = rest
    found = set()
    for name, each in weights.items():
        values = sum(w * tables[:, ATOMS.index(x)] for x, w in each.items())
        if len(np.unique(values)) == 1 and 0 < values[0] < least:
            found.add(name)
    return found


def test_an_attacker_who_enumerates_all_tables_recovers_nothing() -> None:
    rng = np.random.default_rng(20261128)
    shown = 0
    for _ in range(320):
        table, wanted, sums = drawn(rng)
        least = int(rng.integers(2, 7))
        hidden = withheld(table, wanted, least, sums)
        published = {c.name: c.total(table) for c in wanted if c.name not in hidden}
        kept = [s for s in sums if s.name not in hidden]
        tables = enumerated(wanted, published, kept)
        assert guessed(tables, wanted, published, least) == set(), (table, wanted, least, hidden)
        assert recovered(wanted, published, least, kept) == {}
        shown += len(published)
    assert shown > 320  # it does not withhold everything


def test_the_attacker_finds_what_enumeration_finds() -> None:
    rng = np.random.default_rng(7)
    found_any = 0
    for _ in range(320):
        table, wanted, sums = drawn(rng)
        least = int(rng.integers(2, 7))
        published = {c.name: c.total(table) for c in wanted if rng.random() < 0.5}
        expected = guessed(enumerated(wanted, published, sums), wanted, published, least)
        found = recovered(wanted, published, least, sums)
        assert expected <= set(found), (table, published, least)
        # Beyond these it names what is left of a published count without several others.
        assert all(name.count(" - ") > 1 for name in set(found) - expected), (found, expected)
        found_any += bool(expected)
    assert found_any > 50


def test_the_order_of_the_arguments_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        table, wanted, sums = drawn(rng)
        backwards = dict(reversed(table.items()))
        assert withheld(table, wanted, 5, sums) == withheld(backwards, wanted[::-1], 5, sums[::-1])


def test_a_complement_is_withheld_and_zero_is_not() -> None:
    # 57 of 60 found: whoever knows 60 and 57 knows 3. Nobody else needs protection.
    table = {"tp": 57, "fn": 3, "fp": 0, "tn": 80}
    cells = [Count(name, frozenset({name})) for name in table]
    classes = [Count("positives", frozenset({"tp", "fn"})), Count("negatives", frozenset({"fp", "tn"}))]
    assert withheld(table, [*cells, *classes], 5) == {"fn", "tp"}


def test_groups_are_not_found_by_subtracting_them_from_the_whole() -> None:
    table = {"women": 60, "men": 37, "unknown": 3}
    wanted = [Count(name, frozenset({name})) for name in table] + [Count("all", frozenset(table))]
    assert withheld(table, wanted, 5) == {"unknown", "men"}


def test_a_later_period_less_the_earlier_one_is_protected() -> None:
    table = {"first": 40, "added": 2}
    wanted = [Count("March", frozenset({"first"})), Count("April", frozenset(table))]
    assert withheld(table, wanted, 5) == {"March"}


def test_what_is_left_without_several_groups_is_protected() -> None:
    table = {"a": 20, "b": 30, "c": 1, "d": 2}
    wanted = [Count("all", frozenset(table)), Count("a", frozenset("a")), Count("b", frozenset("b"))]
    assert recovered(wanted, {"all": 53, "a": 20, "b": 30}, 5) == {"all - a - b": 3}
    assert withheld(table, wanted, 5) == {"a"}


def test_a_published_sum_of_scores_can_give_a_cell_back() -> None:
    # Scores at or above 0.9 that add up to 1.9 are those of two cases.
    wanted = [Count("n", frozenset({"high", "low"})), Count("high", frozenset({"high"}))]
    scores = Sum("scores", 1.9, {"high": 0.9}, {"high": 1.0})
    assert recovered(wanted, {"n": 40}, 5, [scores]) == {"high": 2}
    assert withheld({"high": 2, "low": 38}, wanted, 5, [scores]) == {"high", "scores"}
    # Probabilities of 10 cases that add up to 5.4: one of them or more is at or above 0.5.
    whole = Sum("sum", 5.4, {"high": 0.5}, {"high": 1.0, "low": 0.5})
    assert recovered(wanted, {"n": 10}, 5, [whole]) == {}


def test_a_published_share_gives_its_cells_back() -> None:
    # 0.95 of fewer than 40 positives: only 19 of 20.
    wanted = [
        Count("tp", frozenset({"tp"})),
        Count("fn", frozenset({"fn"})),
        Count("n", frozenset({"tp", "fn", "x"})),
    ]
    share = Sum("sensitivity", 0.0, {"tp": 0.05, "fn": -0.95}, {"tp": 0.05, "fn": -0.95})
    known = [*wanted, Count("x", frozenset({"x"}))]
    assert recovered(known, {"n": 59, "x": 39}, 5, [share]) == {"fn": 1}
    assert "sensitivity" in withheld({"tp": 19, "fn": 1, "x": 39}, known, 5, [share])


# Investments by activity (I to III) and region (A to C): Fischetti and Salazar-Gonzalez (2001), Manage. Sci.
# 47, 1008-1027, figure 1. The cell II C of 22 is sensitive; withheld with it are II A, III A and III C.
# An attacker knows then that it is between 5 and 30, as counted by hand too: 30 are left in row II and 25 in
# column A.
PUBLISHED = {"I": (20, 50, 10), "II": (8, 19, 22), "III": (17, 32, 12)}


def test_the_attacker_of_fischetti_and_salazar() -> None:
    table = {f"{row} {column}": n for row, cells in PUBLISHED.items() for column, n in zip("ABC", cells)}
    wanted = [Count(name, frozenset({name})) for name in table]
    wanted += [Count(row, frozenset(f"{row} {column}" for column in "ABC")) for row in PUBLISHED]
    wanted += [Count(column, frozenset(f"{row} {column}" for row in PUBLISHED)) for column in "ABC"]
    hidden = {"II C", "II A", "III A", "III C"}
    published = {c.name: c.total(table) for c in wanted if c.name not in hidden}
    weights = np.array([atom == "II C" for atom in Attack(wanted, published).atoms], float)
    for value, possible in ((5, True), (30, True), (4, False), (31, False)):
        attack = Attack(wanted, published)
        everything = np.ones(len(attack.atoms), bool)
        assert (attack._solve(everything, attack.tables[0], (weights, value, value)) is not None) == possible


def test_some_hundreds_of_cells_take_about_a_second() -> None:
    rng = np.random.default_rng(1)
    table = {
        f"{site} {step} {truth}": int(rng.poisson(9))
        for site in range(10)
        for step in range(15)
        for truth in (0, 1)
    }
    wanted = [Count(name, frozenset({name})) for name in table]
    for truth in (0, 1):
        rows = {f"site {i}": [f"{i} {s} {truth}" for s in range(15)] for i in range(10)}
        rows |= {
            f"step {s}": [f"{i} {j} {truth}" for i in range(10) for j in range(s, 15)] for s in range(15)
        }
        wanted += [Count(f"{name} {truth}", frozenset(atoms)) for name, atoms in rows.items()]
    begin = process_time()
    hidden = withheld(table, wanted, 5)
    assert process_time() - begin < 20  # about a second on a core of its own
    assert hidden < {count.name for count in wanted}
    assert recovered(wanted, {c.name: c.total(table) for c in wanted if c.name not in hidden}, 5) == {}


@pytest.mark.parametrize("least", [0, 1])
def test_nothing_is_withheld_where_every_count_may_be_known(least: int) -> None:
    assert (
        withheld({"a": 1, "b": 0}, [Count("a", frozenset("a")), Count("n", frozenset("ab"))], least)
        == frozenset()
    )


def test_wrong_input_is_refused() -> None:
    a = Count("a", frozenset("a"))
    with pytest.raises(ValueError, match="negative: a"):
        withheld({"a": -1}, [a], 5)
    with pytest.raises(ValueError, match="more than once: a"):
        withheld({"a": 1}, [a, a], 5)
    with pytest.raises(ValueError, match="not between its bounds"):
        withheld({"a": 1}, [a], 5, [Sum("s", 3.0, {"a": 0.5}, {"a": 1.0})])
    with pytest.raises(ValueError, match="No table of whole numbers"):
        recovered([a, Count("n", frozenset("ab"))], {"a": 3, "n": 2}, 5)
