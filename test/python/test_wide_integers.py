"""HUGEINT and UHUGEINT over their whole range, beside DuckDB; the matrix of types has their functions.

Sources: passes/import/duckdb/{bits,unsigned128}.cpp
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same

_RANKS = pytest.mark.parametrize("ranks", [1, 2, 3])
_HUGE = (0, 1, -1, 7, 2**64, 10**38, -(10**38), 2**127 - 1, -(2**127), -(2**126), 2**126 - 1)
_UNSIGNED = (0, 1, 7, 2**64 - 1, 2**64, 10**38, 2**127 - 1, 2**127, 2**127 + 5, 2**128 - 1)
_ROWS = 6 * len(_HUGE)


def _texts(values: tuple[int, ...], step: int) -> list[str | None]:
    """Each of them, and NULL, again and again."""
    some = [*map(str, values), None]
    return [some[row * step % len(some)] for row in range(_ROWS)]


_TEXTS = {
    "s": pa.table(
        {
            "k": pa.array(range(_ROWS), pa.int32()),
            "g": pa.array([None if row % 7 == 6 else row % 4 for row in range(_ROWS)], pa.int32()),
            "h": _texts(_HUGE, 1),
            "j": _texts(_HUGE, 5),
            "u": _texts(_UNSIGNED, 1),
            "v": _texts(_UNSIGNED, 4),
            "bits": pa.array([row % 3 for row in range(_ROWS)], pa.int64()),
        }
    ),
    "none": pa.table({"x": pa.array([], pa.string())}),
}
_CAST = """with t as (select k, g, h::hugeint as h, j::hugeint as j, u::uhugeint as u, v::uhugeint as v, bits
        from s),
    e as (select x::hugeint as h, x::uhugeint as u from none) """


def _check(query: str, ranks: int, *, ordered: bool = False) -> None:
    same(hr.sql(_CAST + query, _TEXTS, ranks=ranks), answer(_CAST + query, _TEXTS), ordered=ordered)


_LITERALS = (
    "170141183460469231731687303715884105727",
    "-170141183460469231731687303715884105728",
    "99999999999999999999999999999999999999",
    "100000000000000000000000000000000000000",
    "typeof(170141183460469231731687303715884105727)",
    "typeof(170141183460469231731687303715884105728)",
    "(170141183460469231731687303715884105728)::varchar",
    "(340282366920938463463374607431768211455)::varchar",
    "typeof(340282366920938463463374607431768211455)",
    "[340282366920938463463374607431768211455, 1::uhugeint]::varchar",
    "85070591730234615865843651857942052863::hugeint * 2",
    "'170141183460469231731687303715884105727.4'::hugeint",
    "'-170141183460469231731687303715884105727.5'::hugeint",
    "try_cast('170141183460469231731687303715884105727.5' as hugeint)",
    "try_cast('-170141183460469231731687303715884105728' as hugeint)",
    "try_cast('-170141183460469231731687303715884105729' as hugeint)",
    "try_cast(170141183460469231731687303715884105727::hugeint as decimal(38, 0))",
    "try_cast('340282366920938463463374607431768211456' as uhugeint)",
    "try_cast('-0.4' as uhugeint), '-0'::uhugeint, (-0.4)::decimal(3, 1)::uhugeint",
    "1.7014118346046921e38::double::hugeint, (-1.7014118346046921e38)::double::hugeint",
    "3.402823669209384e38::double::uhugeint::varchar, try_cast('nan'::double as uhugeint)",
    "try_cast(1e39::double as uhugeint), try_cast(-1::double as uhugeint), try_cast('inf'::float as hugeint)",
    "2.5::double::hugeint, 3.5::double::uhugeint, 2.5::decimal(5, 1)::hugeint, true::uhugeint, true::hugeint",
    "5::hugeint + 1.5, 5::hugeint * 1.5, 1.5 - 5::hugeint, 5::hugeint > 4.5, 5::hugeint % 1.5",
    "factorial(33), 33!",
    "null::hugeint, null::uhugeint, null::hugeint + 1, null::uhugeint & 1",
    "1::hugeint << 126, (1::uhugeint << 127)::varchar, 0::hugeint << 200, 0::uhugeint << 200",
    "(-8)::hugeint >> 1, 8::hugeint >> 200, 8::hugeint >> -1, 8::uhugeint >> 128, (-1)::hugeint >> 127",
    "bit_count((-1)::hugeint), bit_count(7::hugeint << 100), bit_count((-2)::hugeint)",
    "bit_count(18446744073709551615::ubigint), bit_count(0::ubigint), bit_count(null::hugeint)",
    "format('{} {}', -170141183460469231731687303715884105727, 5::uhugeint), printf('%d', 5::uhugeint)",
    "trunc(170141183460469231731687303715884105727::hugeint, -38), round(155::hugeint, -1)",
    "trunc(340282366920938463463374607431768211455::uhugeint, -38)::varchar, trunc(155::uhugeint, -39)",
    "gcd(12::hugeint, 18), lcm(170141183460469231731687303715884105727::hugeint, 1), abs(-5::hugeint)",
    "sign(5::uhugeint), sign(0::uhugeint), sign(-5::hugeint), abs(5::uhugeint), -(0::uhugeint)",
    "list_bit_and([-1::hugeint, 5::hugeint << 90]), list_bit_or([1::hugeint << 100, -8, null])",
    "list_bit_xor([1::hugeint << 100, 7, null]), list_bit_or([18446744073709551615::ubigint, 1])",
    "list_bit_xor([340282366920938463463374607431768211455, 1::uhugeint])::varchar",
    "list_bit_and([6::uhugeint, 3]), list_bit_xor([null::uhugeint]), list_bit_or([]::hugeint[])",
    "list_bit_or([(-128)::tinyint, 1::tinyint]), list_bit_xor([9223372036854775808::ubigint, 1::ubigint])",
    "try_cast(1e38::double as decimal(38, 0)), try_cast(9.9e37::double as decimal(38, 0))",
    "try_cast(1e23::double as decimal(23, 0)), [1e38::double, 9e37]::hugeint[]",
    "list_sum([1::hugeint, 2]), list_avg([170141183460469231731687303715884105727::hugeint, -1])",
    "list_sort([5::uhugeint, 340282366920938463463374607431768211455, null, 1])::varchar",
    "[1::hugeint, null, -170141183460469231731687303715884105727][3], {'a': 5::uhugeint, 'b': [6::hugeint]}",
    "map([5::uhugeint], [6::hugeint]), [1::uhugeint, 2]::hugeint[], ['1', '2']::uhugeint[]",
    "0.1::decimal(38, 38)::hugeint, 99999999999999999999999999999999999999::decimal(38, 0)::hugeint",
)


@pytest.mark.parametrize("literals", _LITERALS)
def test_literals(literals: str) -> None:
    check(f"select {literals}", {})


_QUERIES = (
    "select k, h, h::varchar as a, u::varchar as b, h::double as c, u::double as d, h::float as e from t",
    "select k, try_cast(h as bigint) as a, try_cast(u as hugeint) as b, try_cast(h as "
    "uhugeint)::varchar as c from t",
    "select k, try_cast(h as decimal(38, 0)) as a, try_cast(h as decimal(38, 2)) as b from t",
    "select k, try_cast(u as decimal(38, 0)) as a, try_cast(u as ubigint) as b, u::boolean as c from t",
    "select k, h & j as a, h | j as b, xor(h, j) as c, ~h as d, h >> bits as e from t",
    "select k, (u & v)::varchar a, (u | v)::varchar b, xor(u, v)::varchar c, (~u)::varchar d from t",
    "select k, (u >> bits::uhugeint)::varchar as a, (u % 7::uhugeint) as b, (u // 10::uhugeint) as c from t",
    "select k, h < j as a, h = j as b, u < v as c, u = v as d, u is distinct from v as e from t",
    "select k, h // nullif(j, 0) as a, h % nullif(j, 0) as b from t where j not between -1 and 0",
    "select k, greatest(h, j) as a, least(u, v)::varchar as b, coalesce(u, v)::varchar as c from t",
    "select k, h in (1, 170141183460469231731687303715884105727) as a, u in (7::uhugeint, v) as b from t",
    "select k from t where h > 170141183460469231731687303715884105726 or h < "
    "-170141183460469231731687303715884105727",
    "select k from t where u >= 170141183460469231731687303715884105728::uhugeint",
    "select h, count(*) as n, count(distinct j) as d, min(j) as a, max(j) as b from t group by h",
    "select u::varchar as u, count(*) as n, min(v)::varchar as a, max(v)::varchar as b from t group by u",
    "select g, min(h) a, max(h) b, min(u)::varchar c, max(u)::varchar d, any_value(u order by "
    "k)::varchar e from t group by g",
    "select min(h) as a, max(h) as b, min(u)::varchar as c, max(u)::varchar as d, count(u) as e, "
    "avg(u) as f from t",
    "select sum(h) as a, avg(h) as b from t where h between -170141183460469231731687303715 and "
    "10000000000000000000",
    "select g, sum(h // 1000) as a, avg(h // 1000) as b, sum(u) as c, sum(distinct h // 1000) as d "
    "from t group by g",
    "select bit_and(h) as a, bit_or(h) as b, bit_xor(h) as c from t",
    "select bit_and(u)::varchar as a, bit_or(u)::varchar as b, bit_xor(u)::varchar as c from t where k < 7",
    "select g, bit_and(u)::varchar as a, bit_or(u)::varchar as b, bit_xor(distinct u)::varchar as c, "
    "bit_or(u order by k) filter (where k > 9)::varchar as d from t where u < 99 or k % 2 = 0 group by g",
    "select k, (bit_or(u) over (order by k rows 2 preceding))::varchar as a, "
    "(bit_xor(u) over ())::varchar as b, (bit_xor(distinct u) over ())::varchar as c from t",
    "select bit_and(u) as a, bit_or(u) as b, bit_xor(u) as c from e",
    "select g, bit_and(h) as a, bit_or(h) as b, bit_xor(h) as c from t group by g",
    "select k, bit_and(h) over w as a, bit_or(h) over w as b, bit_xor(h) over w as c from t window w "
    "as (order by k)",
    "select g, list(h order by k) as a, list(u::varchar order by k) as b, first(h order by k) as c "
    "from t group by g",
    "select g, quantile_disc(h, 0.5) as a, quantile_disc(u, 0.5)::varchar as b, arg_max(k, h) as c "
    "from t group by g",
    "select distinct h, u::varchar as u from t",
    "select a.k, b.k as l from t a join t b on a.h = b.j",
    "select a.k, b.k as l from t a join t b on a.u = b.v and a.k < b.k",
    "select a.k, b.k as l from t a left join t b on a.u = b.v and a.h = b.j",
    "select h from t union select j from t",
    "select u::varchar from (select u from t intersect select v from t)",
    "select h from t except select j from t where k < 5",
    "select k, rank() over (order by u) as a, lag(h) over (order by k) as b, max(u) over (order by "
    "k)::varchar as c from t",
    "select k, row_number() over (partition by u order by h, k) as a, sum(h // 100) over (order by "
    "k) as b from t",
    "select k, sum(h // 1000) over (order by k rows 3 preceding) as a from t",
    "select sum(h) as a, min(h) as b, count(u) as c, max(u) as d, bit_and(h) as e, avg(h) as f from e",
    "select h, u from e",
    "select case when h > 0 then h else j end as x, case when u > v then 1::uhugeint else 2 end as y from t",
    "select unnest([h, j]) as x from t",
    "with recursive r as (select 1::hugeint as n union all select n * 3 from r where n < 10::hugeint "
    "** 37) select * from r",
    "select sum(k) as a, sum(bits) as b, avg(k) as c, typeof(sum(k)) as d from t",
)


@_RANKS
@pytest.mark.parametrize("query", _QUERIES)
def test_queries(query: str, ranks: int) -> None:
    if query.startswith("with "):
        check(query, {}, ranks=ranks)
    else:
        _check(query, ranks)


@_RANKS
def test_orders(ranks: int) -> None:
    for order in ("h, k", "h desc, k", "u nulls first, k", "u desc nulls last, h, k"):
        _check(f"select k, h, u::varchar as u from t order by {order}", ranks, ordered=True)
    _check("select k, u::varchar as u from t order by t.u desc, k limit 17 offset 3", ranks, ordered=True)


_FAILURES = (
    ("select h + 1 from t", "number out of range"),
    ("select j * h from t", "number out of range"),
    ("select -h from t", "number out of range"),
    ("select abs(h) from t", "number out of range"),
    ("select h // -1 from t", "number out of range"),
    ("select h // 0 from t", "division by zero"),
    ("select sum(h) from t where h > 10", "number out of range"),
    ("select avg(h) from t where h > 10", "number out of range"),
    ("select sum(h) over (order by k) from t", "number out of range"),
    ("select h << 1 from t", "number out of range"),
    ("select 1::hugeint << 127 from t", "number out of range"),
    ("select h::bigint from t", "number out of range"),
    ("select h::decimal(38, 0) from t", "number out of range"),
    ("select h::uhugeint from t", "cannot be cast"),
    ("select u::hugeint from t", "cannot be cast"),
    ("select (u + 1::uhugeint)::varchar from t", "overflow in an addition of UHUGEINTs"),
    ("select (u - v)::varchar from t", "overflow in a subtraction of UHUGEINTs"),
    ("select (u * 2::uhugeint)::varchar from t", "overflow in a multiplication of UHUGEINTs"),
    ("select (u // 0::uhugeint)::varchar from t", "division by zero of a UHUGEINT"),
    ("select (u % 0::uhugeint)::varchar from t", "division by zero of a UHUGEINT"),
    ("select (u << 1::uhugeint)::varchar from t", "overflow in a left shift of a UHUGEINT"),
    ("select -u from t", "overflow in a subtraction of UHUGEINTs"),
    ("select list_sum([h, j, h]) from t", "overflow in list_sum"),
    ("select list_avg([h, j, h]) from t", "overflow in list_avg"),
)


@pytest.mark.parametrize(("query", "message"), _FAILURES)
def test_failures(query: str, message: str) -> None:
    for ranks in (1, 2):
        with pytest.raises(hr.errors.DataError, match=message):
            hr.sql(_CAST + query, _TEXTS, ranks=ranks)
    with pytest.raises(Exception, match=r"."):
        answer(_CAST + query, _TEXTS)


def test_results_of_arrow() -> None:
    """DuckDB's are negative from 2^127 on."""
    for query in ("select u from t", "select [u] as x from t", "select {'a': 1, 'b': u} as x from t"):
        with pytest.raises(hr.errors.DataError, match="a UHUGEINT is larger than the integers of 128 bits"):
            hr.sql(_CAST + query, _TEXTS)


_REFUSED = (
    (
        "select count(*) over (order by u range between 5::uhugeint preceding and current row) from t",
        "unsupported RANGE with a distance over UHUGEINT; order by a HUGEINT",
    ),
    ("select u::date from t", "unsupported cast of a UHUGEINT to a type that is no number"),
    (
        "select date '2020-01-01'::uhugeint from t",
        "unsupported cast to a UHUGEINT of a type that is no number",
    ),
    ("select format('{:x}', h) from t", 'the form "x" of such a value'),
)


@pytest.mark.parametrize(("query", "message"), _REFUSED)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.errors.HeadraceError, match=message):
        hr.sql(_CAST + query, _TEXTS)


def test_recursion_of_unsigned_ones_is_refused() -> None:
    step = "select n * 3 from r where n < 99"
    query = f"with recursive r as (select 1::uhugeint n union all {step}) select * from r"
    with pytest.raises(hr.errors.UnsupportedError, match="WITH RECURSIVE of UHUGEINT is not supported"):
        hr.sql(query)


def test_csv(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    rows = [*map(str, _HUGE), ""]
    file.write_text("h\n" + "".join(f'"{row}"\n' if row == "" else f"{row}\n" for row in rows))
    check(f"select h, count(*) as n from read_csv('{file}', columns = {{'h': 'HUGEINT'}}) group by h", {})
    with pytest.raises(hr.errors.DataError, match="value cannot be cast"):  # some are negative
        hr.sql(f"select h from read_csv('{file}', columns = {{'h': 'UHUGEINT'}})")


@pytest.mark.parametrize(
    "value",
    [2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**127 - 1, 2**127, 2**128 - 1, -(2**63), -(2**63) - 1, -(2**127)],
)
def test_parameters(value: int) -> None:
    query = "select typeof($1) as a, $1::varchar as b, $1 > 7 as c, [$1]::varchar as d"
    with duckdb.connect() as connection:
        wanted = connection.execute(query, [value]).to_arrow_table()
    same(hr.connect({}).sql(query, [value]).arrow(), wanted)


def test_files(tmp_path: Path) -> None:
    """CSV has them as DuckDB does; Parquet as decimals, where DuckDB has doubles."""
    query = (
        f"select x::hugeint as h from (values {', '.join(f'({value!r})' for value in map(str, _HUGE))}) v(x)"
    )
    hr.sql(f"copy ({query}) to '{tmp_path}/h.csv'")
    with duckdb.connect() as connection:
        connection.execute(f"copy ({query}) to '{tmp_path}/d.csv'")
    assert (tmp_path / "h.csv").read_text() == (tmp_path / "d.csv").read_text()
    check(f"select h, typeof(h) as t from '{tmp_path}/h.csv'", {})
    some = f"select h from ({query}) where abs(h / 2) < 1e37"
    hr.sql(f"copy ({some}) to '{tmp_path}/h.parquet'", ranks=2)
    same(hr.sql(f"select h::hugeint as h from '{tmp_path}/h.parquet'"), answer(some, {}))
    for wide in (query, f"select [h] as h from ({query})", f"select h, interval 1 day as i from ({query})"):
        with pytest.raises(
            hr.errors.DataError, match="cannot write Parquet: column h: a number has more than 38 digits"
        ):
            hr.sql(f"copy ({wide}) to '{tmp_path}/x.parquet'")
    assert not (tmp_path / "x.parquet").exists()
