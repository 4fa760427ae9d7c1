"""JSON beside DuckDB: functions, casts, aggregates, and errors; on 1 and 3 ranks."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, same
from json_documents import BAD_PATHS, DOCUMENTS, MALFORMED, PATHS, WILDCARDS, Documents

_FOUND = ("json_extract", "json_extract_path", "json_extract_string", "json_extract_path_text", "json_value")
_ASKED = ("json_exists", "json_type", "json_array_length", "json_keys")
_MALFORMED = "malformed JSON"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _table(documents: list[str | None]) -> dict[str, pa.Table]:
    return {"t": pa.table({"id": range(len(documents)), "s": pa.array(documents, pa.string())})}


TABLES = _table(DOCUMENTS)


def _check(expressions: list[str], tables: dict[str, pa.Table], ranks: int, source: str = "t") -> None:
    """All at once, and one by one to say which differs."""
    columns = ", ".join(f"{expression} as x{number}" for number, expression in enumerate(expressions))
    text = f"select id, {columns} from {source} order by id"
    same(hr.sql(text, tables, ranks=ranks), answer(text, tables), ordered=True)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("of", ["s", "s::json"])
def test_paths(of: str, ranks: int) -> None:
    for path in PATHS:
        calls = [f"{name}({of}, {_literal(path)})" for name in (*_FOUND, *_ASKED)]
        calls += [f"({of})->{_literal(path)}", f"({of})->>{_literal(path)}"]
        _check(calls, TABLES, ranks)
    places = [f"json_extract({of}, {place})" for place in (0, 1, -1, 7, "id % 3", "-(id % 2)")]
    _check([*places, f"({of})->0", f"({of})->>1", f"json_value({of}, 0)"], TABLES, ranks)
    whole = ["json_valid(s)", f"json_type({of})", f"json_array_length({of})", f"json_keys({of})"]
    _check([*whole, f"json({of})", f"json_pretty({of})"], TABLES, ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_wildcards_and_lists_of_paths(ranks: int) -> None:
    for path in WILDCARDS:
        _check([f"{name}(s, {_literal(path)})" for name in (*_FOUND, *_ASKED)], TABLES, ranks)
    for name in (*_FOUND, *_ASKED):
        _check([f"{name}(s, ['$.a', 'b', '/a/b', '$[0]'])"], TABLES, ranks)
    for path in ("$..a..b", "$..*.a"):
        with pytest.raises(hr.HeadraceError, match="unsupported path of JSON: steps behind"):
            hr.sql(f"select s->>'{path}' from t", TABLES)


@pytest.mark.parametrize("ranks", [1, 3])
def test_paths_of_rows(ranks: int) -> None:
    table = {"t": pa.table({"id": range(len(PATHS) + 1), "p": [*PATHS, None]})}
    documents = ", ".join(_literal(text) for text in DOCUMENTS if text)
    source = f"t, (select unnest([{documents}]) as s)"
    calls = [f"{name}(s, p)" for name in (*_FOUND, *_ASKED)]
    text = f"select id, s, {', '.join(calls)} from {source} order by all"
    same(hr.sql(text, table, ranks=ranks), answer(text, table), ordered=True)
    for path in BAD_PATHS:
        bad = {"t": pa.table({"p": [path]})}
        with pytest.raises(duckdb.Error):
            answer("select json_extract('{}', p) from t", bad)
        with pytest.raises(hr.HeadraceError, match="malformed JSON, or a path that is none"):
            hr.sql("select json_extract('{}', p) from t", bad, ranks=ranks)


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed(text: str) -> None:
    tables = _table([text])
    for call in ("s->>'a'", "s->'$'", "json_type(s)", "json_contains(s, '1')", "s::json", "json_pretty(s)"):
        query = f"select {call} as x from t"
        with pytest.raises(duckdb.Error, match="Malformed"):
            answer(query, tables)
        with pytest.raises(hr.HeadraceError, match=_MALFORMED):
            hr.sql(query, tables)
    both = _table([text, '{"a": 1}'])
    for call in (
        "json_valid(s)",
        "try_cast(s as json)",
        "try(s->>'a')",
        "case when json_valid(s) then s->>'a' end",
    ):
        _check([call], both, 1)


@pytest.mark.parametrize("ranks", [1, 3])
def test_nested_as_deep_as_it_goes(ranks: int) -> None:
    deep = 10_000
    texts = ["[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep, "[" * deep, '{"a":' * deep]
    tables = _table(texts)
    _check(["json_valid(s)"], tables, ranks)
    _check(
        ["s->>'$'", "s->'$.a.a'", "s->'$[0][0]'", "json_type(s)", "json_contains(s, '1')"],
        _table(texts[:2]),
        ranks,
    )
    with pytest.raises(hr.HeadraceError, match="malformed JSON, or a part nested more than 500 deep"):
        hr.sql("select json_contains('1', s) as x from t", tables)
    with pytest.raises(hr.HeadraceError, match="malformed JSON, or a part nested more than 500 deep"):
        hr.sql("select json_merge_patch('{}', s) as x from t", _table(texts[1:2]))


@pytest.mark.parametrize("ranks", [1, 3])
def test_contains_and_merge_patch(ranks: int) -> None:
    for part in (
        "1",
        "null",
        "{}",
        "[]",
        '"x"',
        '{"a": 1}',
        "[2]",
        '{"b": [1]}',
        "2.5",
        '[{"a": 2}]',
        '{"a": {"b": {}}}',
    ):
        _check(
            [f"json_contains(s, {_literal(part)})", f"json_merge_patch(s::json, {_literal(part)})"],
            TABLES,
            ranks,
        )
    calls = ["json_contains(s, s)", "json_merge_patch(s, NULL)", "json_merge_patch(NULL, s)"]
    _check([*calls, 'json_merge_patch(\'{"a": {"x": 1}}\', s, \'{"b": null, "z": [null]}\')'], TABLES, ranks)


OF_VALUES = [
    "i", "d", "x", "f", "b", "w", "day", "m", "l", "o", "p", "s", "j", "[j]", "{'j': j, 'n': NULL}",
    "MAP {i: s}", "map {'a': l}", "row(i, s)",
    "case when id > 1 then x end", "[[1], NULL, []]", "0.5::decimal(2, 2)", "-0.25::decimal(18, 3)",
    "7::decimal(38, 0)", "l::int[2]", "12::utinyint", "2::uhugeint",
    "interval 1 day", "'a'::blob", "NULL", "time '10:00:00'", "timestamptz '2024-01-01 10:00:00+00'",
    "'nan'::double", "'-inf'::float",
]  # fmt: skip
VALUES = """(select id, case id when 0 then NULL else id * 1000000007 end as i, (id / 7)::decimal(9, 3) as d,
    id * 0.1 * 1e9 ** (id - 3) as x, (id * 0.3)::float as f, id > 2 as b,
    id::hugeint * 170141183460469231731687303715 as w, date '2024-02-29' + id::int as day,
    timestamp '2024-02-29 12:00:00.5' + interval (id) hour as m, [id, NULL] as l,
    {'a': id, 'x"y': ['q', NULL]} as o, {'a': {'b': id}} as p,
    'text "' || chr(id::int) || '\\é' || id as s, ('{"a" :' || id || ' }')::json as j
    from range(1, 8) t(id)) t"""


@pytest.mark.parametrize("ranks", [1, 3])
def test_to_json(ranks: int) -> None:
    calls = [f"to_json({value})" for value in OF_VALUES]
    calls += [
        "json_quote(s)",
        "json_array()",
        "json_object()",
        "json_array(i, s, NULL, [x])",
        "array_to_json(l)",
        "row_to_json(o)",
    ]
    calls += [
        "json_object('a', i, s, j, 'n', NULL)",
        "i::json",
        "l::json",
        "o::json",
        "x::json",
        "[i]::json::varchar",
    ]
    _check(calls, {}, ranks, VALUES)


CASTS = [
    "BOOLEAN", "TINYINT", "INTEGER", "UBIGINT", "HUGEINT", "UHUGEINT", "DOUBLE", "FLOAT", "DECIMAL(9, 2)",
    "VARCHAR", "DATE", "TIMESTAMP",
    "INTERVAL", "INTEGER[]", "VARCHAR[]", "JSON[]", "INTEGER[2]", "STRUCT(a INTEGER)",
    "STRUCT(a VARCHAR, b JSON)", "STRUCT(a STRUCT(b JSON))",
    "MAP(VARCHAR, INTEGER)", "MAP(VARCHAR, JSON)", "STRUCT(a INTEGER)[]",
]  # fmt: skip
SCALARS = [
    "1", "-1", "2.5", "3.5", "-2.5", "1e3", "300", "99999999999999999999", "1e30", "true", "false", "null",
    '"12"', '"x"', '"true"', '"2024-02-29"',
    '"2024-02-29 12:00:00"', '"1 day"', "0", "0.5", "2.675", "[1]", "[1, 2]", '[1, "2", null]', '{"a": 1}',
    '{"a": 1, "b": [1, {"c": 2.50}]}', "{}",
    '{"a": {"b": {"c": 1}}}', '{"a": null}', '{"a": "x"}', '[{"a": 1}, {"a": "7"}]', "1e400", '"2.5"',
    '"1e3"', '{"1": 2}', '{"a": 1, "a": 2}',
]  # fmt: skip


@pytest.mark.parametrize("ranks", [1, 3])
def test_casts_from_json(ranks: int) -> None:
    for kind in CASTS:
        tables = _table([None, *SCALARS])
        _check([f"try_cast(s::json as {kind})"], tables, ranks)
    for kind in CASTS[: len(CASTS) if ranks == 1 else 0]:
        for text in SCALARS:
            query = f"select s::json::{kind} as x from t"
            try:
                expected = answer(query, _table([text]))
            except duckdb.Error:
                with pytest.raises(hr.HeadraceError):
                    hr.sql(query, _table([text]))
            else:
                same(hr.sql(query, _table([text])), expected)


def test_what_cannot_be_cast() -> None:
    for text, kind, message in (
        ("[1]", "int", "a JSON value that cannot be cast"),
        ("1", "int[]", "a JSON value that cannot be cast to a list"),
        ("1", "map(varchar, int)", "a JSON value that cannot be cast to a map"),
        (
            '{"b": 1}',
            "struct(a int)",
            "a JSON value that cannot be cast to a struct: it is no object with its keys",
        ),
    ):
        with pytest.raises(hr.HeadraceError, match=message):
            hr.sql(f"select s::json::{kind} as x from t", _table([text]))
    with pytest.raises(
        hr.HeadraceError, match="unsupported cast to or from JSON inside of a list, struct or map"
    ):
        hr.sql("select [s]::json[] as x from t", _table(["1"]))


@pytest.mark.parametrize("ranks", [1, 3])
def test_transforms(ranks: int) -> None:
    tables = _table([None, '{"a": 1, "b": "x", "d": 2}', '{"a": "y", "b": [1, 2]}', "[1]", "{}", "null"])
    shapes = [
        '{"a": "INTEGER", "b": "VARCHAR"}',
        '{"a": "JSON", "b": ["INTEGER"]}',
        '["DOUBLE"]',
        '"VARCHAR"',
        '{"a": "NULL", "b": ["NULL"]}',
    ]
    _check(
        [f"{name}(s, '{shape}')" for name in ("json_transform", "from_json") for shape in shapes],
        tables,
        ranks,
    )
    strict = 'json_transform_strict(s, \'{"a": "INTEGER"}\')'
    _check([strict], _table([None, '{"a": 1, "d": 2}', "null"]), ranks)
    with pytest.raises(hr.HeadraceError, match="it is no object with its keys"):
        hr.sql(f"select {strict} as x from t", _table(["{}"]))


@pytest.mark.parametrize("ranks", [1, 3])
def test_groups(ranks: int) -> None:
    table = {"t": pa.table({"id": range(12), "g": [0, 1, 2] * 4, "s": [None, "a", 'b"', "ü"] * 3})}
    for call in (
        "json_group_array(id)",
        "json_group_array(s)",
        "json_group_object(id::varchar, s)",
        "json_group_array({'a': s})",
    ):
        inner = "(select * from t order by id)"
        counts = f"json_array_length({call}) as n, json_type({call}) as k"
        text = f"select g, {counts} from {inner} group by g order by g"
        same(hr.sql(text, table, ranks=ranks), answer(text, table), ordered=True)
    text = "select json_group_array(s) as a, json_group_object('k', id) as o from t where id = 5"
    same(hr.sql(text, table, ranks=ranks), answer(text, table), ordered=True)


@pytest.mark.parametrize("ranks", [1, 3])
def test_as_keys_conditions_and_values(ranks: int) -> None:
    rows = [f'{{"k": {i % 5}, "v": "x{i % 3}", "f": {i}.5}}' for i in range(200)]
    tables = _table(rows)
    for text in (
        "select s->>'k' as k, count(*) as n, sum((s->'$.f')::double) as f from t group by all order by k",
        "select id from t where s->>'v' = 'x1' and (s->>'$.k')::int > 2 order by id",
        "select j.k as k, count(*) as n from (select s::json as j from t) group by all order by k",
        "select j['v'] as v, j.k::int as k, j from (select s::json as j from t) where j.v = '\"x2\"'"
        " order by all",
        "select distinct j, typeof(j) as t, j || '!' as x, j = '{}' as e"
        " from (select json_extract(s, 'v') as j from t) order by all",
        "select a.id, b.id as o from t a join t b on a.s->>'f' = b.s->>'f' where (a.s->'k') = '3'"
        " order by all",
        "select coalesce(s->'x', s) as c, greatest(s->'k', s->'v') as g from t order by all",
    ):
        same(hr.sql(text, tables, ranks=ranks), answer(text, tables), ordered=True)


@pytest.mark.parametrize("ranks", [1, 3])
def test_columns_that_are_json(ranks: int, tmp_path: Path) -> None:
    """Of Arrow's own type, or of Parquet's, as DuckDB and Arrow write it; as texts they come back."""
    texts = ['{"a": [1, {"b": "x"}]}', None, "[1.50]", "null"] * 50
    table = pa.table({"id": range(200), "j": pa.array(texts, pa.json_())})
    parquet.write_table(table, tmp_path / "arrow.parquet")
    with duckdb.connect() as connection:
        plain = table.set_column(1, "j", table["j"].cast(pa.string()))  # noqa: F841, DuckDB's name
        connection.sql(f"copy (select id, j::json as j from plain) to '{tmp_path}/duckdb.parquet'")
    query = "select id, j, typeof(j) as t, j.a[1].b as b, j->>'a' as a, to_json(j) as o from {} order by id"
    expected = answer(query.format("t"), {"t": table})
    for given in (table, str(tmp_path / "arrow.parquet"), str(tmp_path / "duckdb.parquet")):
        same(hr.sql(query.format("t"), {"t": given}, ranks=ranks), expected, ordered=True)
    frame = hr.scan_parquet(tmp_path / "duckdb.parquet").collect()
    assert frame.schema.field("j").type == pa.string() and frame["j"].to_pylist() == texts


def test_random_documents() -> None:
    seed = int(os.environ.get("HEADRACE_SEED", "7"))
    print(f"HEADRACE_SEED={seed}")
    made = Documents(seed)
    count = int(os.environ.get("HEADRACE_RANDOM_JSON", "2000"))
    documents = [made.document() for _ in range(count)]
    parts = [made.value(1) for _ in range(count)]
    table = pa.table(
        {"id": range(count), "s": documents, "p": [made.path() for _ in range(count)], "q": parts}
    )
    names = (*_FOUND, *_ASKED)
    calls = [f"case when json_valid(s) then {name}(s, p) end" for name in names]
    calls += [
        "case when json_valid(s) then json_contains(s, q) end",
        "json_valid(s)",
        "json_merge_patch(q, '{\"a\": null}')",
    ]
    calls += [f"case when json_valid(s) then json_extract(s, '{path}') end" for path in WILDCARDS]
    calls += ["case when json_valid(s) then json_pretty(s) end"]
    _check(calls, {"t": table}, 2)
