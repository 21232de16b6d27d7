"""Tables of a notebook (pandas) as the folder that a study is read from."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MANIFEST = "study.json"


def written(manifest: Mapping[str, Any], folder: Path, home: Path) -> Path:
    """Write a manifest whose files may be tables in memory; the name of the manifest.

    Parameters
    ----------
    manifest : as study.yaml holds it, but each table may be a DataFrame, or have one as its `file`;
        `report` and `device` may be left out
    folder : where it is written, empty
    home : the folder that names of files in the manifest are relative to

    Raises
    ------
    TypeError : a table is neither a DataFrame nor the name of a file
    """
    plain = {"report": {"kind": "certification"}, "device": {}, **manifest}
    plain["tables"] = {
        name: _entry(name, table, folder, home) for name, table in (manifest.get("tables") or {}).items()
    }
    sets = manifest.get("datasets") or []
    plain["datasets"] = [
        _entry(f"dataset{i}", one, folder, home) if "file" in one else dict(one) for i, one in enumerate(sets)
    ]
    file = folder / MANIFEST
    file.write_text(
        json.dumps({k: v for k, v in plain.items() if v != [] and (v or k == "device")}, default=str)
    )
    return file


def _entry(name: str, table: Any, folder: Path, home: Path) -> dict[str, Any]:
    entry = dict(table) if isinstance(table, Mapping) else {"file": table}
    held = entry.get("file")
    if hasattr(held, "to_parquet"):
        _write(held, folder / f"{name}.parquet")
        return {**entry, "file": f"{name}.parquet"}
    if not isinstance(held, str | Path):
        raise TypeError(f"{name}: a DataFrame or the name of a file is needed, not {type(held).__name__}")
    return {**entry, "file": str(home / held)}


def _write(frame: Any, path: Path) -> None:
    """A frame as Parquet: cells of mixed kinds as text, an index with a name as a column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(level=named) if named else frame
    columns = dict(_columns(frame))
    pq.write_table(pa.table(columns), path)


def _columns(frame: Any) -> Iterator[tuple[str, Any]]:
    import pyarrow as pa

    for name in frame.columns:
        series = frame[name]
        try:
            yield str(name), pa.array(series, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            yield str(name), pa.array([None if x is None or x != x else str(x) for x in series], pa.string())
