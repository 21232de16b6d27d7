"""What takes files and requests from others: valid examples of each, and how an input is tried."""

import csv
import gc
import io
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.fuzz import mutations

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
REPORTS = 150  # of so many inputs one is not only read: its report is built
ROWS = 40  # of each table of an example: the reports are built, too
READINGS = "reader,case,arm,truth,decision,score,site,seconds,order,read_at\n" + "".join(
    f"R{r},C{c},{arm},{c % 2},{(c + r * c) % 3 % 2},{(c * 7 + r) % 10 / 10},S{c % 2},"
    f"{30 + c},{c},2024-02-{10 + c}\n"
    for r in range(3)
    for arm in ("unaided", "aided")
    for c in range(6)
)
SCORES = "case,truth,score,site,date,f1,patient\n" + "".join(
    f"c{i},{i % 2},{(i * 37 % 100) / 100},S{i % 3},2024-02-{1 + i % 28:02d},{i / 7:.3f},P{i // 2}\n"
    for i in range(30)
)
ARMS = "arms: [{arm: unaided, aided: false}, {arm: aided, aided: true}]\n"
OF_READINGS = HEAD + ARMS + "tables: {readings: {file: NAME}}\nsubgroups: [{name: site}]\n"
OF_SCORES = (
    HEAD + "datasets: [{dataset: A, role: external, file: NAME, features: [f1], cluster_keys: [patient]}]\n"
    "operating_point: {threshold: 0.5, score_range: [0, 1]}\nsubgroups: [{name: site}]\n"
)
IMRMC = "A study\nBEGIN DATA:\n" + "".join(
    [f"-1,c{c},0,{c % 2}\n" for c in range(6)]
    + [f"R{r},c{c},{arm},{(c * 7 + r * arm) % 10}\n" for r in range(3) for arm in (1, 2) for c in range(6)]
)
OF_IMRMC = (
    HEAD + 'arms: [{arm: unaided, aided: false, values: ["1"]}, {arm: aided, aided: true, values: ["2"]}]\n'
    "tables: {readings: {file: NAME}}\n"
)


@dataclass
class Outcome:
    """What came of an input: one word for what is alike, and why it is a failure, if it is."""

    word: str
    failure: str = ""


@dataclass
class Target:
    """Where inputs go: `valid` ones to start from, `drawn` ones by structure, `attempt` tries one."""

    name: str
    attempt: Callable[[bytes, Path], Outcome]
    drawn: Callable[[random.Random], bytes]
    valid: Callable[[], list[bytes]]
    instrument: tuple[str, ...] = ("trustreport",)
    closing: list[Callable[[], None]] = field(default_factory=list)


def rows_of(text: str) -> mutations.Rows:
    return [list(row) for row in csv.reader(io.StringIO(text))]


# ---------------------------------------------------------------- studies


def _kind(problem: str) -> str:
    """A message without what differs from file to file."""
    return re.sub(r'"[^"]*"|<[^>]*>|[0-9][0-9.,]*|[^\x20-\x7e]', "#", problem)[:90]


def build(folder: Path, *, report: bool) -> Outcome:
    """Read a study and, if asked, build its report: nothing but the project's own refusals may come out."""
    from trustreport.api import read_study
    from trustreport.vocabulary.errors import StudyError

    try:
        read_study(folder)
    except StudyError as error:
        said = [str(problem) for problem in error.problems]
        if not said or any(not p.file or not str(p).strip() for p in error.problems):
            return Outcome("refused", "a refusal that names no file or no fault")
        if any("Traceback" in one or len(one) > 4000 or "\x00" in one for one in said):
            return Outcome("refused", "a message nobody can read")
        return Outcome("refused: " + "; ".join(sorted({_kind(one) for one in said}))[:300])
    return built(folder) if report else Outcome("read")


def built(folder: Path) -> Outcome:
    """The report by the command line: whole, or nothing of it, and an exit code that is documented."""
    from click.testing import CliRunner

    from trustreport.commands.cli import main

    out = folder.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    often = gc.get_threshold()
    done = CliRunner().invoke(main, ["build", str(folder), "-o", str(out), "--formats", "json,html"])
    gc.set_threshold(*often)  # the command seldom collects, for its process ends; this one goes on
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    there = sorted(p.name for p in out.iterdir()) if out.is_dir() else []
    left = [p.name for p in out.parent.iterdir() if p.name not in ("out", folder.name)]
    if left:
        return Outcome("built", f"left behind beside the report: {left[:3]}")
    if done.exit_code == 0:
        whole = {"report.html", "results.json", "run.json"} <= set(there)
        if not whole:
            return Outcome("built", f"a report in part: {there}")
        json.loads((out / "results.json").read_text(), parse_constant=_no_constant)
        return Outcome("built")
    if there:
        return Outcome(f"exit {done.exit_code}", f"files of a report that was not made: {there[:5]}")
    if done.exit_code not in (1, 2, 3) or not done.stderr.strip():
        return Outcome(f"exit {done.exit_code}", f"exit code {done.exit_code}: {done.stderr[-200:]!r}")
    return Outcome(f"exit {done.exit_code}: {_kind(done.stderr)}")


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} in results.json")


@contextmanager
def fresh(work: Path) -> Iterator[Path]:
    """An empty study folder, gone afterwards."""
    with tempfile.TemporaryDirectory(dir=work) as place:
        folder = Path(place) / "study"
        folder.mkdir()
        yield folder


def _every(n: int, data: bytes) -> bool:
    """Whether this is one of every `n` inputs, by its bytes: the same input is treated the same."""
    return n > 0 and sum(data[:: max(1, len(data) // 64)]) % n == 0


def table_target(name: str, file: str, manifests: dict[str, str], write: Callable[..., bytes]) -> Target:
    """A target that puts its bytes where a manifest expects a table."""

    def attempt(data: bytes, work: Path) -> Outcome:
        which = sorted(manifests)[data[0] % len(manifests)] if data else sorted(manifests)[0]
        with fresh(work) as folder:
            (folder / "study.yaml").write_text(manifests[which].replace("NAME", file))
            (folder / file).write_bytes(data[1:])
            return build(folder, report=_every(REPORTS, data))

    texts = {"readings": READINGS, "scores": SCORES, "imrmc": IMRMC.partition("BEGIN DATA:\n")[2]}

    def drawn(draw: random.Random) -> bytes:
        at = draw.randrange(len(manifests))
        rows = rows_of(texts[sorted(manifests)[at]])
        return bytes([at]) + write(draw, mutations.changed_rows(draw, rows))

    def valid() -> list[bytes]:
        found = []
        with tempfile.TemporaryDirectory() as work:
            for at, which in enumerate(sorted(manifests)):
                drawn = (write(random.Random(n), rows_of(texts[which])) for n in range(100))
                tried = (bytes([at]) + data for data in drawn)
                read = (data for data in tried if attempt(data, Path(work)).word in ("read", "built"))
                found += [data for data, _ in zip(read, "123")]
        return found

    return Target(name, attempt, drawn, valid)


@cache
def shortened() -> dict[str, tuple[Any, dict[str, bytes]]]:
    """Each example: its manifest as a tree, and its tables, cut to a few rows."""
    from ruamel.yaml import YAML

    found = {}
    for manifest in sorted(EXAMPLES.glob("*/study.yaml")):
        text = re.sub(r"(?m)^\s*sha256:.*\n", "", manifest.read_text())
        tree = mutations.plain(YAML(typ="safe", pure=True).load(text))
        tables = {}
        for table in manifest.parent.glob("*.csv"):
            with table.open("rb") as lines:
                tables[table.name] = b"".join(line for line, _ in zip(lines, range(ROWS)))
        found[manifest.parent.name] = tree, tables
    return found


def manifest_target() -> Target:
    """The manifest of each example, its tables beside it."""
    names = sorted(path.parent.name for path in EXAMPLES.glob("*/study.yaml"))

    def attempt(data: bytes, work: Path) -> Outcome:
        _, tables = shortened()[names[data[0] % len(names)] if data else names[0]]
        with fresh(work) as folder:
            for name, held in tables.items():
                (folder / name).write_bytes(held)
            (folder / "study.yaml").write_bytes(data[1:])
            return build(folder, report=_every(REPORTS, data))

    def drawn(draw: random.Random) -> bytes:
        at = draw.randrange(len(names))
        return bytes([at]) + mutations.as_yaml(draw, mutations.changed_tree(draw, shortened()[names[at]][0]))

    def valid() -> list[bytes]:
        return [bytes([i]) + (EXAMPLES / name / "study.yaml").read_bytes() for i, name in enumerate(names)]

    return Target("manifest", attempt, drawn, valid, instrument=("trustreport", "ruamel.yaml"))


# ---------------------------------------------------------------- requests

SPARED = ("delete /api/v1/session", "post /api/v1/account/password", "delete /api/v1/tokens/{token}")


def api_target() -> Target:
    """The bodies that the service takes, sent to it in this process by a user who may do everything."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "service")]
    from services import API, Client, new_core, world

    from trustreport.service.app import create_app

    data = Path(tempfile.mkdtemp())
    core = new_core(data / "data")
    app = create_app(core)
    anna = Client.set_up(app, core)
    scopes = ["read", "write", "review", "approve", "manage"]
    made = anna.post(f"{API}/tokens", json={"name": "fuzz", "scopes": scopes}).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    named = world(core, anna)
    document = anna.get("/api/openapi.json").json()
    ways = [
        (method, path, body)
        for path, methods in sorted(document["paths"].items())
        for method, one in sorted(methods.items())
        if f"{method} {path}" not in SPARED
        for body in [one.get("requestBody", {}).get("content", {})]
        if body
    ]
    client = Client(app, base_url="https://testserver", raise_server_exceptions=True)

    def attempt(data: bytes, work: Path) -> Outcome:
        method, path, body = ways[data[0] % len(ways)] if data else ways[0]
        url = re.sub(r"\{(\w+)\}", lambda name: named.get(name[1], "x" * 26), path)
        kind = next(iter(body))
        found = client.request(
            method.upper(), url, content=data[1:], headers={**headers, "Content-Type": kind}
        )
        if found.status_code >= 500 and found.status_code not in (503, 507):
            return Outcome(f"{found.status_code}", f"{method} {path}: {found.status_code} {found.text[:200]}")
        if found.status_code >= 400:
            told = found.json()
            if "title" not in told or "Traceback" in found.text:
                return Outcome(f"{found.status_code}", f"{method} {path}: an answer that says nothing")
            return Outcome(f"{method} {path} {found.status_code} {_kind(str(told.get('detail')))}")
        return Outcome(f"{method} {path} {found.status_code}")

    def example(schema: Any, depth: int = 0) -> Any:
        while "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return example(schema[key][0], depth + 1)
        if "const" in schema or "enum" in schema or "default" in schema:
            return schema.get("const", schema.get("enum", [schema.get("default")])[0])
        kind = schema.get("type")
        if kind == "object":
            known = schema.get("properties", {})
            return {} if depth > 6 else {name: example(one, depth + 1) for name, one in known.items()}
        if kind == "array":
            return [] if depth > 6 else [example(schema.get("items", {}), depth + 1)]
        plain = {"integer": schema.get("minimum", 1), "number": 0.5, "boolean": True, "null": None}
        return plain.get(str(kind), "a" * max(schema.get("minLength", 4), 4))

    def body_of(at: int) -> tuple[str, Any]:
        kind, held = next(iter(ways[at][2].items()))
        return kind, example(held.get("schema", {}))

    def drawn(draw: random.Random) -> bytes:
        at = draw.randrange(len(ways))
        kind, tree = body_of(at)
        if "json" not in kind:
            return bytes([at]) + mutations.as_csv(draw, mutations.changed_rows(draw, rows_of(READINGS)))
        if draw.random() < 0.1:
            return bytes([at]) + mutations.as_yaml(draw, mutations.changed_tree(draw, tree))
        text = json.dumps(mutations.changed_tree(draw, tree), ensure_ascii=draw.random() < 0.5)
        sent = text.encode("utf-8", "surrogatepass")
        return bytes([at]) + (mutations.changed_bytes(draw, sent) if draw.random() < 0.1 else sent)

    def valid() -> list[bytes]:
        return [bytes([at]) + json.dumps(body_of(at)[1]).encode() for at in range(len(ways))]

    target = Target("api", attempt, drawn, valid)
    target.closing = [core.close, lambda: shutil.rmtree(data, ignore_errors=True)]
    return target


def workbook_target() -> Target:
    """Workbooks; the process that reads them is forked from this one, since to start one takes longer."""
    from types import SimpleNamespace

    from trustreport.study.ingest import sheet

    def here(command: list[str], **options: Any) -> Any:
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if not child:
                status = 1
                try:
                    os.dup2(said.fileno(), 1)
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False))
                    sheet.main(*command[3:])
                    status = 0
                except SystemExit as left:
                    status = int(left.code or 0)
                finally:
                    sys.stdout.flush()
                    os._exit(status)
            _, waited = os.waitpid(child, 0)
            said.seek(0)
            return SimpleNamespace(returncode=os.waitstatus_to_exitcode(waited), stdout=said.read())

    sheet.subprocess = SimpleNamespace(run=here, TimeoutExpired=TimeoutError)
    return table_target("xlsx", "table.xlsx", TABLES, mutations.as_workbook)


TABLES = {"readings": OF_READINGS, "scores": OF_SCORES}
TARGETS: dict[str, Callable[[], Target]] = {
    "manifest": manifest_target,
    "csv": lambda: table_target("csv", "table.csv", TABLES, mutations.as_csv),
    "xlsx": workbook_target,
    "parquet": lambda: table_target("parquet", "table.parquet", TABLES, mutations.as_parquet),
    "imrmc": lambda: table_target("imrmc", "table.imrmc", {"imrmc": OF_IMRMC}, mutations.as_imrmc),
    "api": api_target,
}
