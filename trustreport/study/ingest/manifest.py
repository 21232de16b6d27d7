"""The manifest: YAML 1.2 or JSON to a `Plan`, with the line of every key kept for messages.

The text is composed to a tree of nodes and the plain values are built here, because a message needs the line,
a number the characters that were typed, and hostile text (tags, aliases of aliases, endless nesting) a bound.
"""

import codecs
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any

from trustreport.study.ingest.problems import (
    RETYPE,
    SEEN,
    KeyPath,
    Manifest,
    Problems,
    did_you_mean,
    dotted,
    quoted,
    unseen,
)
from trustreport.study.interop.exports import take_export
from trustreport.study.interop.sql import NotFetched, fetch
from trustreport.study.plan import TableSource, TakenExport
from trustreport.study.study import Export

MOST_BYTES = 5_000_000
MOST_NODES = 500_000
TAG = "tag:yaml.org,2002:"


class TypedFloat(float):
    """A number that remembers the characters typed: 0.80, not 0.8."""

    text: str


class TypedInt(int):
    """A whole number that remembers the characters typed: 007, not 7."""

    text: str


class NotPlain(Exception):
    """The text is not a manifest at all; the message says why, at a line."""

    def __init__(self, found: str, line: int | None = None, expected: str = "", mend: str = "") -> None:
        super().__init__(found)
        self.found, self.line, self.expected, self.mend = found, line, expected, mend


@dataclass
class _Builder:
    """Plain values from a tree of nodes; notes lines and problems on the way."""

    file: str
    problems: Problems
    lines: dict[KeyPath, int] = field(default_factory=dict)
    open_nodes: set[int] = field(default_factory=set)
    n_nodes: int = 0

    def value(self, node: Any, path: KeyPath) -> Any:
        """The value of one node and of all below it."""
        self.n_nodes += 1
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if self.n_nodes > MOST_NODES:
            raise NotPlain(f"more than {MOST_NODES:,} values once aliases are followed", line)
        if id(node) in self.open_nodes:
            raise NotPlain("an alias that contains itself", line)
        if node.id == "scalar":
            return self._scalar(node, path, line)
        if str(node.tag) not in (TAG + "map", TAG + "seq"):
            return self._refuse(node, path, line)
        self.open_nodes.add(id(node))
        if node.id == "sequence":
            made: Any = [self.value(child, (*path, i)) for i, child in enumerate(node.value)]
        else:
            made = self._mapping(node, path)
        self.open_nodes.discard(id(node))
        return made

    def _mapping(self, node: Any, path: KeyPath) -> dict[str, Any]:
        made: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        seen: dict[str, int] = {}
        for key, child in node.value:
            line = key.start_mark.line + 1
            if str(key.tag) == TAG + "merge":
                merged |= self._merged(child, path)
                continue
            if key.id != "scalar":
                self._problem(path, line, "a list or a group as a key", "a word")
                continue
            name = _joined(key.value)
            if unseen(name):
                self._problem(path, line, f"a key {quoted(name)}", SEEN, RETYPE)
                continue
            if name in seen:
                self.problems.add_at(
                    self.file,
                    f"key {quoted(name)} appears twice in one group",
                    mend="Keep one of the two.",
                    rows=(seen[name], line),
                    column=dotted((*path, name)),
                )
                continue
            seen[name] = line
            self.lines[(*path, name)] = line
            made[name] = self.value(child, (*path, name))
        return {**{k: v for k, v in merged.items() if k not in made}, **made}

    def _merged(self, node: Any, path: KeyPath) -> dict[str, Any]:
        parts = node.value if node.id == "sequence" else [node]
        merged: dict[str, Any] = {}
        for part in parts:
            value = self.value(part, path)
            if not isinstance(value, dict):
                raise NotPlain("a merge key << of something that is no group", part.start_mark.line + 1)
            merged = {**value, **merged}
        return merged

    def _scalar(self, node: Any, path: KeyPath, line: int) -> Any:
        kind = str(node.tag).removeprefix(TAG)
        text = _joined(node.value)
        if kind in ("str", "timestamp", "value"):
            if unseen(text):
                self._problem(path, line, quoted(text), SEEN, RETYPE)
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() in ("true", "yes", "on", "y")
        if kind in ("int", "float"):
            return _number(text, kind)
        return self._refuse(node, path, line)

    def _refuse(self, node: Any, path: KeyPath, line: int) -> None:
        self._problem(path, line, f"a tag {quoted(node.tag)}", "plain values", "Remove the tag.")

    def _problem(self, path: KeyPath, line: int, found: str, expected: str = "", mend: str = "") -> None:
        self.problems.add_at(self.file, f"found {found}", expected, mend, rows=(line,), column=dotted(path))


def _number(text: str, kind: str) -> Any:
    plain = text.replace("_", "")
    try:
        if kind == "int":
            whole = TypedInt(plain, 0) if plain.lstrip("+-")[:2] in ("0x", "0o", "0b") else TypedInt(plain)
            whole.text = text
            return whole
        special = plain.lower().lstrip("+-")
        if special in (".inf", ".nan"):
            plain = plain.replace(".", "")
        broken = TypedFloat(plain)
        broken.text = text
        return broken
    except ValueError:
        return text


def _joined(text: str) -> str:
    """JSON writes signs beyond the first plane as two halves: join them; a lone half has no meaning."""
    if not any("\ud800" <= c <= "\udfff" for c in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def composed(text: str) -> Any:
    """The tree of nodes of a YAML or JSON text; raises `NotPlain` where there is none."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise NotPlain(*_syntax(error.problem or error.context or "", line)) from None
    except YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        raise NotPlain("a character that text does not contain", line, "plain text") from None
    except RecursionError:
        raise NotPlain("groups nested too deeply") from None
    except (ValueError, AttributeError, TypeError, IndexError, AssertionError, KeyError, NotImplementedError):
        raise NotPlain("text that is neither YAML nor JSON") from None


def _syntax(problem: str, line: int | None) -> tuple[str, int | None, str, str]:
    mends = {
        r"'\t'": "Indent with spaces, not with tabs.",
        "found undefined alias": "Write the value out, or name it with & before it is used.",
        "single document": "Keep one document: remove the line ---.",
        "mapping values are not allowed": "Put a text that contains a colon between quotation marks.",
        "escape character": "In double quotes write \\\\ for a backslash, or use single quotes.",
        "cannot start any token": "Put the text between quotation marks.",
    }
    mend = next(
        (m for k, m in mends.items() if k in problem), "Check the indentation, brackets and quotes there."
    )
    return f"not valid YAML ({problem})", line, "", mend


def parse(file: str, data: bytes, problems: Problems) -> Manifest | None:
    """The values and lines of a manifest; None where it cannot be read at all (the problem is noted)."""
    try:
        if len(data) > MOST_BYTES:
            raise NotPlain("too large a file", None, f"at most {MOST_BYTES:,} bytes", "Put data into tables.")
        text, _ = decoded(data)
        if file.endswith(".json"):
            text = _json_as_yaml(text)
        node = composed(text)
        if node is None:
            raise NotPlain("no content", 1, "groups such as report and device")
        if node.id != "mapping":
            raise NotPlain(f"a {node.id}", 1, "groups such as report and device", "Start with report:.")
        builder = _Builder(file, problems)
        problems.manifest = Manifest(file, builder.value(node, ()), builder.lines)
        return problems.manifest
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.add_at(
            file, "found bytes that are not UTF-8", "UTF-8", "Save the file as UTF-8.", rows=(line,)
        )
    except NotPlain as error:
        rows = () if error.line is None else (error.line,)
        problems.add_at(file, f"found {error.found}", error.expected, error.mend, rows=rows)
    except RecursionError:
        problems.add_at(file, "found groups nested too deeply")
    return None


def _json_as_yaml(text: str) -> str:
    """JSON that YAML reads alike: no tabs (a JSON string holds none), line ends of Unicode escaped."""
    text = text.replace("\t", " ")
    for sign in "\u0085\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def found_in(folder: Path) -> list[Path]:
    """The manifests of a study folder."""
    return [p for p in (folder / f"study.{end}" for end in ("yaml", "yml", "json")) if p.is_file()]


BLOCK = 1 << 24
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def decoded(data: bytes) -> tuple[str, str]:
    """Text and encoding by the byte order mark, UTF-8 without one; raises `UnicodeDecodeError`."""
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding), encoding
    return data.decode("utf-8"), "utf-8"


def is_utf8(path: Path) -> bool:
    """Whether a file is UTF-8 from end to end, read in blocks."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as stream:
            while block := stream.read(BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass
class StudyFiles:
    """The files that a manifest names, looked up in the study folder and nowhere else."""

    folder: Path
    manifest: str
    problems: Problems
    allow_outside: bool = False
    hashes: dict[Path, str] = field(default_factory=dict)
    fetched: "TemporaryDirectory[str] | None" = None
    exports: dict[Path, Export] = field(default_factory=dict)  # that tables were read from

    def close(self) -> None:
        """Remove what was fetched."""
        if self.fetched is not None:
            self.fetched.cleanup()

    def fetch(self, name: str, source: TableSource, column: str, line: int) -> Path | None:
        """The rows of a query, or an export, as a file; None where it is not there (the problem is noted).

        Where a service fetched them, and nothing here says from where, and of an export that was taken and is
        kept, its file in the folder.
        """
        address, kept = os.environ.get(source.variable, ""), (self.folder / name).is_file()
        if kept and (source.taken or (source.connection and not address)):
            path = self.find(name, column, line)
            return path if path is None or source.sql else self._as_taken(path, source, column, line)
        try:
            if not address:
                what = "database" if source.sql else "folder or bucket"
                expected = f"the address of the {what} in the environment variable {source.variable}"
                elsewhere = ", and no service has fetched the rows" if source.connection else ""
                raise NotFetched(f"{source.variable} is not set{elsewhere}", expected)
            self.fetched = self.fetched or TemporaryDirectory(prefix="trustreport-")
            path = Path(self.fetched.name, f"{len(os.listdir(self.fetched.name))}{Path(name).suffix}")
            if source.sql:
                fetch(source.sql, source.parameters, address, path)
                return path
            known = source.taken.model_dump(exclude_none=True) if source.taken else {}
            how = {"after": source.after or "", "file": known.get("file", "")}
            taken = TakenExport(**(take_export(address, source.newest or "", path, **how) | known))
            return self._as_taken(path, source.model_copy(update={"taken": taken}), column, line)
        except NotFetched as error:
            self._refuse(error.found, error.expected, error.mend, column, line)
            return None

    def _as_taken(self, path: Path, source: TableSource, column: str, line: int) -> Path | None:
        """The path of an export, if its content is still the one that was taken."""
        taken = source.taken
        if taken is not None and taken.sha256 and taken.sha256 != self.hash(path):
            found = f"{taken.file} is not the file that was taken"
            self._refuse(found, f"the SHA-256 {taken.sha256}", "Restore it.", column, line)
            return None
        name = source.connection or source.url_env or ""
        file, modified = (taken.file, taken.modified or "") if taken else ("", "")
        self.exports[path] = Export(source.newest or "", file, modified, name)
        return path

    def find(self, name: str, column: str, line: int) -> Path | None:
        """The path of a file named in the manifest; None where it may not or cannot be read."""
        try:
            return self._find(name, column, line)
        except (OSError, ValueError):
            self._refuse(f"found {quoted(name)}", "the name of a file", "", column, line)
            return None

    def _find(self, name: str, column: str, line: int) -> Path | None:
        path = self.folder / name
        if not self.allow_outside and (
            _leads_out(name) or not path.resolve().is_relative_to(self.folder.resolve())
        ):
            mend = "Copy the file into the study folder and name it from there."
            self._refuse(f"{quoted(name)} is outside the study folder", "", mend, column, line)
            return None
        if path.is_dir():
            self._refuse(f"{quoted(name)} is a folder", "a file", "", column, line)
            return None
        if not path.is_file():
            mend = (
                "Write the name with forward slashes."
                if "\\" in name
                else did_you_mean(path.name, _files_in_folder(path))
            )
            self._refuse(f"no file {quoted(name)}", "", mend or "Check the name.", column, line)
            return None
        if not os.access(path, os.R_OK):
            self._refuse(f"{quoted(name)} may not be read", "", "Check its permissions.", column, line)
            return None
        if path.stat().st_size == 0:
            self.problems.add_at(name, "the file is empty (0 bytes)", "a header and rows")
            return None
        return path

    def hash(self, path: Path) -> str:
        """The hash of a file, computed once."""
        if path not in self.hashes:
            self.hashes[path] = sha256(path)
        return self.hashes[path]

    def _refuse(self, found: str, expected: str, mend: str, column: str, line: int) -> None:
        self.problems.add_at(self.manifest, found, expected, mend, rows=(line,), column=column)


def _leads_out(name: str) -> bool:
    """Absolute names of any system, and names that climb."""
    windows = PureWindowsPath(name)
    return bool(PurePosixPath(name).is_absolute() or windows.drive or windows.root or ".." in windows.parts)


def _files_in_folder(path: Path) -> list[str]:
    try:
        return sorted(p.name for p in path.parent.iterdir() if p.is_file())[:1000]
    except OSError:
        return []
