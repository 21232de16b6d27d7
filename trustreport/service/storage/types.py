"""Column types that are the same in every database."""

import json
from typing import Any

from sqlalchemy import JSON, ColumnElement, Dialect, Text, cast, func
from sqlalchemy.dialects.postgresql import JSON as POSTGRES_JSON
from sqlalchemy.types import TypeDecorator


def canonical(value: Any) -> str:
    """JSON with sorted keys and no blanks: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


class Json(TypeDecorator[Any]):
    """Canonical JSON, kept as text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else canonical(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


def has_json(column: Any, path: tuple[str, ...], is_sqlite: bool) -> ColumnElement[bool]:
    """Whether JSON that is kept as text has something at a path of names."""
    if is_sqlite:
        where = "$" + "".join(f'."{name}"' for name in path)
        return func.json_extract(column, where, type_=JSON).is_not(None)
    return cast(column, POSTGRES_JSON)[path].is_not(None)
