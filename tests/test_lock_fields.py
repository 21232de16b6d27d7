"""What the lock covers: every field of the manifest but those listed; and what a change bears upon."""

import copy
import datetime as dt
import importlib
import re
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from studies import plan

from trustreport.study import lock
from trustreport.study.ingest import read_plan
from trustreport.study.plan import Plan
from trustreport.study.plan.sources import OF_FILES
from trustreport.study.study import Study

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def status(before: Plan, now: Plan) -> lock.LockStatus:
    return lock.lock_status(Study(lock=lock.written(lock.renewed(before))), now)


def changed(before: Plan, now: Plan) -> dict[str, tuple[Any, Any, list[str]]]:
    """Every change by its path: what was locked, what is declared now, and the criteria that rest on it."""
    return {
        c.field: (c.old, c.new, [e.endpoint for e in lock.concerned(c, now)])
        for c in status(before, now).changes
    }


# ---------------------------------------------------------------- every field of the model

# Fields whose two values have to fit other fields.
FITTING: dict[str, tuple[Any, Any]] = {
    "confusion.tn": (5000, 5001),
    "confusion.frames_per_finding": (1, 2),
    "internal_splits.measures": ({"auc": [0.8]}, {"auc": [0.9]}),
    "published_readers.readers.unaided": (0.6, 0.605),
    "published_readers.readers.aided": (0.7, 0.705),
    "published_readers.readers.difference.value": (0.1, 0.105),
    "published_readers.readers.difference.ci": ([0.05, 0.2], [0.04, 0.2]),
    "published_sites.sites.positives": (10, 11),
    "endpoints.risk.pre_test": (0.3, 0.4),
    "endpoints.risk.after_negative": (0.1, 0.2),
    "utility.matrices.matrix": ([[0.6, 0.1], [0.2, 0.9]], [[0.7, 0.1], [0.2, 0.9]]),
    "utility.matrices.classes": (["one", "two"], ["one", "other"]),
    "utility.matrices.decisions": (["one", "two"], ["one", "other"]),
    "confusion_tables.classes": (["one", "two"], ["one", "other"]),
    "confusion_tables.decisions": (["a", "b", "c"], ["a", "b", "d"]),
    "confusion_tables.table": ([[30, 1], [2, 3], [4, 5]], [[31, 1], [2, 3], [4, 5]]),
    "joint_decisions.candidates": (["one", "two"], ["one", "other"]),
    "joint_decisions.by_truth": ([[[30, 1], [2, 3]]] * 2, [[[31, 1], [2, 3]]] * 2),
    "time_to_event.horizon": ("5 years", "6 years"),
    "intended_use.intended_patient_population.severity": ({"mild": 1.0}, {"severe": 1.0}),
}
# Fields that exclude others.
ALONE = {"datasets.h_accuracy.complexity_from.above": ("top",), "utility.matrices.sd": ("plus_minus",)}
# Fields of a query, which exclude those of a file and need others of a query.
QUERY = {
    "sql": {"url_env": "one"},
    "url_env": {"sql": "select 1"},
    "connection": {"sql": "select 1"},
    "parameters": {"sql": "select 1", "url_env": "one"},
}
# Fields of an export, which exclude the name of a file and need others.
NEWEST = {"newest": "e/*.csv", "connection": "one"}
EXPORT = {"newest": {"connection": "one"}, "after": NEWEST, "taken": NEWEST}
MOMENTS = ("2026-01-01T01:00:00Z", "2026-01-02T01:00:00Z")
BESIDE: dict[str, dict[str, str]] = {}
for of in ("tables", "datasets"):
    FITTING[f"{of}.sql"] = ("select 1", "select 2")
    FITTING |= {f"{of}.newest": ("e/*.csv", "f/*.csv"), f"{of}.after": MOMENTS}
    FITTING |= {f"{of}.taken.modified": MOMENTS, f"{of}.taken.sha256": ("0" * 64, "1" * 64)}
    BESIDE |= {f"{of}.{name}": beside for name, beside in (QUERY | EXPORT).items()}
    ALONE |= {f"{of}.{name}": ("file", *OF_FILES) for name in QUERY}
    ALONE |= {f"{of}.{name}": ("file",) for name in EXPORT}


def value(annotation: Any, i: int, path: str) -> Any:
    """One of two values that a field may have, whatever it is."""
    if path in FITTING:
        return FITTING[path][i]
    kind, inner = get_origin(annotation), get_args(annotation)
    if kind is Annotated:
        return value(inner[0], i, path)
    if kind is Literal:
        return inner[min(i, len(inner) - 1)]
    if kind in (Union, types.UnionType):
        words = [one for one in inner if get_origin(one) is Literal]
        return value((words or [one for one in inner if one is not type(None)])[0], i, path)
    if kind is tuple:
        many = inner[1:] == (...,)
        return [value(inner[0], i, path)] if many else [0.1 + i / 10, 0.9][: len(inner)]
    if kind is dict:
        return {"one": value(inner[1], i, path)}
    if issubclass(annotation, BaseModel):
        return group(annotation, path)
    plain: dict[type, tuple[Any, Any]] = {
        bool: (True, False),
        int: (30, 31),
        float: (0.6, 0.7),
        str: ("one", "other"),
        dt.date: ("2026-01-01", "2026-01-02"),
        dt.datetime: ("2026-01-01T01:00:00", "2026-01-02T01:00:00"),
    }
    return plain[annotation][i]


def group(model: type[BaseModel], path: str = "") -> dict[str, Any]:
    """A group in which every field is declared."""
    return {
        name: value(info.annotation, 0, f"{path}.{name}" if path else name)
        for name, info in model.model_fields.items()
        if (f"{path}.{name}" if path else name) not in ALONE
    }


def model_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := model_of(one))), None)


def leaves(model: type[BaseModel] = Plan, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field that is no group, with what it may be."""
    for name, info in model.model_fields.items():
        here = f"{path}.{name}" if path else name
        inside = model_of(info.annotation)
        if inside is None:
            yield here, info.annotation
        else:
            yield from leaves(inside, here)


LEAVES = dict(leaves())


def with_value(path: str, new: Any) -> Plan:
    """The manifest with every field declared, and another value in one of them."""
    whole = group(Plan)
    *above, last = path.split(".")
    place: Any = whole
    for i, key in enumerate(above):
        owner = ".".join(path.split(".")[: i + 1])
        if key == "taken":
            del place["file"]
            place |= BESIDE[owner] | {key: {"file": "e/1.csv"}}
        place = place[key]
        if key in ("tables", "precision_targets"):
            place = place["one"]
        place = place[0] if isinstance(place, list) else place
    for other in ALONE.get(path, ()):
        del place[other]
    place |= BESIDE.get(path, {})
    if new is None:
        place.pop(last, None)
    else:
        place[last] = new
    return Plan.model_validate(whole)


def is_listed(path: str) -> bool:
    return any(path == one or path.startswith(f"{one}.") for one in lock.WITHOUT_EFFECT)


def test_the_model_is_walked_to_its_ends() -> None:
    assert len(LEAVES) > 300
    assert {"datasets.h_accuracy.complexity_from.scale", "tables.columns", "limits"} <= set(LEAVES)


@pytest.mark.parametrize("path", sorted(LEAVES))
def test_each_field_is_locked_or_on_the_list(path: str) -> None:
    first, second = (value(LEAVES[path], i, path) for i in (0, 1))
    if first == second:  # there is one word only: it is declared, or it is not
        second = None
    found = changed(with_value(path, first), with_value(path, second))
    assert bool(found) != is_listed(path), found


@pytest.mark.parametrize("path", [*lock.WITHOUT_EFFECT, *lock.ADDED_LATER])
def test_the_lists_name_fields_of_the_manifest(path: str) -> None:
    assert any(leaf == path or leaf.startswith(f"{path}.") for leaf in LEAVES)


def test_the_reference_says_of_every_field_whether_it_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES.parent / "docs" / "site")
    said = importlib.import_module("reference").pages()["fields"]
    groups = dict(re.findall(r"^## (\w+)$(.*?)(?=^## |\Z)", said, re.MULTILINE | re.DOTALL))
    for word, paths in (("free", lock.WITHOUT_EFFECT), ("may be added", lock.ADDED_LATER)):
        for path in paths:
            group_, _, field = path.partition(".")
            if not field:
                assert f"| {word} |" in groups[group_], path
                assert "| locked |" not in groups[group_], path
            elif not field.startswith("device."):  # of a candidate: the fields of the group `device`
                assert re.search(rf"^\| `{field}` \|.*\| {word} \|$", groups[group_], re.MULTILINE), path
    assert "(reference/manifest.md) says of each field whether it is locked" in (
        EXAMPLES.parent / "docs" / "verdicts.md"
    ).read_text(encoding="utf-8")


# ---------------------------------------------------------------- edits of whole manifests


@cache
def manifests() -> dict[str, Plan]:
    folders = (folder for folder in sorted(EXAMPLES.iterdir()) if (folder / "study.yaml").exists())
    return {folder.name: read_plan(folder)[1] for folder in folders}


CRITERION = {"endpoint": "any", "measure": "advice_accuracy.auc"}


def declared(one: Plan) -> dict[str, Any]:
    said = one.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    said.pop("amendments", None)
    return {**said, "endpoints": said.get("endpoints", [CRITERION])}


def places(said: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every declared value is."""
    if isinstance(said, dict):
        for key, inner in said.items():
            yield from places(inner, (*path, key))
    elif isinstance(said, list) and said and isinstance(said[0], dict):
        for i, inner in enumerate(said):
            yield from places(inner, (*path, i))
    elif said not in ([], {}):
        yield path


def edits(old: Any) -> Iterator[Any]:
    """Other values in place of one, the first that the model takes is used; None takes it away."""
    if isinstance(old, bool):
        yield not old
    elif isinstance(old, int | float):
        yield from (old + 1, old / 2, old - 1)
    elif isinstance(old, str):
        yield f"{old} and more"
        yield "2031-03-03"
    elif isinstance(old, list):
        yield old[:-1]
        yield [*old, *old[-1:]]
    yield None


def edited(said: dict[str, Any], where: tuple[Any, ...], new: Any) -> Plan | None:
    made = copy.deepcopy(said)
    place: Any = made
    for key in where[:-1]:
        place = place[key]
    if new is None:
        del place[where[-1]]
    else:
        place[where[-1]] = new
    try:
        return Plan.model_validate(made)
    except ValidationError:
        return None


def whole_manifests() -> st.SearchStrategy[tuple[str, tuple[Any, ...]]]:
    """An example's name and where a value is declared in it."""
    said = manifests().items()
    return st.sampled_from([(name, place) for name, one in said for place in places(declared(one))])


@settings(max_examples=200, deadline=None)
@given(st.deferred(whole_manifests), st.booleans())
@example(("planned-change", ("candidates", 0, "candidate")), False)
def test_an_edit_of_one_field_is_listed_unless_it_is_without_effect(
    where: tuple[str, tuple[Any, ...]], away: bool
) -> None:
    name, place = where
    said = declared(manifests()[name])
    old: Any = said
    for key in place:
        old = old[key]
    found = (edited(said, place, new) for new in ([None] if away else edits(old)))
    before, now = Plan.model_validate(said), next((one for one in found if one), None)
    assume(now is not None)
    assert now is not None
    state = status(before, now)
    field = ".".join(key for key in place if isinstance(key, str))
    if is_listed(field):
        assert (state.state, state.changes) == ("locked", ())
        return
    assert state.state == "changed"
    group_ = field.partition(".")[0]
    assert {c.path[0] for c in state.changes} == {group_}
    # The path that is listed, typed into an amendment, covers the change.
    cover = [{"field": c.field, "date": "1990-01-01", "before_data_opened": True} for c in state.changes]
    amended = Plan.model_validate({**declared(now), "amendments": cover})
    assert status(before, amended).state == "amended"


# ---------------------------------------------------------------- fields that decide an interval

RICH: dict[str, Any] = {
    "operating_point": {"threshold": 0.5},
    "reading": {"design": "crossover"},
    "arms": [{"arm": "unaided", "aided": False, "values": ["1"]}, {"arm": "aided", "aided": True}],
    "similarity": {"standardise": "training", "seed": 1},
    "intended_use": {"prevalence_expected": 0.2},
    "site_context": {"local_prevalence": 0.1},
    "reference_standard": {"maturity_days": 30, "rater_accuracy": 0.9},
    "datasets": [
        {"dataset": "home", "role": "training", "file": "t.csv"},
        {
            "dataset": "ext",
            "role": "external",
            "file": "e.csv",
            "cluster_keys": ["video"],
            "features": ["age"],
            "h_accuracy": [{"tau": 0.5}],
        },
        {"dataset": "far", "role": "external", "file": "f.csv"},
    ],
    "tables": {
        "readings": {"file": "r.csv", "columns": {"score": "s"}},
        "more": {"kind": "scores", "file": "m.csv", "dataset": "far"},
    },
    "endpoints": [
        {"endpoint": "ext", "measure": "advice_accuracy.sensitivity", "dataset": "ext"},
        {"endpoint": "far", "measure": "advice_accuracy.auc", "arm_or_contrast": "far"},
        {"endpoint": "pooled", "measure": "potential_robustness.pooled_performance"},
        {
            "endpoint": "readers",
            "measure": "decision_benefit.mean_benefit",
            "arm_or_contrast": ["aided", "unaided"],
        },
    ],
}
ALL = ["ext", "far", "pooled", "readers"]


def rich(**groups: Any) -> Plan:
    return plan(**copy.deepcopy(RICH) | groups)


def of_ext(**facts: Any) -> dict[str, Any]:
    """The data sets with other facts of one; None takes a fact away."""
    one, ext, far = copy.deepcopy(RICH["datasets"])
    return {"datasets": [one, {k: v for k, v in (ext | facts).items() if v is not None}, far]}


def of_home(**facts: Any) -> dict[str, Any]:
    home, *others = copy.deepcopy(RICH["datasets"])
    return {"datasets": [home | facts, *others]}


def truth(**facts: Any) -> dict[str, Any]:
    return {"reference_standard": RICH["reference_standard"] | facts}


def tables(name: str, **facts: Any) -> dict[str, Any]:
    old = copy.deepcopy(RICH["tables"])
    return {"tables": {**old, name: {**old.get(name, {}), **facts}}}


@pytest.mark.parametrize(
    "now, field, criteria",
    [
        (of_ext(cluster_keys=None), "datasets[ext].cluster_keys", ["ext", "pooled", "readers"]),
        (of_ext(columns={"score": "other"}), "datasets[ext].columns.score", ["ext", "pooled", "readers"]),
        (of_ext(role="local"), "datasets[ext].role", ["ext", "pooled", "readers"]),
        (of_ext(features=["age", "sex"]), "datasets[ext].features", ["ext", "pooled", "readers"]),
        (of_ext(h_accuracy=[{"tau": 0.6}]), "datasets[ext].h_accuracy[0].tau", ["ext", "pooled", "readers"]),
        (of_ext(delimiter=";"), "datasets[ext].delimiter", ["ext", "pooled", "readers"]),
        (of_ext(file="f.csv"), "datasets[ext].file", ["ext", "pooled", "readers"]),
        (of_ext(role="training"), "datasets[ext].role", ALL),
        (of_home(features=["age"]), "datasets[home].features", ALL),
        (tables("readings", columns={"score": "t"}), "tables.readings.columns.score", ALL),
        (tables("readings", decimal=","), "tables.readings.decimal", ALL),
        (tables("more", sheet="2"), "tables.more.sheet", ["far", "pooled", "readers"]),
        (tables("more", dataset="ext"), "tables.more.dataset", ALL),
        (tables("raters", file="x.csv"), "tables.raters", ALL),
        ({"intended_use": {"prevalence_expected": 0.3}}, "intended_use.prevalence_expected", ALL),
        ({"site_context": {"local_prevalence": 0.3}}, "site_context.local_prevalence", ALL),
        ({"similarity": {"standardise": "pooled", "seed": 1}}, "similarity.standardise", ALL),
        ({"similarity": {"standardise": "training", "seed": 2}}, "similarity.seed", ALL),
        (truth(maturity_days=3), "reference_standard.maturity_days", ALL),
        (truth(rater_accuracy=0.8), "reference_standard.rater_accuracy", ALL),
        ({"reading": {"design": "parallel"}}, "reading.design", ALL),
        ({"arms": [{**RICH["arms"][0], "values": ["2"]}, RICH["arms"][1]]}, "arms[unaided].values", ALL),
        ({"arms": RICH["arms"][::-1]}, "arms.order", ALL),
        ({"operating_point": {"threshold": 0.4}}, "operating_point.threshold", ALL),
        ({"limits": {"P17_days": 3}}, "limits.P17_days", ALL),
    ],
)  # fmt: skip
def test_what_decides_an_interval_is_listed_with_the_criteria_that_rest_on_it(
    now: dict[str, Any], field: str, criteria: list[str]
) -> None:
    found = changed(rich(), rich(**now))
    assert {path: own for path, (_, _, own) in found.items()} == {field: criteria}


@pytest.mark.parametrize(
    "now",
    [
        {"report": {"kind": "procurement", "title": "Another", "notice": "Draft", "page": "Letter"}},
        {"approvals": [{"name": "A", "role": "author"}], "documents": [{"id": "SAP-1"}]},
        {"arms": [{**RICH["arms"][0], "label": "Alone"}, RICH["arms"][1]]},
        {"endpoints": [{**e, "margin_rationale": "As before"} for e in RICH["endpoints"]]},
        {"study": {"sponsor": "X", "data_opened_at": "2026-05-01"}},
        {"endpoints": RICH["endpoints"][::-1]},
    ],
)
def test_words_without_effect_are_no_change(now: dict[str, Any]) -> None:
    assert changed(rich(), rich(**now)) == {}


# ---------------------------------------------------------------- data come after the lock


def test_data_may_be_added_and_what_was_there_may_not_be_altered() -> None:
    rows = [
        {"set": "A", "tp": 9, "fp": 1, "fn": 1, "tn": 9},
        {"set": "B", "tp": 8, "fp": 2, "fn": 2, "tn": 8},
    ]
    endpoints = [
        {"endpoint": "A", "measure": "advice_accuracy.sensitivity", "set": "A"},
        {"endpoint": "pooled", "measure": "reported.pooled_sensitivity"},
    ]
    nothing, one, two = (plan(endpoints=endpoints, confusion=rows[:n]) for n in range(3))
    assert changed(nothing, two) == {}
    assert changed(one, two) == {"confusion[B]": (None, rows[1], ["pooled"])}
    assert changed(two, one) == {"confusion[B]": (rows[1], None, ["pooled"])}
    other = plan(endpoints=endpoints, confusion=[{**rows[0], "tp": 10}])
    assert changed(one, other) == {"confusion[A].tp": (9, 10, ["A", "pooled"])}


def test_facts_of_the_data_may_be_added() -> None:
    later = {"sha256": "ab", "start_date": "2026-01-01", "exclusions": [{"reason": "blurred", "n": 2}]}
    before = of_ext()
    assert changed(rich(**before), rich(**of_ext(**later))) == {}
    found = changed(rich(**of_ext(**later)), rich(**of_ext(**later | {"sha256": "cd"})))
    assert list(found) == ["datasets[ext].sha256"]
    # Before the data there may be no file, but a mapping is never filled in.
    assert changed(rich(**of_ext(file=None)), rich(**of_ext())) == {}
    assert list(changed(rich(), rich(**of_ext(columns={"score": "x"})))) == ["datasets[ext].columns.score"]


def test_an_added_data_set_bears_on_what_names_it_or_no_set() -> None:
    new = {"dataset": "new", "role": "external", "file": "n.csv"}
    found = changed(rich(), rich(datasets=[*RICH["datasets"], new]))
    assert found == {"datasets[new]": (None, new, ["pooled", "readers"])}
    trained = {**new, "role": "training"}
    assert changed(rich(), rich(datasets=[*RICH["datasets"], trained]))["datasets[new]"][2] == ALL


FIRST = {
    "dataset": "Q1",
    "role": "period",
    "start_date": "2026-01-01",
    "end_date": "2026-03-31",
    "cluster_keys": ["site"],
}
SECOND = {**FIRST, "dataset": "Q2", "start_date": "2026-04-01", "end_date": "2026-06-30", "sha256": "ab"}
WATCHED = [
    {"endpoint": "Q1", "measure": "vigilance.period_value", "period": "Q1"},
    {"endpoint": "Q2", "measure": "vigilance.period_value", "period": "Q2"},
    {"endpoint": "since", "measure": "vigilance.period_change", "period": "Q1"},
]


def watched(*periods: dict[str, Any], end: str = "2026-03-31", cut: str = "2026-05-01", **more: Any) -> Plan:
    vigilance = {"period_end": end, "data_cut": cut}
    return plan(endpoints=WATCHED, datasets=list(periods), vigilance=vigilance, **more)


def test_a_new_period_that_is_analysed_as_a_locked_one_is_no_change() -> None:
    now = {"end": "2026-06-30", "cut": "2026-08-01"}
    assert changed(watched(FIRST), watched(FIRST, SECOND, **now)) == {}
    table = {"file": "q1.csv", "dataset": "Q1", "kind": "scores", "columns": {"score": "s"}}
    other = {**table, "file": "q2.csv", "dataset": "Q2"}
    before = watched(FIRST, tables={"q1": table})
    assert changed(before, watched(FIRST, SECOND, tables={"q1": table, "q2": other}, **now)) == {}
    mapped = {**other, "columns": {"score": "t"}}
    found = changed(before, watched(FIRST, SECOND, tables={"q1": table, "q2": mapped}, **now))
    assert [(field, own) for field, (_, _, own) in found.items()] == [("tables.q2", ["Q2", "since"])]


@pytest.mark.parametrize(
    "other", [{"cluster_keys": ["patient"]}, {"columns": {"score": "x"}}, {"start_date": "2025-10-01"}]
)
def test_a_new_period_that_is_analysed_otherwise_bears_on_itself(other: dict[str, Any]) -> None:
    found = changed(watched(FIRST), watched(FIRST, {**SECOND, **other}))
    assert [(field, own) for field, (_, _, own) in found.items()] == [("datasets[Q2]", ["Q2", "since"])]


def test_the_period_of_a_report_goes_forward_with_a_new_period_only() -> None:
    back = changed(watched(FIRST), watched(FIRST, SECOND, end="2026-02-28"))
    same = changed(watched(FIRST), watched(FIRST, cut="2026-06-01"))
    assert (list(back), list(same)) == (["vigilance.period_end"], ["vigilance.data_cut"])
    locked = changed(watched(FIRST), watched({**FIRST, "end_date": "2026-03-15"}, SECOND))
    assert list(locked) == ["datasets[Q1].end_date"]


# ---------------------------------------------------------------- families, groups, candidates


def family(*names: str, apart: str = "", **more: Any) -> list[dict[str, Any]]:
    said = {"measure": "advice_accuracy.auc", "hypothesis": "performance goal", "bound_or_margin": 0.8}
    return [
        {"endpoint": n, **said, "multiplicity_family": "none" if n == apart else "F, Holm"} | more
        for n in names
    ]


def test_leaving_a_family_bears_on_those_that_share_its_alpha() -> None:
    alone = {"endpoint": "alone", "measure": "advice_accuracy.auc", "multiplicity_family": "none"}
    before = plan(endpoints=[*family("a", "b", "c"), alone])
    out = changed(before, plan(endpoints=[*family("a", "b", "c", apart="c"), alone]))
    assert out == {"endpoints[c].multiplicity_family": ("F, Holm", "none", ["a", "b", "c"])}
    gone = changed(before, plan(endpoints=[*family("a", "b"), alone]))
    assert {field: own for field, (_, _, own) in gone.items()} == {"endpoints[c]": ["a", "b"]}
    more = changed(before, plan(endpoints=[*family("a", "b", "c", "d"), alone]))
    assert {field: own for field, (_, _, own) in more.items()} == {"endpoints[d]": ["a", "b", "c", "d"]}
    of_family = {"families": [{"family": "F, Holm", "rule": "holm", "alpha": 0.1}]}
    shared = changed(before, plan(endpoints=[*family("a", "b", "c"), alone], **of_family))
    assert {field: own for field, (_, _, own) in shared.items()} == {"families[F, Holm]": ["a", "b", "c"]}


def test_groups_of_patients_bear_on_criteria_about_groups() -> None:
    endpoints = [
        {"endpoint": "all", "measure": "advice_accuracy.auc"},
        {"endpoint": "women", "measure": "advice_accuracy.auc", "subgroup": "sex: F"},
        {"endpoint": "gap", "measure": "subgroups.subgroup_difference"},
    ]
    found = changed(plan(endpoints=endpoints), plan(endpoints=endpoints, subgroups=[{"name": "sex"}]))
    assert found["subgroups[sex]"][2] == ["women", "gap"]


def test_a_candidate_bears_on_what_names_it_and_one_more_on_all() -> None:
    endpoints = [
        {"endpoint": "A", "measure": "candidates.auc", "candidate": "A"},
        {"endpoint": "pair", "measure": "candidates.auc_difference", "arm_or_contrast": ["B", "A"]},
        {"endpoint": "B", "measure": "candidates.auc", "candidate": "B"},
    ]
    two = [{"candidate": "A", "device": {"software_version": "1"}}, {"candidate": "B"}]
    other = [{"candidate": "A", "device": {"software_version": "2"}}, {"candidate": "B"}]
    before = plan(endpoints=endpoints, candidates=two)
    found = changed(before, plan(endpoints=endpoints, candidates=other))
    assert found == {"candidates[A].device.software_version": ("1", "2", ["A", "pair"])}
    third = plan(endpoints=endpoints, candidates=[*two, {"candidate": "C"}])
    assert changed(before, third)["candidates[C]"][2] == ["A", "pair", "B"]


def test_items_of_one_name_are_told_apart() -> None:
    charts = [{"measure": "auc", "chart": "cusum"}, {"measure": "auc", "chart": "sprt"}]
    before = plan(vigilance={"indicators": charts})
    now = plan(vigilance={"indicators": [{**charts[0], "to_detect": 0.7}, charts[1]]})
    assert list(changed(before, now)) == ["vigilance.indicators[auc].to_detect"]
    now = plan(vigilance={"indicators": [charts[0], {**charts[1], "to_detect": 0.7}]})
    assert list(changed(before, now)) == ["vigilance.indicators[auc (2)].to_detect"]


@pytest.mark.parametrize("name", ["a].alpha", "x.y", "endpoints[a]", "order", "0"])
def test_a_name_cannot_hide_the_change_of_another(name: str) -> None:
    """One criterion is added whose name looks like the path of another, which is changed."""
    before = plan(endpoints=[{"endpoint": "a", "alpha": 0.01}, {"endpoint": name, "alpha": 0.01}])
    now = plan(endpoints=[{"endpoint": "a", "alpha": 0.1}, {"endpoint": name, "alpha": 0.1}])
    assert len(status(before, now).changes) == 2
    fewer = plan(endpoints=[{"endpoint": name, "alpha": 0.1}])
    assert {c.criterion for c in status(before, fewer).changes} == {"a", name}


# ---------------------------------------------------------------- amendments


@pytest.mark.parametrize(
    "field, new, covers",
    [
        ("datasets[ext].cluster_keys", None, True),
        ("datasets.ext.cluster_keys", "patient, site", True),
        ("datasets[1].cluster_keys", "[patient, site]", True),
        ("datasets[ext]", None, True),
        ("DATASETS[EXT].cluster_keys", None, True),
        ("datasets[ext].cluster_keys", "patient", False),
        ("datasets[ext].cluster", None, False),
        ("datasets[far].cluster_keys", None, False),
        ("datasets[0].cluster_keys", None, False),
        ("ext", None, False),  # that is the criterion
        ("cluster_keys", None, False),
    ],
)
def test_an_amendment_names_a_field_by_its_path(field: str, new: str | None, covers: bool) -> None:
    amendment = {"field": field, "before_data_opened": True} | ({"new": new} if new else {})
    now = rich(**of_ext(cluster_keys=["patient", "site"]), amendments=[amendment])
    assert status(rich(), now).state == ("amended" if covers else "changed")


@pytest.mark.parametrize("new, covers", [("none", True), ("absent", True), ("video", False)])
def test_an_amendment_says_that_a_field_was_taken_away(new: str, covers: bool) -> None:
    amendment = {"field": "datasets[ext].cluster_keys", "new": new, "before_data_opened": True}
    now = rich(**of_ext(cluster_keys=None), amendments=[amendment])
    assert status(rich(), now).state == ("amended" if covers else "changed")
