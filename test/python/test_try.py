"""TRY beside DuckDB: each kind of error in data, of columns and constants, anywhere in a query."""

from __future__ import annotations

import datetime
import os
import random
from decimal import Decimal
from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import same

_ROWS = 400
_TEXTS = ["", "0", "7", "-3", " 12 ", "x", "1e3", "99999999999", "2024-02-30", "2024-02-29", "true", "é"]
_DAY = datetime.date(2024, 2, 29)
_MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 45, 123456)


def _tables() -> dict[str, pa.Table]:
    rng = random.Random(5)

    def column(kind: pa.DataType, values: list[object]) -> pa.Array:
        return pa.array([rng.choice([*values, None]) for _ in range(_ROWS)], kind)

    def lists(kind: pa.DataType, values: list[object]) -> pa.Array:
        made = [[rng.choice([*values, None]) for _ in range(rng.randrange(4))] for _ in range(_ROWS)]
        return pa.array([None if rng.random() < 0.1 else value for value in made], pa.list_(kind))

    columns = {
        "k": pa.array(range(_ROWS), pa.int32()),
        "h": column(pa.int8(), [0, 1, -128, 127]),
        "i": column(pa.int32(), [0, 1, -1, 3, 100, 2**31 - 1, -(2**31)]),
        "j": column(pa.int32(), [0, 1, -1, 2, 7]),
        "l": column(pa.int64(), [0, 5, 2**63 - 1, -(2**63)]),
        "u": column(pa.uint64(), [0, 5, 2**64 - 1]),
        "d": column(pa.decimal128(9, 2), [Decimal("0.00"), Decimal("1.25"), Decimal("9999999.99")]),
        "w": column(
            pa.decimal128(38, 2),
            [Decimal("0.05"), Decimal("9" * 36 + ".25"), Decimal("-" + "9" * 36 + ".25")],
        ),
        "x": column(pa.float64(), [0.0, -2.5, 1e300, 255.5]),
        "s": column(pa.string(), _TEXTS),
        "day": column(pa.date32(), [_DAY, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
        "m": column(pa.timestamp("us"), [_MOMENT]),
        "il": lists(pa.int32(), [0, 1, 5, 2**31 - 1]),
        "sl": lists(pa.string(), _TEXTS),
        "st": column(
            pa.struct({"a": pa.string(), "b": pa.int32()}), [{"a": "1", "b": 2}, {"a": "q", "b": 0}]
        ),
        "mp": column(pa.map_(pa.string(), pa.int32()), [[("a", 1), ("b", 0)], [("a", 6), ("b", 2)], []]),
    }
    return {"t": pa.table(columns)}


_TABLES = _tables()


def _answer(query: str) -> pa.Table:
    """DuckDB's, which would compute what expressions share where no TRY is, and rewrite what overflows."""
    with duckdb.connect() as connection:
        connection.execute("set disabled_optimizers = 'common_subexpressions,expression_rewriter'")
        connection.register("t", _TABLES["t"])
        return connection.sql(query).to_arrow_table()


def _check(query: str, **options: object) -> None:
    same(hr.sql(query, dict(_TABLES), **options), _answer(query))  # type: ignore[arg-type]


#: Each fails for some rows, and is not NULL for others.
_FAILING = [
    "i // j",
    "k % j",
    "h + h",
    "h * 2::tinyint",
    "i + i",
    "i - 2147483647",
    "i * i",
    "-h",
    "abs(h)",
    "l + l",
    "l // -1",
    "u + 18446744073709551611",
    "u - 1",
    "l::hugeint * l * l",
    "(d * 10)::decimal(9, 2)",
    "(d + 9000000)::decimal(9, 2)",
    "w + w",
    "w * 10",
    "s::int",
    "s::bigint + i",
    "s::double",
    "s::decimal(5, 1)",
    "s::boolean",
    "s::date",
    "s::timestamp",
    "s::hugeint",
    "s::uhugeint",
    "lpad(s, 32, '0')::uuid::varchar",
    "s::blob::varchar",
    "i::tinyint",
    "l::int",
    "x::int",
    "x::tinyint::varchar",
    "d::decimal(4, 2)",
    "(day + i)::varchar",
    "(m + to_days(i))::varchar",
    "make_date(i, 2, 3)::varchar",
    "strptime(s, '%Y-%m-%d')",
    "chr(i)",
    "repeat('x', j) || chr(-j)",
    "s::int + j // j",
    "[i, j][1] // j",
    "il::tinyint[]",
    "sl::int[]",
    "list_transform(il, lambda x: x + 1)",
    "list_transform(sl, lambda x: x::int + j)",
    "list_filter(sl, lambda x: x::double > j)",
    "list_reduce(il, lambda a, x: a + x, 0)",
    "list_sum(il)::int",
    "il[1] // il[2]",
    "st::struct(a int, b tinyint)",
    "st.a::int // st.b",
    "mp['a'] // mp['b']",
    "case when j > 0 then s::int else j // (j + 1) end",
    "coalesce(s::int, i // j)",
    "s::int > 0 and j > 0",
    "s::int in (1, 7, j)",
    "s::int between j and 10",
    "nullif(s::int, 7)",
    "greatest(s::int, j)",
    "format('{:d}', s::int)",
    "s::interval::varchar",
    "sqrt(s::double)",
    "round(s::decimal(9, 3), 1)",
    "s::int is null",
    "date_trunc('month', s::date)",
    "epoch(s::timestamp)",
]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("start", range(0, len(_FAILING), 8))
def test_errors_become_null(start: int, ranks: int) -> None:
    some = _FAILING[start : start + 8]
    columns = ", ".join(f"try({each}) as c{number}" for number, each in enumerate(some))
    _check(f"select k, {columns} from t", ranks=ranks)


@pytest.mark.parametrize("expression", _FAILING)
def test_each_fails_without_it(expression: str) -> None:
    with pytest.raises(hr.errors.DataError):
        hr.sql(f"select {expression} as a from t", _TABLES)
    found = hr.sql(f"select try({expression}) as a from t", _TABLES).column("a")
    assert 0 < found.null_count < _ROWS


@pytest.mark.parametrize(
    "query",
    [
        "select try(1 // 0) as a, try(2147483647 + 1) as b, try('x'::int) as c, try(7) as d, try(null) as e,"
        " try('2024-02-30'::date) as f, try(chr(-1)) as g, try(['1', 'x']::int[]) as h,"
        " try({'a': 'x'}::struct(a int)) as i, try(200::tinyint) as j, try(try('x'::int) + 1) as k,"
        " coalesce(try('x'::int), 3) as l, try(list_transform([1, 0], lambda x: 1 // x)) as m",
        "select k, try(i) as a, try(s) as b, try(il) as c, try(st) as d, try(k // 7) as e, try(null) as"
        " f from t",
        "select k, try(s::int + try(i // j)) as a, coalesce(try(s::int), try(i // j), k) as b,"
        " try(coalesce(try(s::int), i // j)) as c, try(try(try(s::int) // j) + 2147483640) as d from t",
        "select k, try(s::int) is null as a, try(s::int) in (1, 7) as b, not try(s::boolean) as c,"
        " try(s::int) is distinct from i as d, case when try(s::int) > 0 then try(s::date) end as e from t",
        "select k from t where try(s::int) > j",
        "select k from t where try(s::int) is null and try(i // j) is not null or try(s::boolean)",
        "select k, try(s::int) as a from t where s in ('7', '-3') and 100 // s::int > 0"
        " or try(100 // s::int) is null",
        "select try(s::int) as a, count(*) as n, sum(try(i // j)) as q, max(try(day + h)::varchar) as m,"
        " list(try(i::tinyint) order by k) as l from t group by try(s::int)",
        "select j, count(try(s::int)) as n, count(distinct try(s::double)) as d, sum(k) filter (where"
        " try(s::int) > 0) as f from t group by j having sum(try(s::int)) > 1",
        "select a.k, b.k as other from t a join t b on try(a.s::int) = b.j and a.k < 60 and b.k < 60",
        "select a.k, b.k as other from t a left join t b on try(a.s::int) = try(b.s::int) and"
        " try(a.i // b.j) > 0 and a.k < 60 and b.k < 60",
        "select k from t where try(s::int) in (select j from t where try(i // j) > 1)",
        "select k, (select count(*) from t b where try(b.s::int) = t.j) as n from t",
        "select k, sum(try(s::int)) over (partition by j order by k) as a, row_number() over (order by"
        " try(i // j) desc nulls last, k) as b, lag(try(s::date)) over (order by k) as c from t",
        "select k, list_transform(sl, lambda x: try(x::int)) as a, list_filter(sl, lambda x: try(x::int) > 0)"
        " as b, list_transform(il, lambda x, p: try(x // (p - 2) + j)) as c from t",
        "select k, list_reduce(sl, lambda a, x: a || coalesce(try(x::int), j), '') as a, [try(x::int)"
        " for x in"
        " sl if try(x::date) is null] as b, list_transform([il], lambda l: try(list_transform(l, lambda x:"
        " x + 1 + j))) as c from t",
        "select k, invoke(lambda x, y: try(x::int // y), s, j) as a, try(invoke(lambda x: x::int + j,"
        " s)) as b"
        " from t",
        "select k, try(s::int) as a from t order by try(i // j) desc nulls last, try(s::date), k limit 50",
        "select k, unnest([try(s::int), try(i // j)]) as a from t",
        "select distinct try(s::int) as a, try(i // j) as b from t",
        "with v as (select k, j, try(s::int) as a from t) select k, try(a // j) as b, a + 1 as c from v",
        "select k, try(s::int) as a from t union all select j, try(i // j) from t",
        "create macro safe(x, y) as try(x // y); select k, safe(i, j) as a, safe(k, k - 3) as b from t",
        "select k, try(i + interval 1 day)::varchar as a from (select k, day as i from t)",
        "select k, case when j <> 0 then try(i // j) else try(s::int) end as a, try(case when j <> 0"
        " then i //"
        " j else j end) as b from t",
        "select k, (try(s::interval) + interval 1 day)::varchar as a, try(m + to_days(h // j)) as b, m"
        " + try(s::interval) as c,"
        " try(interval 1 day * i) > interval 3 days as d from t",
        "select k, try(u::bigint) as a, try(w::hugeint) as b, try(x::float) as c, try(x / 0) as d,"
        " try(ln(x)) as e, try(u::uhugeint * u * u) as f from t",
        "select k, concat(try(s::int), '-', try(s::date)) as a, try(s::int)::varchar as b, try(s)[1:2] as c,"
        " [try(s::int), j] as d, {'a': try(s::int), 'b': try(i // j)} as e, try(mp['a'] // j) as f from t",
    ],
)
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (2, 2), (3, 1)])
def test_in_queries(query: str, ranks: int, threads: int) -> None:
    _check(query, ranks=ranks, threads=threads)


def test_parquet(tmp_path: Path) -> None:
    parquet.write_table(_TABLES["t"], tmp_path / "t.parquet", row_group_size=70)
    query = "select k, try(s::int // j) as a from t where try(i // j) > 0 or try(s::date) is not null"
    same(hr.sql(query, {"t": tmp_path / "t.parquet"}, ranks=2), _answer(query))


def test_what_it_does_not_catch() -> None:
    for query in (
        "select try(a) as b from (select s::int as a from t)",
        "select try(s::int) + s::int as a from t",
        "select try(j) // j as a from t",
    ):
        with pytest.raises(hr.errors.DataError):
            hr.sql(query, _TABLES)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("(select 1)", "TRY can not be used in combination with a scalar subquery"),
        ("random()", "TRY can not be used in combination with a volatile function"),
        ("sum(i)", "aggregates are not allowed inside the TRY expression"),
        ("sum(i) over ()", "window functions are not allowed in try"),
    ],
)
def test_refused(expression: str, message: str) -> None:
    with pytest.raises(hr.errors.SqlError, match=message):
        hr.sql(f"select try({expression}) from t", _TABLES)


def test_what_decides_a_row_hides_an_error() -> None:
    """DuckDB makes NULL of it, as docs/semantics.md says."""
    found = hr.sql("select try(j = 0 or i // j > 3) as a from t where j = 0", _TABLES)
    assert set(found.column("a").to_pylist()) == {True}


def test_errors_beside_null() -> None:
    """DuckDB does not ask for what stands beside NULL, as docs/semantics.md says."""
    found = hr.sql("select try(coalesce(try(s::int) + s::int, 5)) as a from t where s = 'x'", _TABLES)
    assert set(found.column("a").to_pylist()) == {None}


_NUMBERS = ["i", "j", "k", "s::int", "i // j", "(i + j)", "list_sum(il)::int", "(h + h)::int", "7"]


def _random(rng: random.Random, depth: int) -> str:
    """Never NULL: beside an operand that is, DuckDB may not ask for others, which fail."""
    if depth == 0:
        return rng.choice(_NUMBERS)
    a, b, c = (_random(rng, depth - 1) for _ in range(3))
    return rng.choice(
        [
            f"coalesce(try({a}), {b})",
            f"coalesce(try({a} * {b}), try({c}), 3)",
            f"({a} // {b})",
            f"({a} - {b})",
            f"({a} % (abs({b}) + 2))",
            f"abs({a})",
            f"case when coalesce(try({a} > {b}), {b} > {c}) then {b} else {c} end",
            f"case when {a} > {b} then {b} else coalesce(try({c}), j) end",
            f"coalesce(try(list_transform([{a}, 3], lambda x: x // {b})[2]), 5)",
        ]
    )


@pytest.mark.parametrize("seed", range(int(os.environ.get("HEADRACE_RANDOM_TRIES", "12"))))
def test_random(seed: int) -> None:
    rng = random.Random(seed)
    columns = [f"try({_random(rng, rng.randrange(1, 4))}) as c{n}" for n in range(4)]
    _check(
        f"select k, {', '.join(columns)} from t where i is not null and j is not null and h is not null"
        " and s is not null and list_sum(il) is not null",
        ranks=rng.choice([1, 2, 3]),
        threads=rng.choice([1, 2]),
    )
