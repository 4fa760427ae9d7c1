"""json_each, json_tree and json_structure beside DuckDB; on 1 and 3 ranks.

Sources: runtime/base/json_structure.cpp
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, check, same
from json_documents import DOCUMENTS, MALFORMED, Documents

_FUNCTIONS = ("json_each", "json_tree")
_TABLES = {
    "t": pa.table(
        {
            "id": range(len(DOCUMENTS)),
            "s": pa.array(DOCUMENTS, pa.string()),
            "p": [["$", "$.a", "a", "$[0]", None, "$.b[#-1]"][at % 6] for at in range(len(DOCUMENTS))],
        }
    )
}
_DOCUMENT = (
    """'{"a": [1, {"b c": 2.5, "d": [[], {}, "x"]}], "x.y": null, "é": true, "": -7,"""
    """ "q\\"": {"a": "\\u0041"}}'"""
)

QUERIES = [
    *(f"select * from {name}({_DOCUMENT})" for name in _FUNCTIONS),
    *(f"select * from {name}({_DOCUMENT}::json, '$.a[1]')" for name in _FUNCTIONS),
    *(
        f"select * from {name}('{text}')"
        for name in _FUNCTIONS
        for text in ("5", "null", "[]", "{}", ' "text" ', '[1,[2,[3,{"k":4}]],"s"]', '{"a":1,"a":{"a":2}}')
    ),
    *(
        f"select * from {name}({_DOCUMENT}, {path})"
        for name in _FUNCTIONS
        for path in (
            "'$'",
            "'a'",
            "'$.a'",
            "'$.a[#-1].d'",
            "'$.zz'",
            "'$.é'",
            "'x.y'",
            "null",
            "'0'",
            "'$[0]'",
        )
    ),
    *(f"select * from {name}(null)" for name in _FUNCTIONS),
    'select key, value->>\'b c\' as v, typeof(value) as t from json_each(\'[{"b c": 1}, {"b c": "x"}]\')',
    "select type, count(*) as n, max(id) as m, sum(parent) as s from json_tree("
    + _DOCUMENT
    + ") group by type",
    "select count(*) as n from json_tree(" + _DOCUMENT + ") where atom is not null",
    "select k, v, n from json_each('[3, 4]') with ordinality e(k, v, c, d, f, g, h, i, n)",
    # Of each row of a table.
    *(f"select t.id, s, e.* from t, {name}(s) e" for name in _FUNCTIONS),
    *(f"select t.id, e.* from t, {name}(s::json) e" for name in _FUNCTIONS),
    *(f"select t.id, e.* from t left join {name}(s) e on true" for name in _FUNCTIONS),
    *(f"select t.id, e.* from t, {name}(s, p) e" for name in _FUNCTIONS),
    *(f"select t.id, p, e.* from t, {name}(s, '$.a') e where e.type <> 'NULL'" for name in _FUNCTIONS),
    "select t.id, (select count(*) from json_tree(s)) as n, (select max(e.id) from json_each(s) e) as m"
    " from t",
    "select a.key, b.key as inside, b.value from t, json_each(s) a, json_each(a.value) b",
    "select t.id from t where exists (from json_tree(s) e where e.key = 'a' and e.atom = '1')",
    "select distinct e.type from t, json_tree(s) e order by 1",
]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("query", QUERIES)
def test_rows_are_duckdbs(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


def test_rows_come_as_they_stand_in_the_text() -> None:
    query = f"select key, id, fullkey from json_tree({_DOCUMENT})"
    same(hr.sql(query), answer(query, {}), ordered=True)


@pytest.mark.parametrize("ranks", [1, 3])
def test_ordinals_of_columns(ranks: int) -> None:
    """Which DuckDB has of constants alone."""
    numbered = "select t.id, e.fullkey, ordinality as o from t, json_tree(s) with ordinality e"
    wanted = (
        "select t.id, e.fullkey, row_number() over (partition by t.id order by e.id) as o"
        " from t, json_tree(s) e"
    )
    same(hr.sql(numbered, dict(_TABLES), ranks=ranks), answer(wanted, _TABLES))


def test_keys_of_any_letter_in_paths() -> None:
    keys = [
        "",
        "a",
        "_a",
        "a_",
        "1a",
        "a1",
        "Z",
        *(f"a{chr(code)}b" for code in range(1, 128)),
        "é€😀",
        '"\\"',
    ]
    tables = {"t": pa.table({"s": [json.dumps({key: [1]}) for key in keys]})}
    check("select e.key, e.fullkey, e.path from t, json_tree(s) e", tables)


@pytest.mark.parametrize("ranks", [1, 3])
def test_structures(ranks: int) -> None:
    check("select id, json_structure(s) as x, json_structure(s::json) as y from t", _TABLES, ranks=ranks)
    texts = [
        "[1, -1]", "[1, 1.5]", "[-1, 18446744073709551615]", "[-1, 18446744073709551615, 0.5]", "[true, 1]",
        '[1, "a"]', "[null, 1]", "[null, [1], null]", "[[], [1]]", '[[1], ["x"]]', "[[null]]", "[{}, null]",
        '[{"a": 1}, {"b": "x"}]', '[{"a": 1}, {"a": "x"}]', '[{"a": 1}, [1]]', '[{}, {"a": 1}]', "[[], {}]",
        '[{"b": 1, "a": 2}, {"a": 1.5, "c": 3, "b": null}]',
        '[{"a": null}, {"a": {"b": 1}}, {"a": {"c": []}}]',
        '[{"A": 1}, {"a": 2}]', '{"q\\"x": {"é": -5}}', '[-0, "2020-01-01"]', "[1, [], {}, 2]",
    ]  # fmt: skip
    tables = {"t": pa.table({"s": texts})}
    check("select s, json_structure(s) as x from t", tables, ranks=ranks)
    check("select json_group_structure(s::json) as x from t", tables, ranks=ranks)


@pytest.mark.parametrize("seed", range(int(os.environ.get("HEADRACE_RANDOM_JSON", 4))))
def test_random_documents(seed: int) -> None:
    documents = Documents(seed)
    values = [documents.value(5) for _ in range(300)]
    tables = {"t": pa.table({"n": range(300), "s": values, "p": [documents.path() for _ in values]})}
    for name in _FUNCTIONS:
        check(f"select n, e.* from t, {name}(s) e", tables, ranks=1 + seed % 3)
        check(f"select n, e.* from t, {name}(s, p) e where left(p, 1) = '$'", tables, ranks=1 + seed % 3)
    check("select n, json_structure(s) as x from t", tables, ranks=1 + seed % 3)


def test_rows_of_a_file(tmp_path: Path) -> None:
    table = pa.table({"s": [json.dumps({"n": n, "tags": [f"t{n}", n, None]}) for n in range(3000)]})
    parquet.write_table(table, tmp_path / "documents.parquet")
    query = "select count(*) as c, count(atom) as a, max(value) as m, sum(id) as i"
    query += f" from '{tmp_path}/documents.parquet', json_each(s, '$.tags')"
    check(query, {}, ranks=2)


def test_what_is_no_json_or_no_path_is_an_error() -> None:
    for text in MALFORMED:
        for function in _FUNCTIONS:
            with pytest.raises(hr.HeadraceError, match="malformed JSON"):
                hr.sql(f"select * from t, {function}(s)", {"t": pa.table({"s": [text]})})
        with pytest.raises(hr.HeadraceError, match="malformed JSON"):
            hr.sql("select json_structure(s) from t", {"t": pa.table({"s": [text]})})
    for path in ("/a", "", 'a"b', "$.", "$.x[", "$.*", "$..a"):
        with pytest.raises(hr.HeadraceError, match="a path that json_each and json_tree do not take"):
            hr.sql("select * from t, json_each(s, p)", {"t": pa.table({"s": ["[1]"], "p": [path]})})
        with pytest.raises(hr.HeadraceError, match="a path that json_each and json_tree do not take"):
            hr.sql(f"select * from json_tree('[1]', '{path}')")
    with pytest.raises(hr.HeadraceError, match=r"\(at JSON_EACH\(s"):
        hr.sql("select * from t, json_each(s, '$.a')", {"t": pa.table({"s": ["["]})})
    with pytest.raises(hr.HeadraceError, match="unsupported column of json_each"):
        hr.sql("select json, root from json_each('[1]')")


def test_deep_documents() -> None:
    deep = "[" * 3000 + "]" * 3000
    tables = {"t": pa.table({"s": [deep]})}
    found = hr.sql("select count(*) as n, max(length(fullkey)) as l from t, json_tree(s)", tables)
    assert found.to_pylist() == [{"n": 3000, "l": 1 + 3 * 2999}]
    with pytest.raises(hr.HeadraceError, match="nested more than 500 deep"):
        hr.sql("select json_structure(s) from t", tables)
    # More than DuckDB's 128.
    found = hr.sql(
        "select json_structure(s) as x from t", {"t": pa.table({"s": ['{"a":' * 499 + "1" + "}" * 499]})}
    )
    assert found.to_pylist() == [{"x": '{"a":' * 499 + '"UBIGINT"' + "}" * 499}]
