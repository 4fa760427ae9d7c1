"""What a query asks of the catalogue and of settings, answered by the binder: constants in its plan."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from headrace._src.errors import UnsupportedError, translated
from headrace._src.query.temporary_files import current_options, current_settings
from headrace._src.sql.declared import with_last_numbers
from headrace._src.sql.literals import literal
from headrace._src.sql.place import located
from headrace._src.sql.plan_json import NOWHERE, as_deep_as_can_be, plan_text, projection

#: Functions in FROM about tables and the binder's words; `information_schema` is made of them.
_FUNCTIONS = (
    "pragma_show",
    "pragma_table_info",
    "duckdb_columns",
    "duckdb_constraints",
    "duckdb_databases",
    "duckdb_dependencies",
    "duckdb_indexes",
    "duckdb_keywords",
    "duckdb_schemas",
    "duckdb_sequences",
    "duckdb_settings",
    "duckdb_tables",
    "duckdb_types",
    "duckdb_views",
)
#: Settings of a query that the binder has.
_OF_BINDER = (
    "calendar",
    "default_collation",
    "default_null_order",
    "default_order",
    "null_order",
    "schema",
    "search_path",
    "timezone",
)
#: Options of `sql` by DuckDB's names, and settings of runs.
OPTIONS = {
    "threads": "threads",
    "worker_threads": "threads",
    "memory_limit": "memory",
    "max_memory": "memory",
}
SETTINGS = {"temp_directory": "spillDirectory", "max_temp_directory_size": "spillLimit"}
_OF_RUNS = OPTIONS | SETTINGS
_SETTING = "current_setting"
_SCHEMA = "current_schema"
#: FROM repeat(value, count).
_REPEAT = "repeat"


def settings_asked(text: str) -> list[Any]:
    """What belongs to the key of a plan: the settings, if the text may ask for them."""
    if _SETTING not in text.lower():
        return []
    environment = sorted(each for each in os.environ.items() if each[0].startswith("HEADRACE_"))
    return [dict(current_settings()), current_options(), environment]


def answered(connection: Any, plan: str, text: str) -> str:
    """A plan with rows and values in place of functions of the catalogue, and of `repeat` in FROM.

    text: that it is the plan of.

    Raises UnsupportedError for a setting that is none of a query.
    """
    if not any(f'"{name}"' in plan for name in (*_FUNCTIONS, _SETTING, _SCHEMA, _REPEAT)):
        return plan
    with as_deep_as_can_be():
        return plan_text(_replaced(connection, json.loads(plan), text))


def _replaced(connection: Any, node: Any, text: str) -> Any:
    if isinstance(node, list):
        return [_replaced(connection, child, text) for child in node]
    if not isinstance(node, dict):
        return node
    name = node["qname"]["path"][-1] if isinstance(node.get("qname"), dict) else ""
    if node.get("type") == "LOGICAL_GET" and name in _FUNCTIONS:
        return _rows(connection, node, name)
    if node.get("type") == "LOGICAL_GET" and name == _REPEAT:
        return _repeated(connection, node)
    if node.get("expression_class") == "BOUND_FUNCTION" and name == _SETTING:
        return _constant(connection, node, text)
    if node.get("expression_class") == "BOUND_FUNCTION" and name == _SCHEMA:
        ((value,),) = connection.execute("select current_schema()").fetchall()
        return _value_of_call(node, value)
    return {key: _replaced(connection, child, text) for key, child in node.items()}


def _rows(connection: Any, scan: dict[str, Any], name: str) -> dict[str, Any]:
    given = ", ".join(literal(each["value"]) for each in scan["parameters"])
    # Where rows are only counted, a column is asked for that is none.
    wanted = [each["index"] if each["index"] < len(scan["names"]) else 0 for each in scan["column_indexes"]]
    columns = connection.execute(f"from {name}({given})").fetchall()
    if name == "duckdb_sequences":
        columns = with_last_numbers(connection, scan["names"], columns)
    if name == "duckdb_settings":
        columns = list(_own_settings(connection, columns))
    types = [scan["returned_types"][place] for place in wanted]
    values = [
        [{"type": kind, **_value(row[place])} for row in columns]
        for place, kind in zip(wanted, types, strict=True)
    ]
    return {
        "type": "LOGICAL_CHUNK_GET",
        "table_index": scan["table_index"],
        "collection": {"types": types, "values": values},
        "column_ids": list(range(len(wanted))),
    }


def _own_settings(connection: Any, rows: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Of DuckDB's settings those that a query has, with their values."""
    for name, value, *rest in rows:
        if name.lower() in _OF_RUNS:
            value = str(_of_runs(connection, _OF_RUNS[name.lower()]))
        elif name.lower() not in _OF_BINDER:
            continue
        yield name, value, *rest


def _repeated(connection: Any, scan: dict[str, Any]) -> dict[str, Any]:
    """The same value in as many rows: of a range of numbers."""
    value, count = scan["parameters"]
    text = f"from range({max(0, count['value'])})"
    told = connection.execute("select json_serialize_plan(?, optimize := false)", [text]).fetchall()[0][0]
    numbers = json.loads(told)["plans"][0]["children"][0]
    constant = {"expression_class": "BOUND_CONSTANT", "type": "VALUE_CONSTANT", **NOWHERE, "value": value}
    return projection(numbers, scan["table_index"], [constant for _ in scan["column_indexes"]])


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):  # a map: the pairs of its entries
        value = list(value.items())
    if isinstance(value, (list, tuple)):
        value = {"children": [_value(each) for each in value]}
    return {"is_null": value is None, "value": value}


def _constant(connection: Any, call: dict[str, Any], text: str) -> dict[str, Any]:
    name = str(call["children"][0]["value"]["value"])
    if name.lower() in _OF_BINDER:
        value = connection.execute("select current_setting(?)", [name.lower()]).fetchall()[0][0]
    elif name.lower() in _OF_RUNS:
        value = _of_runs(connection, _OF_RUNS[name.lower()])
    else:
        known = ", ".join((*_OF_BINDER, *_OF_RUNS))
        message = f"no setting of a query: {name}; there are {known}"
        raise located(UnsupportedError, message, text, call["query_location"], len(_SETTING))
    return _value_of_call(call, value)


def _value_of_call(call: dict[str, Any], value: Any) -> dict[str, Any]:
    kept = {key: call[key] for key in ("alias", "query_location", "query_location_length") if key in call}
    constant = {"type": call["return_type"], **_value(value)}
    return {"expression_class": "BOUND_CONSTANT", "type": "VALUE_CONSTANT", **kept, "value": constant}


def _of_runs(connection: Any, setting: str) -> Any:
    from headrace import _runtime
    from headrace._src.programs import default_threads, memory_of_all

    options = current_options()
    told = translated(lambda: _runtime.setting(setting, dict(current_settings())))
    if setting == "threads":
        return options.get("threads") or int(told) or default_threads()
    if setting == "spillDirectory":
        return told
    if setting == "memory":
        size = memory_of_all(options["memory"]) if "memory" in options else _runtime.memory_limit()
    else:
        size = translated(lambda: _runtime.parse_bytes(told))
    return connection.execute("select formatReadableSize(?)", [size]).fetchall()[0][0]
