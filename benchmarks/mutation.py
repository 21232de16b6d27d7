"""How many small faults in the statistics the tests find: mutants of a random sample, each tried by tests.

    python -m benchmarks.mutation map -o FOLDER               once: which tests reach which line
    python -m benchmarks.mutation run -o FOLDER [--mutants 400] [--seed 1]

A mutant is one change of an operator, a comparison, a number, a condition or a call of a like function, in
trustreport/measures, trustreport/assessment/verdicts or trustreport/vocabulary/quantities.py; annotations,
decorators, docstrings and texts stay. The sample is stratified by module. pytest collects all tests once; for
each mutant it forks, the child puts the changed code in place of that in memory (no file is ever changed) and
runs the tests that reach its line, the quickest first, until one fails. Hypothesis draws at most `EXAMPLES`
examples, always the same. `map` needs coverage: pip install coverage.

cosmic-ray and mutmut start Python, scipy and pytest anew for each mutant, or copy the project, which takes
many times as long as the tests of one line, and neither draws a stratified sample.
"""

import argparse
import ast
import copy
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
PARTS = ("trustreport/measures", "trustreport/assessment/verdicts", "trustreport/vocabulary/quantities.py")
TESTS = ("trustreport/measures", "tests/measures", "tests/verdicts")
EXAMPLES = 12  # that hypothesis draws
MOST_TESTS, MOST_SECONDS = 150, 40.0  # of the tests that one mutant is tried with
LONGEST = 4  # seconds of one test; one that takes longer is not used

# ---------------------------------------------------------------- mutants

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "sum": "max", "minimum": "maximum",
          "maximum": "minimum", "nanmin": "nanmax", "nanmax": "nanmin", "floor": "ceil", "ceil": "floor",
          "ones": "zeros", "zeros": "ones"}  # fmt: skip


def changes(node: ast.AST) -> Iterator[Callable[[Any], ast.AST]]:
    """What can be changed at a node, each as a function from a copy of it to what takes its place."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield _compare
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in COMPUTED:
        yield _compute
    elif isinstance(node, ast.BoolOp):
        yield _join
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield lambda n: n.operand
    elif isinstance(node, (ast.IfExp, ast.If, ast.While)):
        yield _negate
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        yield _count
    elif isinstance(node, ast.Call) and _name_of(node.func) in CALLED:
        yield _call
    elif isinstance(node, ast.Call) and _name_of(node.func) in ("abs", "sqrt") and len(node.args) == 1:
        yield lambda n: n.args[0]


def _name_of(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _compare(node: Any) -> ast.AST:
    node.ops = [COMPARED[type(node.ops[0])]()]
    return node


def _compute(node: Any) -> ast.AST:
    node.op = COMPUTED[type(node.op)]()
    return node


def _join(node: Any) -> ast.AST:
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return node


def _negate(node: Any) -> ast.AST:
    node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
    return node


def _count(node: Any) -> ast.AST:
    node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    return node


def _call(node: Any) -> ast.AST:
    new = CALLED[_name_of(node.func)]
    if isinstance(node.func, ast.Name):
        node.func.id = new
    else:
        node.func.attr = new
    return node


SKIPPED = {"annotation", "returns", "decorator_list", "type_params"}
TYPING = ("Literal", "NDArray", "Callable", "tuple", "dict", "list", "Mapping", "Sequence", "TypeAlias")


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every node that may be changed, as (parent, field, position in a list)."""
    for name, value in ast.iter_fields(tree):
        if name in SKIPPED:
            continue
        for i, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or isinstance(child, (ast.Import, ast.ImportFrom)):
                continue
            if isinstance(child, ast.Subscript) and _name_of(child.value) in TYPING:
                continue
            if isinstance(child, ast.If) and _name_of(child.test) == "TYPE_CHECKING":
                continue
            yield tree, name, i if isinstance(value, list) else None
            yield from places(child)


def _node_at(place: tuple[ast.AST, str, int | None]) -> Any:
    parent, name, i = place
    return getattr(parent, name) if i is None else getattr(parent, name)[i]


def mutants_of(file: Path) -> list[dict[str, Any]]:
    """All mutants of a module: where, what was there, what takes its place."""
    tree, found = ast.parse(file.read_text()), []
    for index, place in enumerate(places(tree)):
        node = _node_at(place)
        for which, change in enumerate(changes(node)):
            new = change(copy.deepcopy(node))
            before, after = (ast.unparse(one).splitlines()[0][:90] for one in (node, new))
            known = {"module": str(file.relative_to(ROOT)), "index": index, "which": which}
            lines = [node.lineno, getattr(node, "test", node).end_lineno]
            found.append({**known, "lines": lines, "before": before, "after": after})
    return found


def code_of(mutant: dict[str, Any]) -> CodeType:
    """The module with its change, compiled."""
    file = ROOT / mutant["module"]
    tree = ast.parse(file.read_text())
    place = list(places(tree))[mutant["index"]]
    node = _node_at(place)
    new = ast.copy_location(list(changes(node))[mutant["which"]](copy.deepcopy(node)), node)
    parent, name, i = place
    if i is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[i] = new
    return compile(ast.fix_missing_locations(tree), str(file), "exec")


def sample(n: int, seed: int) -> list[dict[str, Any]]:
    """Mutants drawn at random, as many from each module as its share of all, and one at least."""
    files = [f for part in PARTS for f in sorted((ROOT / part).rglob("*.py") or [ROOT / part])]
    files += [ROOT / part for part in PARTS if part.endswith(".py")]
    every = {f: found for f in dict.fromkeys(files) if (found := mutants_of(f))}
    total, draw, drawn = sum(map(len, every.values())), random.Random(seed), []
    for found in every.values():
        drawn += draw.sample(found, min(len(found), max(1, round(n * len(found) / total))))
    draw.shuffle(drawn)
    print(f"{total:,} mutants of {len(every)} modules, {len(drawn)} drawn")
    return drawn


# ---------------------------------------------------------------- tests


class _Session:
    """All tests, collected once; `work` does the rest with them, in place of running them."""

    def __init__(self, work: Callable[[dict[str, Any], Any], None]) -> None:
        self.work = work

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        for item in items:
            test = getattr(item, "obj", None)
            own = getattr(test, "_hypothesis_internal_use_settings", None)
            if own is not None:
                most = min(own.max_examples, EXAMPLES)
                test._hypothesis_internal_use_settings = settings(
                    own, max_examples=most, derandomize=True, database=None, phases=phases, deadline=None
                )

    def pytest_runtestloop(self, session: Any) -> bool:
        self.work({item.nodeid: item for item in session.items}, session)
        return True


def collected(work: Callable[[dict[str, Any], Any], None]) -> None:
    """Collect the tests and let `work` use them."""
    import pytest

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    common = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
    pytest.main([*common, *TESTS], plugins=[_Session(work)])


def outcome(item: Any) -> tuple[bool, float]:
    """Whether a test passes, and the seconds it took."""
    from _pytest.runner import runtestprotocol

    began = time.monotonic()
    reports = runtestprotocol(item, log=False, nextitem=None)
    return all(not report.failed for report in reports), time.monotonic() - began


def make_map(out: Path) -> None:
    """Which tests reach which line, and how long each takes: written as far as it is known, test by test."""
    import coverage

    cov = coverage.Coverage(data_file=None, source=[str(ROOT / "trustreport")], messages=False)

    def late(number: int, frame: Any) -> None:
        raise TimeoutError

    def work(items: dict[str, Any], session: Any) -> None:
        signal.signal(signal.SIGPROF, late)
        known = json.loads((out / "map.json").read_text()) if (out / "map.json").exists() else {}
        seconds: dict[str, float] = known.get("seconds", {})
        done = max((i for i, name in enumerate(items) if name in seconds), default=-1)
        cov.start()
        for i, (name, item) in enumerate(items.items()):
            if i <= done:  # a map that was not finished is gone on with
                continue
            cov.switch_context(name)
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            try:
                passed, took = outcome(item)
            except BaseException:
                passed, took = False, 0.0
            signal.setitimer(signal.ITIMER_PROF, 0)
            if passed:
                seconds[name] = took
            if i % 100 == 99 or i == len(items) - 1:
                write_map(out, cov, known.get("lines", {}), seconds)
                print(f"{i + 1} of {len(items)} tests", file=sys.__stderr__, flush=True)
        cov.stop()

    collected(work)


def write_map(out: Path, cov: Any, before: dict[str, Any], seconds: dict[str, float]) -> None:
    """The map so far: that of `before`, and what has been seen since."""
    data, lines = cov.get_data(), {module: dict(reached) for module, reached in before.items()}
    for file in data.measured_files():
        module = str(Path(file).relative_to(ROOT))
        if module.startswith(PARTS):
            held = lines.setdefault(module, {})
            for n, contexts in data.contexts_by_lineno(file).items():
                held[str(n)] = [*held.get(str(n), []), *(c for c in contexts if c in seconds)]
    (out / "map.part").write_text(json.dumps({"seconds": seconds, "lines": lines}))
    (out / "map.part").replace(out / "map.json")


def tests_of(mutant: dict[str, Any], known: dict[str, Any]) -> list[str]:
    """The quickest tests that reach the line; of a line that is run at import, those of the module."""
    seconds, reached = known["seconds"], known["lines"].get(mutant["module"], {})
    first, last = mutant["lines"]
    found: set[str] = set().union(*(reached.get(str(n), ()) for n in range(first, last + 1)))
    if not found:
        found = set().union(*reached.values()) if reached else set()
    stem = Path(mutant["module"]).parent.name if "measures/" in mutant["module"] else "verdicts"

    def order(test: str) -> tuple[bool, float]:
        return (Path(mutant["module"]).stem not in test and f"/{stem}/" not in test, seconds[test])

    chosen, total = [], 0.0
    for test in sorted(found, key=order):
        if len(chosen) < MOST_TESTS and total + seconds[test] <= MOST_SECONDS:
            chosen.append(test)
            total += seconds[test]
    return chosen


# ---------------------------------------------------------------- putting a mutant in place


def put(mutant: dict[str, Any]) -> None:
    """Change the module that is imported already: its code, and what others took from it."""
    name = mutant["module"].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    module = sys.modules.get(name)
    if module is None:
        raise LookupError(name)
    before = dict(module.__dict__)
    exec(code_of(mutant), module.__dict__)  # noqa: S102 -- our own module, changed
    after = dict(module.__dict__)
    for key, old in before.items():
        new = after.get(key)
        if new is old or key.startswith("__"):
            continue
        if _into(old, new, name):
            module.__dict__[key] = old  # others hold this one
        else:
            _spread(key, old, new)
    for other in [m for n, m in sys.modules.items() if n.startswith(("trustreport", "tests", "test_"))]:
        for held in list(vars(other).values()):
            if callable(getattr(held, "cache_clear", None)):
                held.cache_clear()


def _into(old: Any, new: Any, module: str) -> bool:
    """Put the code of a function, or of the functions of a class, into the one that is known by others."""
    old_code, new_code = getattr(old, "__wrapped__", old), getattr(new, "__wrapped__", new)
    if isinstance(old_code, FunctionType) and isinstance(new_code, FunctionType):
        if len(old_code.__code__.co_freevars) == len(new_code.__code__.co_freevars):
            old_code.__code__ = new_code.__code__
            old_code.__defaults__, old_code.__kwdefaults__ = new_code.__defaults__, new_code.__kwdefaults__
        return True
    if isinstance(old, type) and isinstance(new, type) and old.__module__ == module:
        for key, held in list(vars(old).items()):
            fresh = vars(new).get(key)
            for part in ("fget", "func", "__func__"):
                held, fresh = getattr(held, part, held), getattr(fresh, part, fresh)
            if isinstance(held, FunctionType) and isinstance(fresh, FunctionType):
                _into(held, fresh, module)
        return True
    return False


def _spread(key: str, old: Any, new: Any) -> None:
    """Give a new constant to the modules that imported the old one."""
    for n, other in list(sys.modules.items()):
        ours = n.startswith(("trustreport", "tests", "test_")) and isinstance(other, ModuleType)
        if ours and vars(other).get(key) is old:
            setattr(other, key, new)


def attempt(mutant: dict[str, Any], tests: list[Any]) -> int:
    """0 where every test passes, 1 where one fails; the first that does ends it."""
    try:
        put(mutant)
    except LookupError:
        return 7
    except BaseException:
        return 1
    for item in tests:
        if not outcome(item)[0]:
            return 1
    return 0


def forked(work: Callable[[], int], seconds: float) -> int:
    """The exit status of work done in a process of its own; -1 where it took too long."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            os.setsid()
            quiet = os.open(os.devnull, os.O_WRONLY)
            for number in (1, 2):
                os.dup2(quiet, number)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 5))
            status = work()
        except BaseException:
            status = 1
        os._exit(status)
    end = time.monotonic() + 10 * seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def run(out: Path, n: int, seed: int, also: str) -> None:
    """Try the sample; what was found already is not tried again, survivors are, `also` with these tests."""
    log = out / "tried.jsonl"
    tried = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {_key(one) for one in tried if one["result"] in FOUND}
    drawn = sample(n, seed)

    def work(items: dict[str, Any], session: Any) -> None:
        known = json.loads((out / "map.json").read_text())
        for i, mutant in enumerate(drawn):
            if _key(mutant) in done:
                continue
            names = [name for name in items if also and also in name]
            names += [name for name in tests_of(mutant, known) if name in items and name not in names]
            began, status = time.monotonic(), 0
            if names:
                allowed = 10 + 4 * sum(known["seconds"].get(name, 0.1) for name in names)
                status = forked(lambda m=mutant, t=names: attempt(m, [items[name] for name in t]), allowed)
            result = (
                "no test"
                if not names or status == 7
                else RESULT.get(status, "timeout" if status < 0 else "killed")
            )
            with log.open("a") as lines:
                lines.write(json.dumps({**mutant, "result": result, "tests": len(names)}) + "\n")
            took = time.monotonic() - began
            what = f"{mutant['module']}:{mutant['lines'][0]} {mutant['before']} -> {mutant['after']}"
            said = f"{i + 1}/{len(drawn)} {result} ({len(names)} tests, {took:.1f} s) {what}"
            print(said, file=sys.__stderr__, flush=True)

    collected(work)


FOUND = ("killed", "timeout")
RESULT = {0: "survived"}


def _key(mutant: dict[str, Any]) -> tuple[Any, ...]:
    return *(mutant[k] for k in ("module", "index", "which", "before", "after")), *mutant["lines"]


def main() -> None:
    """Make the map, or try the sample."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("act", choices=("map", "run"))
    parser.add_argument("-o", "--out", type=Path, default=Path("out/mutation"))
    parser.add_argument("--mutants", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--also", default="", help="tests of this name too: written since the map was made")
    given = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.chdir(ROOT)
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if given.act == "map":
        make_map(out)
    else:
        run(out, given.mutants, given.seed, given.also)


if __name__ == "__main__":
    main()
