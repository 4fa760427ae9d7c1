"""What JSON becomes as each type of SQL, and texts with JSON in them; beside DuckDB."""

from __future__ import annotations

import os
import random

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, same

KINDS = [
    "BOOLEAN", "TINYINT", "INTEGER", "UTINYINT", "UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE",
    "DECIMAL(9,2)",
    "DECIMAL(38,19)", "VARCHAR", "BLOB", "DATE", "TIMESTAMP", "TIME", "INTERVAL", "UUID", "JSON",
]  # fmt: skip
STRINGS = [
    "\\t1", "1\\n", " 1 ", "0x10", "0X1f", "0x1_0", "0x", "0x1_", "0b11", "0b2", "-0x1", "1_000", "+1",
    "1.", "1.5", "2.5",
    "1e3", "01", "-01", "-0", "00", "0", "1", "2", "-1", "- 1", "1 x", "", " ", "n", "y", "t", "F", "TRUE",
    "yes", "no",
    " true", "true", "nan", "1e400", "1e39", "x", "\\\\xFF", "é", "a", "2024-02-29", "2024-02-29 12:00:00",
    "1 day", "10:00", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
]  # fmt: skip
NUMBERS = [
    "1", "-1", "300", "-0", "-0.0", "1.0", "0.1", "2.5", "3.5", "-0.3", "2.675", "1e16", "1e-7",
    "0.000001", "1e39", "1e400",
    "99999999999999999999", "123456789012345678901234567890.5", "123456789012345678.125",
    "0.1234567890123456789",
    "16777217.000000001", "NaN", "-Infinity",
]  # fmt: skip
OTHERS = ["true", "false", "null", "[1, 2.50]", '{"a": 1}', "[]"]
VALUES = [f'"{text}"' for text in STRINGS] + NUMBERS + OTHERS


def _table(texts: list[str]) -> dict[str, pa.Table]:
    return {"t": pa.table({"id": range(len(texts)), "s": texts})}


def _check(expressions: list[str], tables: dict[str, pa.Table], ranks: int = 1) -> None:
    columns = ", ".join(f"{expression} as x{number}" for number, expression in enumerate(expressions))
    text = f"select id, {columns} from t order by id"
    same(hr.sql(text, tables, ranks=ranks), answer(text, tables), ordered=True)


def _or_nothing(query: str, tables: dict[str, pa.Table]) -> None:
    """What DuckDB refuses is an error here, too."""
    try:
        expected = answer(query, tables)
    except duckdb.Error:
        with pytest.raises(hr.HeadraceError):
            hr.sql(query, tables)
    else:
        same(hr.sql(query, tables), expected)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_each_value_as_each_type(kind: str, ranks: int) -> None:
    calls = [
        f"try_cast(s::json as {kind})",
        f"json_transform(s, '\"{kind}\"')",
        f"try_cast(('['||s||', null]')::json as {kind}[])",
        f"json_transform('['||s||']', '[\"{kind}\"]')",
        f"try_cast(('{{\"k\": '||s||'}}')::json as struct(k {kind}))",
        f"try_cast(('{{\"k\": '||s||'}}')::json as map(varchar, {kind}))",
        f"json_transform('{{\"k\": '||s||'}}', '{{\"k\": \"{kind}\"}}')",
    ]
    # In lists NaN is not equal to itself, in Python.
    _check(calls, _table([text for text in VALUES if "nan" not in text.lower()]), ranks)


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_are_errors(kind: str) -> None:
    for text in VALUES[KINDS.index(kind) % 7 :: 7]:
        _or_nothing(f"select s::json::{kind} as x from t", _table([text]))
    for text in VALUES[KINDS.index(kind) :: len(KINDS)]:
        _or_nothing(f"select json_transform_strict(s, '\"{kind}\"') as x from t", _table([text]))


def test_infinities() -> None:
    texts = ['"inf"', '" -inf"', '"inf "', '"Infinity"', "-Infinity", "1e400"]
    _check(
        [f"try_cast(s::json as {kind})" for kind in ("float", "double", "boolean", "bigint")], _table(texts)
    )


def test_enums_are_of_strings() -> None:
    kind = "enum('a', '1', 'true')"
    _check([f"try_cast(s::json as {kind})", f"try_cast(('['||s||']')::json as {kind}[])"], _table(VALUES))


def test_keys_of_maps_are_strings() -> None:
    keys = [text for text in STRINGS if "xFF" not in text]
    for kind in ("VARCHAR", "JSON"):
        tables = _table([f'{{"{key}": 1.50}}' for key in keys])
        _check([f"try_cast(s::json as map({kind}, varchar))", f"s::json::map({kind}, json)"], tables)
    for key in keys[::3]:
        _or_nothing("select s::json::map(integer, integer) as x from t", _table([f'{{"{key}": 1}}']))


def test_random_scalars() -> None:
    seed = int(os.environ.get("HEADRACE_SEED", "7"))
    print(f"HEADRACE_SEED={seed}")
    draw = random.Random(seed)
    texts = []
    for _ in range(int(os.environ.get("HEADRACE_RANDOM_JSON", "2000"))):
        number = f"{draw.choice(['', '-'])}{draw.randrange(10 ** draw.randrange(1, 25))}"
        number += f".{draw.randrange(10**6)}" if draw.random() < 0.5 else ""
        number += f"e{draw.randrange(-8, 9)}" if draw.random() < 0.2 else ""
        quoted = draw.choice(["", "", " ", "+", "0", "0x"]) + number + draw.choice(["", "", " ", "_0"])
        texts.append(number if draw.random() < 0.5 else f'"{quoted}"')
    for kind in KINDS[:-1]:
        # Of the former DuckDB cuts exponents off; Arrow has no intervals of more than 292 years.
        if not kind.startswith(("DECIMAL", "INTERVAL")):
            _check(
                [f"try_cast(s::json as {kind})", f"try_cast(('['||s||']')::json as {kind}[])"], _table(texts)
            )


NESTED = [
    "json[]", "json[][]", "json[2]", "json[][2]", "struct(a json)", "struct(a json[])", "struct(a json)[]",
    "struct(a json, b integer)", "struct(a map(varchar, json))", "map(varchar, json)", "map(varchar, json[])",
    "map(json, integer)",
]  # fmt: skip
TEXTS = [
    "[1.50]", '[ {"a" : 1} , null, 1e5, "x" ]', "[a]", '[ [{"a" : 1}] , null ]', '{"a" : 1.50}',
    "{a=1.50}", "{a=[1.50]}",
    "{'a': [1.50]}", "[1.50, 2]", '[{"a" : 1.50}]', "null", "", " ", "1", "[[1, 2.50]]", "{1=2}",
    '{"1"=2}', "{a: 1, b: 2}",
    "{a: {k=1.50}}", "[]", "{a: x}",
]  # fmt: skip


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kind", NESTED)
def test_texts_with_json_in_them(kind: str, ranks: int) -> None:
    _check([f"try_cast(s as {kind})"], _table(TEXTS), ranks)
    for text in TEXTS[NESTED.index(kind) % 5 :: 5] if ranks == 1 else []:
        _or_nothing(f"select s::{kind} as x from t", _table([text]))
    with pytest.raises(hr.HeadraceError, match="a text that is no array of JSON"):
        hr.sql("select s::json[] as x from t", _table(["null"]))


@pytest.mark.parametrize("ranks", [1, 3])
def test_lists_of_json_as_texts(ranks: int) -> None:
    nested = [
        "[s::json, NULL]", "[[s::json], NULL]", "{'a': s::json}", "{'a': [s::json]}", "map{'k': s::json}",
        "map{'k': [s::json]}",
        "[{'a': s::json}]", "array_value(s::json)", "row(s::json, [s::json])",
    ]  # fmt: skip
    calls = [f"({value})::varchar" for value in nested]
    _check(calls, _table(['{"a":1}', " 1", "[1]", "null", '"x"', '"it\'s"', '{"a" : [1, "b"]}']), ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_wildcards_see_what_is_written(ranks: int) -> None:
    names = (
        "json_type",
        "json_extract",
        "json_extract_string",
        "json_value",
        "json_keys",
        "json_array_length",
    )
    calls = [f"{name}(s, '{path}')" for name in names for path in ("$[*]", "*", "$.*", "$..*")]
    texts = [
        "[-0]",
        "[1.50, -0.0, 1e400]",
        '[ {"a" : [ 1 , 2.50 ] } , "\\u0061" ]',
        '{"*": -0, "b": [1]}',
        "1",
    ]
    _check(calls, _table(texts), ranks)


def test_keys_that_are_null() -> None:
    table = {"t": pa.table({"k": ["a", None]})}
    with pytest.raises(duckdb.Error, match="key cannot be NULL"):
        answer("select json_object(k, 1) as x from t", table)
    with pytest.raises(hr.HeadraceError, match="a key of a JSON object is NULL"):
        hr.sql("select json_object(k, 1) as x from t", table)
    text = "select json_object(k, 1, 'b', k) as x from t where k is not null"
    same(hr.sql(text, table), answer(text, table))
