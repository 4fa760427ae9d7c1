"""Casts of texts to lists, arrays, maps and structs beside DuckDB: as it prints them, as people write them,
and as nobody does.

Sources: passes/import/duckdb/nested_casts.cpp
"""

from __future__ import annotations

import datetime
import os
import random
from decimal import Decimal

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check

#: A type, texts of it, and texts that are none, which try_cast makes NULL in whole or in part.
_TEXTS: dict[str, tuple[list[str], list[str]]] = {
    "int[]": (
        ["[1, 2, NULL]", "[]", "[ ]", " [1,2]\n", "[null]", "['1', \"2\"]", "[ 1.6 , 1e3, +5 ]"],
        [
            "",
            "1",
            "NULL",
            "[1",
            "[1,2]]",
            "[1,2,]",
            "[,]",
            "[1,,2]",
            "[1 2]",
            "[x, 1]",
            "[3000000000]",
            "(1, 2)",
        ],
    ),
    "varchar[]": (
        [
            "[a b, c\"d\"e, 'x, y']",
            "[null, Null, \"null\", 'null', nulls]",
            r"""["a\"b", 'it\'s', a\"b, a\,b, \\, \n, "\n", '\\']""",
            "[a\"\"b, 'a''b', '', , ]",
            "[(a, b), {c, 'd}'}, [e], f)]",
            "[[']'] 'a', {b: \"[\"} 'x', '[1, 2]']",
            r"""[['a\']'] "c", [\"] "d" e]""",
            "[é, 'ß', \x0b\x0c tab\ttab ]",
        ],
        ['["abc]', "['abc]", '[a"b]', "[(a]", "{a}", "[a", "a, b", "[a] b"],
    ),
    "int[][]": (
        ["[[1,2],[3]]", "[[], NULL, [NULL]]", "['[1, 2]', \"[3]\"]", "[ [ 1 ] , [2 ] ]"],
        ["[[1,2],[3]", "[1]", "[[1],2]", "[[1],x]", "[[1,x]]", "[[1}]", "[[1],]"],
    ),
    "struct(a int, b varchar)": (
        [
            "{a: 1, b: x}",
            "{'b': x, \"a\": 1}",
            " { a : 1 , b : x y } ",
            "{a: 1}",
            "{}",
            "{a: null, b: NULL}",
            "{a: 1, a: 2, b: 'null'}",
            "{a: 1, b: {x, y}}",
            "{b: x:y}",
            "(1, x)",
            "(1)",
            "(1, )",
            "()",
            "(NULL, 'a, b')",
        ],
        [
            "{A: 1}",
            "{a: 1, c: 3}",
            "{a: x, b: y}",
            "{a: 1,}",
            "{a}",
            "{a = 1}",
            "{: 1}",
            "{a: 1",
            "(1, 2, 3)",
            "{",
            "(",
        ],
    ),
    'struct("a b" int[], "it\'s" struct(x date, y map(varchar, int)))': (
        [
            "{a b: [1, 2], 'it\\'s': {x: 2024-02-29, y: {k=1}}}",
            "{'a b': [], it\\'s: (2024-02-29, {})}",
            '{"it\'s": {\'y\': {a=1, "b=c"=NULL}}}',
        ],
        [
            "{a b: [x], it\\'s: {x: 2024-02-30}}",
            "{it\\'s: {y: {a=x}}}",
            "{it\\'s: {z: 1}}",
            "{it's: {}}",
            "[]",
        ],
    ),
    "map(varchar, int)": (
        [
            "{k=1, l = 2}",
            "{}",
            " { } ",
            "{'a=b'=1, \"c, d\"= 2 }",
            "{k=NULL}",
            "{=1}",
            "{(a=b)=1, [c=]=2, 'null'=3}",
        ],
        ["{null=1}", "{k=x}", "{k: 1}", "{k=1,}", "{k}", "{k=1", "{k=1}}", "[k=1]", "{k=1, k=2}", "{k=}", ""],
    ),
    "map(int, varchar[])": (
        ["{1=[a, b], 2 = []}", "{3=NULL, '4'=[NULL]}", "{1='[a, b]'}"],
        ["{x=[a]}", "{1=[a], 01=[b]}", "{1=a}", "{1=[a}", "{x=[a], y=b}"],
    ),
    "struct(k varchar, v decimal(4, 1))[]": (
        ["[{k: a, v: 1.25}, NULL, {k: ']'}]", "[(a, 2), {}]", "[]"],
        ["[{k: a, v: x}]", "[{w: 1}, {k: b}]", "[a]", "[{k: a}"],
    ),
    "date[]": (["[2024-02-29, NULL, '1-1-1']"], ["[2024-02-30]", "[1]"]),
    "timestamp[]": (["[2024-02-29 12:30:00, '2024-02-29 12:30:00.5']"], ["[noon]"]),
    "boolean[]": (["[true, false, t, F, 1, 0]"], ["[truth, true]"]),
    "double[]": (["[1.5, inf, nan, 1e300]"], ["[1.5.2]"]),
    "float[]": (["[1.5, 1e39, -1e39]"], ["[1,5.]x"]),
    "interval[]": (["[1 day, '2 months 3 days', NULL]"], ["[1 moon]"]),
    "blob[]": ([r"[ab, '\\x41', \x42]"], ["[é]"]),
    "uhugeint[]": (["[1, 170141183460469231731687303715884105727]"], ["[-1]"]),
    "uuid[]": (["[a0eebc999c0b4ef8bb6d6bb9bd380a11, '{a0eebc999c0b4ef8bb6d6bb9bd380a12}']"], ["[a0ee]"]),
    "int[2]": (["[1, 2]", "[NULL, '3']"], ["[1]", "[1, 2, 3]", "[1, x]", "1, 2", "[x, 1, 2]"]),
    "int[2][]": (["[[1, 2], NULL, [3, 4]]"], ["[[1, 2], [3]]", "[[1, x]]"]),
    "varchar[][2]": (["[[a], []]"], ["[[a]]", "[[a], b]"]),
}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.parametrize("kind", _TEXTS)
@pytest.mark.parametrize("ranks", [1, 3])
def test_columns(kind: str, ranks: int) -> None:
    good, bad = _TEXTS[kind]
    table = pa.table({"k": range(len(good) + 1), "s": pa.array([*good, None], pa.string())})
    check(f"select k, s::{kind} as a, try_cast(s as {kind}) as b from t", {"t": table}, ranks=ranks)
    texts = [*good, *bad, None] * 3
    table = pa.table({"k": range(len(texts)), "s": pa.array(texts, pa.string())})
    check(f"select k, try_cast(s as {kind}) as a from t", {"t": table}, ranks=ranks)


@pytest.mark.parametrize("kind", _TEXTS)
def test_constants(kind: str) -> None:
    good, bad = _TEXTS[kind]
    columns = [f"cast({_quoted(text)} as {kind}) as g{n}" for n, text in enumerate(good)]
    columns += [f"try_cast({_quoted(text)} as {kind}) as b{n}" for n, text in enumerate(bad)]
    check(f"select {', '.join(columns)}", {})


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in _TEXTS for text in _TEXTS[kind][1]])
def test_errors(kind: str, text: str) -> None:
    table = pa.table({"s": [text]})
    for query in (f"select s::{kind} as a from t", f"select {_quoted(text)}::{kind} as a from t"):
        with pytest.raises(hr.errors.DataError):
            hr.sql(query, {"t": table})
        with pytest.raises(Exception):  # noqa: B017
            answer(query, {"t": table})
    assert hr.sql(f"select try(s::{kind}) as a from t", {"t": table}).column("a").to_pylist() == [None]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("s::int[]", "a text that is no list"),
        ("s::map(int, int)", "a text that is no map"),
        ("s::struct(a int)", "a text that is no struct of these fields"),
        ("'{b: 1}'::struct(a int)", "a text that is no struct of these fields"),
        ("'[1]'::int[2]", "a list cannot be cast to an array of another length"),
        ("'{1=1, 01=2}'::map(int, int)", "keys of a map must be unique and not NULL"),
    ],
)
def test_messages(expression: str, message: str) -> None:
    with pytest.raises(hr.errors.DataError, match=message):
        hr.sql(f"select {expression} from t", {"t": pa.table({"s": ["x"]})})


def test_in_queries() -> None:
    texts = ["[1, 2]", "[2]", "[1,2]", "x", "[]", None, "[NULL, 1]"] * 5
    table = pa.table({"k": range(len(texts)), "s": pa.array(texts, pa.string())})
    for query in (
        "select try_cast(s as int[]) as l, count(*) as n from t group by l",
        "select k, list_sum(try(s::int[])) as n from t where len(try_cast(s as int[])) > 1",
        "select a.k, b.k as other from t a join t b on try_cast(a.s as int[]) = try_cast(b.s as bigint[])",
        "select k, unnest(try_cast(s as int[])) as e from t",
        "select k, list_transform([s, '[5]'], lambda x: try_cast(x as int[])[1] + k) as a from t",
        "select k, [s, '[7, 8]']::varchar[][] as a from t where s like '[%'",
        "select k, {'a': s}::struct(a int[]) as a, map([k], [s])::map(int, tinyint[]) as b from t where"
        " s like '[%'",
        "select k, case when s like '[%' then s::int[] else [k] end as a from t",
        "select k, invoke(lambda x: try_cast(x as struct(a int)), '{a: ' || k || '}').a as a from t",
        "select max(try_cast(s as int[])) as a, min(try_cast('{a: ' || s || '}' as struct(a int[]))) as"
        " b from t",
    ):
        check(query, {"t": table}, ranks=2)


_SCALARS: dict[str, tuple[pa.DataType, list[object]]] = {
    "int": (pa.int32(), [0, -7, 2**31 - 1]),
    "bigint": (pa.int64(), [2**63 - 1, -1]),
    "decimal(9,2)": (pa.decimal128(9, 2), [Decimal("1.25"), Decimal("-9999999.99")]),
    "double": (pa.float64(), [1.5, -1e300, 0.1]),
    "boolean": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [datetime.date(2024, 2, 29), datetime.date(1, 1, 1)]),
    "timestamp": (pa.timestamp("us"), [datetime.datetime(2024, 2, 29, 12, 30, 45, 120000)]),
    "varchar": (pa.string(), []),
}


def _random_text(rng: random.Random, most: int = 6) -> str:
    return "".join(rng.choice("ab ,=:[]{}()'\"\\NULLé\n") for _ in range(rng.randrange(most)))


def _random_type(rng: random.Random, depth: int) -> tuple[str, pa.DataType]:
    kind = rng.choice(["list", "struct", "map"]) if depth > 0 else "scalar"
    if kind == "scalar":
        name = rng.choice(list(_SCALARS))
        return name, _SCALARS[name][0]
    text, inner = _random_type(rng, rng.randrange(depth))
    if kind == "list":
        return f"{text}[]", pa.list_(inner)
    other, value = _random_type(rng, rng.randrange(depth))
    if kind == "map":
        key = rng.choice(["int", "varchar", "date"])
        return f"map({key}, {other})", pa.map_(_SCALARS[key][0], value)
    return f'struct(a {text}, "b: \'c" {other})', pa.struct({"a": inner, "b: 'c": value})


def _random_value(rng: random.Random, kind: pa.DataType) -> object:
    if rng.random() < 0.15:
        return None
    if pa.types.is_map(kind):
        keys: dict[object, None] = {}
        for _ in range(rng.randrange(3)):
            key = _random_value(rng, kind.key_type)
            keys.update({} if key is None else {key: None})
        return [(key, _random_value(rng, kind.item_type)) for key in keys]
    if pa.types.is_list(kind):
        return [_random_value(rng, kind.value_type) for _ in range(rng.randrange(4))]
    if pa.types.is_struct(kind):
        return {field.name: _random_value(rng, field.type) for field in kind}
    if pa.types.is_string(kind):
        return _random_text(rng)
    return rng.choice(next(values for type_, values in _SCALARS.values() if type_ == kind))


_SEEDS = range(int(os.environ.get("HEADRACE_RANDOM_TEXT_CASTS", "15")))


@pytest.mark.parametrize("seed", _SEEDS)
def test_random_values(seed: int) -> None:
    """What is printed, by either, is read."""
    rng = random.Random(seed)
    name, kind = _random_type(rng, rng.randrange(1, 4))
    table = pa.table({"k": range(60), "v": pa.array([_random_value(rng, kind) for _ in range(60)], kind)})
    printed = answer("select k, v::varchar as s from t", {"t": table})
    ranks = rng.choice([1, 2, 3])
    check(f"select k, s::{name} as a, try_cast(s as {name}) as b from t", {"t": printed}, ranks=ranks)
    check(f"select k, v::varchar::{name} as a from t", {"t": table}, ranks=ranks)
    for row in rng.sample(range(60), 3):
        text = printed.column("s")[row].as_py()
        if text is not None:
            check(f"select cast({_quoted(text)} as {name}) as a", {})


@pytest.mark.parametrize("seed", _SEEDS)
def test_random_texts(seed: int) -> None:
    """Texts that nobody prints."""
    rng = random.Random(seed)
    texts: dict[str, list[str]] = {"l": [], "m": [], "r": []}
    for _ in range(300):
        texts["l"].append(f"[{_random_text(rng, 12)}]")
        texts["m"].append("{" + rng.choice(["", "a="]) + _random_text(rng, 12) + "}")
        texts["r"].append(
            rng.choice(["{a:%s}", "{'b ':%s}", "{%s}", "(%s)", "(%s, %s)"]).replace(
                "%s", _random_text(rng, 9)
            )
        )
    check(
        "select k, try_cast(l as varchar[]) as a, try_cast(m as map(varchar, varchar)) as b,"
        ' try_cast(r as struct(a varchar, "b " varchar)) as c, try_cast(l as varchar[][]) as d from t',
        {"t": pa.table({"k": range(300), **texts})},
        ranks=rng.choice([1, 2]),
    )


def test_floats_as_texts() -> None:
    """Some lie in the middle of the shortest texts that mean them, or of floats."""
    draw = random.Random(int(os.environ.get("HEADRACE_SEED", "7")))
    values = [draw.uniform(-1e7, 1e7) for _ in range(4000)]
    values += [draw.randrange(-(2**24), 2**24) / 32 for _ in range(4000)]
    values += [draw.randrange(1, 2**24) * 2.0 ** draw.randrange(-40, 60) for _ in range(4000)]
    table = {"t": pa.table({"x": pa.array(values, pa.float32())})}
    check("select x, x::varchar as s, [x]::varchar as l, x::double::varchar as d from t", table)
