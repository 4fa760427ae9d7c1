"""Lists beside DuckDB: through Arrow, as values, keys and aggregates, and as rows; 1 to 3 ranks.

Sources: passes/import/{QuantileFields,Unnest}.cpp, passes/import/duckdb/list_functions.cpp
"""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from pathlib import Path

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, check, same

_ROWS = 400
_DAY = datetime.date(2024, 2, 29)
_MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 45, 123456)
#: Elements of every type, with extremes.
_ELEMENTS: dict[str, tuple[pa.DataType, list[object]]] = {
    "b": (pa.bool_(), [True, False]),
    "i": (pa.int32(), [-(2**31), 2**31 - 1, 0, 7, -7, 7]),
    "l": (pa.int64(), [-(2**63), 2**63 - 1, 5]),
    "f": (pa.float32(), [1.5, -2.25, 3e38]),
    "x": (pa.float64(), [0.1, -1e300, 16777217.0, 2.0]),
    "d": (pa.decimal128(9, 2), [Decimal("1.25"), Decimal("-9999999.99")]),
    "w": (pa.decimal128(38, 3), [Decimal("1.125"), Decimal(10) ** 34, -(Decimal(10) ** 34)]),
    "day": (pa.date32(), [_DAY, datetime.date(1, 1, 1)]),
    "m": (pa.timestamp("us"), [_MOMENT, datetime.datetime(1969, 12, 31, 23, 59, 59)]),
    "o": (pa.time64("us"), [datetime.time(1, 2, 3, 4)]),
    "s": (
        pa.string(),
        ["", "a", "it's", "ä, b", " c", "null", "a long text of more than twelve bytes", "[x]"],
    ),
}


def _tables() -> dict[str, pa.Table]:
    rng = random.Random(3)

    def lists(values: list[object]) -> list[object]:
        rows: list[object] = [None, [], [None]]
        while len(rows) < _ROWS:
            size = rng.choice([0, 1, 2, 3, 9])
            rows.append(None if rng.random() < 0.1 else [rng.choice([*values, None]) for _ in range(size)])
        return rows

    columns = {"k": pa.array(range(_ROWS), pa.int32())}
    columns["g"] = pa.array([rng.choice([0, 1, 2, None]) for _ in range(_ROWS)], pa.int32())
    for name, (kind, values) in _ELEMENTS.items():
        columns[name] = pa.array(lists(values), pa.list_(kind))
        one = [rng.choice([*values, None]) for _ in range(_ROWS)]
        columns[f"{name}_one"] = pa.array(one, kind)
    nested = [[lists([1, 2])[rng.randrange(9)] for _ in range(rng.randrange(3))] for _ in range(_ROWS)]
    columns["n"] = pa.array(nested, pa.list_(pa.list_(pa.int32())))
    return {"t": pa.table(columns)}


_TABLES = _tables()
_NAMES = list(_ELEMENTS)


@pytest.mark.parametrize("ranks", [1, 3])
def test_pass_through(ranks: int) -> None:
    check(f"select k, {', '.join(_NAMES)}, n from t where k % 3 <> 1", _TABLES, ranks=ranks)


@pytest.mark.parametrize("name", _NAMES)
def test_elements_in_and_out(name: str) -> None:
    one = f"{name}_one"
    check(
        f"select k, [{one}, {one}] as made, {name}[1] as first, {name}[-1] as last, {name}[k % 5] as some,"
        f" len({name}) as size, {name}[2:3] as part, {name}[:-2] as most, {name}[-2:] as rest,"
        f" list_contains({name}, {one}) as has, list_position({name}, {one}) as place,"
        f" list_append({name}, {one}) as longer, {name} || [{one}] as other, list_reverse({name}) as back,"
        f" list_sort({name}) as sorted, list_reverse_sort({name}) as descending,"
        f" list_sort(list_distinct({name})) as different, list_unique({name}) as many,"
        f" list_min({name}) as least, list_max({name}) as greatest, list_count({name}) as known from t",
        _TABLES,
        ranks=2,
    )


@pytest.mark.parametrize("name", [name for name in _NAMES if name not in ("f", "x")])
def test_as_text(name: str) -> None:
    check(f"select k, cast({name} as varchar) as v, array_to_string({name}, '|') as j from t", _TABLES)


@pytest.mark.parametrize(
    "query",
    [
        "select k, list_sum(i) as s, list_avg(i) as a, list_product([g, 2]) as p, list_sum(d) as e from t",
        "select k, list_sum(x[1:1]) as s, list_avg(d) as a, list_aggregate(s, 'string_agg', '/') as j from t",
        "select k, flatten([i, [7], i[2:]]) as a, flatten(n) as b, flatten([s, null, []]) as c from t",
        "select k, list_select(s, [2, 1, 9, -1]) as a, list_where(x, [true, false, true]) as b from t",
        "select k, list_resize(i, k % 4) as a, list_resize(s, 3, 'new') as b from t",
        "select k, list_resize(n, 2, [5]) as a, repeat(i, k % 3) as b, repeat(s, -1) as c from t",
        "select k, string_split(s_one, null) as p, string_split(null, null) as q from t",
        "select k, string_split('a,b,,c' || k, ',') as p, string_split(s_one, '') as c from t",
        "select k, range(k % 4) as a, range(2, k % 9, 3) as b, generate_series(5, k % 4, -1) as c from t",
        "select k, cast(i as varchar[]) as a, cast(d as double[]) as b, list_concat(i, [1.5]) as c from t",
        "select k, cast(n as varchar) as v, n[1] as a, n[1][2] as b, len(n) as c, [i, i] as d from t",
        "select k, [x for x in i if x >= 0]::ubigint[] as a from t",
        "select k, [x + 200 for x in range(k % 9)]::utinyint[] as a from t",
        "select k, list_concat(i, i) as a, i + [k] as b, i || i as c, n + [i] as d from t",
        "select k, list_concat(i, null) as a, repeat(x, null) as b, list_resize(d, null) as c from t",
        "select k, i = i as a, i = [7] as b, i <> i[1:1] as c, i is distinct from i[1:2] as d from t",
        "select k, i < i[2:] as a, s <= s[1:1] as b, x > x[2:] as c, n >= [[1]] as d, d < d[2:] as e from t",
        "select k, i[1:5:2] as a, i[:-:3] as b, i[:-:-2] as c, list_reverse(s) as d from t",
        "select k, list_has_any(i, [7, 0]) as a, list_has_all(i, [7]) as b from t",
        "select k, list_sort(list_intersect(s, ['a', '', 'null'])) as v from t",
        "select k, case when k % 2 = 0 then i else [k] end as a, coalesce(i, [1, null]) as b from t",
        "select k, i is null as a, list_first(i) as f, list_last(s) as l from t where i is not null",
        "select len([]) as a, [1, null] as b, [[1], null, []] as c, ['x'] as d, list_concat([1], null) as e",
        "select * from (values ([1, 2], 'a'), (null, 'b'), ([null], 'c')) v(l, x)",
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_values(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select i, count(*) as c, sum(k) as s from t group by i",
        "select s, n, count(*) as c from t group by s, n",
        "select distinct x, b from t",
        "select a.k, b.k as other from t a join t b on a.s = b.s where a.k < 40",
        "select count(distinct i) as c, min(g) as g from t",
        "select k from t where i in (select i from t where k % 7 = 0)",
        "select i from t where k < 60 union select i from t where k > 30",
        "select k, count(*) over (partition by s) as c, lag(i) over (order by k) as l from t",
    ],
)
def test_keys(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


@pytest.mark.parametrize("name", [*_NAMES, "n"])
def test_order(name: str) -> None:
    query = f"select {name}, k from t order by {name} desc nulls first, k"
    same(hr.sql(query, _TABLES, ranks=2), answer(query, _TABLES), ordered=True)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("name", _NAMES)
def test_aggregates(name: str, ranks: int) -> None:
    one = f"{name}_one"
    check(
        f"select g, list({one} order by k) as a, array_agg({one} order by {one} desc nulls first, k) as b,"
        f" list(distinct {one} order by {one}) as c, list({one} order by k) filter (where k % 3 = 0) as d,"
        f" string_agg({one}::varchar, '|' order by k desc) as e, list({name} order by k) as f"
        " from t group by g",
        _TABLES,
        ranks=ranks,
    )


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
        "select string_agg(s_one, ', ' order by k) as a, group_concat(s_one order by k) as b from t",
        "select listagg(distinct s_one, '' order by s_one) as a, count(*) as c from t",
        "select string_agg(k::text order by k) filter (where k < 10) as a, list(k order by -k) as b from t",
        "select list(k order by k) as a, string_agg(s_one) as b from t where k < 0",
        "select g, list(k order by k) as a from t where k < 0 group by g",
        "select g, k % 2 as p, list(k order by k) as a from t group by rollup(g, p)",
        "select g, list(k order by k)[2] as a, len(list(k)) as b from t group by g having len(list(k)) > 3",
        "select g, list_sort(list(k)) as a from t group by g",
    ],
)
def test_aggregates_of_all(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


def test_without_an_order_lists_are_in_that_of_the_rows() -> None:
    query = "select list(i_one) as a, string_agg(s_one, '|') as b from t"
    same(hr.sql(query, _TABLES, ranks=2), answer(query, _TABLES))


def test_lists_of_rows_without_an_order_are_in_that_of_their_values() -> None:
    found = hr.sql("select list(i_one) as a from t join (values (1), (2)) v(a) on a = 1", _TABLES, ranks=2)
    same(found, answer("select list(i_one order by i_one nulls last) as a from t", _TABLES))


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "query",
    [
        *(f"select k, unnest({name}) as e from t" for name in _NAMES),
        "select k, unnest(i) as a, unnest(s) as b, unnest(n) as c from t",
        "select k, unnest(range(k % 2000)) as e from t where k > 390",
        "select unnest(range(5000)) as e, k from t where k % 100 = 0",
        "select unnest([1, 2]) + 1 as a, 'x' as b",
        "select generate_subscripts(i, 1) as n, unnest(i) as e from t",
        "select k, e from t, unnest(i) u(e)",
        "select k, e from t, unnest(s) u(e) where e like 'a%'",
        "select k, e from t left join unnest(i) u(e) on true",
        "select k, e, p from t, unnest(i) with ordinality u(e, p)",
        "select k, r from t, range(k % 5) q(r)",
        "select k, r from t, generate_series(2, k % 5) q(r)",
        "select * from unnest([3, null, 1])",
        "select count(*) as c, sum(e) as s from (select unnest(i) as e from t where k < 300) where e < 100",
        "select e, count(*) as c, list(k order by k) as l from (select k, unnest(s) as e from t) group by e",
        "select k, (select sum(e) from unnest(i[1:3]) u(e)) as s from t where list_max(i) < 10",
    ],
)
def test_as_rows(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


def test_layouts_of_arrow() -> None:
    values = [[1, None], None, [], [3, 4], [5, 6]]
    pairs = [[1, None], None, [2, 2], [3, 4], [5, 6]]
    table = pa.table(
        {
            "k": pa.array(range(5), pa.int32()),
            "large": pa.array(values, pa.large_list(pa.int16())),
            "fixed": pa.array(pairs, pa.list_(pa.int64(), 2)),
            "views": pa.array([["a", None], None, [], ["b"], [""]], pa.list_(pa.large_string())),
            "words": pa.array([["a", "b"]] * 5, pa.list_(pa.dictionary(pa.int8(), pa.string()))),
            "zoned": pa.array([[_MOMENT]] * 5, pa.list_(pa.timestamp("us", "UTC"))),
        }
    )
    expected = pa.table(
        {
            "k": table["k"],
            "large": pa.array(values, pa.list_(pa.int16())),
            "fixed": table["fixed"],
            "views": pa.array(table["views"].to_pylist(), pa.list_(pa.string())),
            "words": pa.array([["a", "b"]] * 5, pa.list_(pa.string())),
            "zoned": table["zoned"],
        }
    )
    same(hr.sql("select * from t", {"t": table}), expected)
    same(hr.sql("select * from t", {"t": table.slice(1, 3)}), expected.slice(1, 3))


@pytest.mark.parametrize("ranks", [1, 2])
def test_parquet(ranks: int, tmp_path: Path) -> None:
    table = _TABLES["t"]
    for number, compression in enumerate(("snappy", "zstd")):
        path = tmp_path / f"t{number}.parquet"
        parquet.write_table(
            table, path, row_group_size=150, compression=compression, data_page_version=f"{number + 1}.0"
        )
        found = hr.sql(f"select k, {', '.join(_NAMES)}, n from t", {"t": path}, ranks=ranks)
        same(found, table.select(["k", *_NAMES, "n"]))
    query = "select g, list(i_one order by k) as a, count(distinct s) as c from t group by g"
    same(hr.sql(query, {"t": path}, ranks=ranks), answer(query, _TABLES))


def test_parquet_without_null(tmp_path: Path) -> None:
    kind = pa.list_(pa.field("element", pa.int32(), nullable=False))
    schema = pa.schema([pa.field("l", kind, nullable=False)])
    table = pa.table({"l": pa.array([[1, 2], [], [3]], kind)}, schema)
    parquet.write_table(table, tmp_path / "t.parquet")
    tables = {"t": tmp_path / "t.parquet"}
    assert hr.sql("select l from t", tables)["l"].to_pylist() == [[1, 2], [], [3]]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("rows", [7, 100])
@pytest.mark.parametrize("limit", [1, 100])
def test_parquet_whose_dictionary_is_given_up(limit: int, rows: int, version: str, tmp_path: Path) -> None:
    lists = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [], None, [1.5, 2.5], [None]] * 3
    parquet.write_table(  # pages of a value, and empty ones
        pa.table({"l": lists}),
        tmp_path / "t.parquet",
        row_group_size=rows,
        data_page_size=1,
        write_batch_size=1,
        dictionary_pagesize_limit=limit,
        data_page_version=version,
    )
    assert hr.sql("select l from t", {"t": tmp_path / "t.parquet"})["l"].to_pylist() == lists


def test_parquet_of_arrays_that_are_null(tmp_path: Path) -> None:
    arrays = "select case when i % 3 = 0 then null else [i, null, i]::int[3] end as a, [a, null] as n"
    duckdb.sql(f"copy ({arrays} from range(10) t(i)) to '{tmp_path}/t.parquet'")
    found = hr.sql("select a, n from t", {"t": tmp_path / "t.parquet"})
    wanted = [None if i % 3 == 0 else [i, None, i] for i in range(10)]
    assert found["a"].to_pylist() == wanted
    assert found["n"].to_pylist() == [[each, None] for each in wanted]


def test_nan_and_zero_are_one_value() -> None:
    table = pa.table({"x": pa.array([[-0.0, float("nan")], [0.0, -float("nan")]], pa.list_(pa.float64()))})
    found = hr.sql("select x, count(*) as c from t group by x", {"t": table})
    assert found["c"].to_pylist() == [2]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", _NAMES)
def test_try_cast(name: str, ranks: int) -> None:
    kinds = {"b": "int[]", "day": "timestamp[]", "m": "date[]", "o": "varchar[]"}
    wanted = ["varchar[]", "varchar", kinds.get(name, "tinyint[]")]
    if name not in kinds:
        wanted += ["smallint[]", "decimal(4, 1)[]", "float[]", "boolean[]", "hugeint[]"]
    if name == "s":
        wanted += ["date[]", "timestamp[]", "time[]"]
    columns = [f"try_cast({name} as {kind}) as c{n}" for n, kind in enumerate(wanted)]
    columns += [f"try_cast([{name}_one, {name}_one] as {kind}) as o{n}" for n, kind in enumerate(wanted)]
    check(f"select k, {', '.join(columns)} from t", _TABLES, ranks=ranks)


def test_try_cast_of_lists_of_lists() -> None:
    check(
        "select k, try_cast(n as tinyint[][]) as a, try_cast([s, ['1', null]] as int[][]) as b,"
        " try_cast(list_transform(i, lambda x: [x::varchar, s_one, '12']) as smallint[][]) as c from t",
        _TABLES,
    )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select i[3:1:k - k] from t", "a slice whose step is 0"),
        (
            "select try_cast(i as int) from t",
            "unsupported cast between a list, struct or map and what is none",
        ),
        ("select [x - 1 for x in range(k % 2)]::utinyint[] from t", "a value of a list cannot be cast"),
        ("select (select min(v) from unnest((select i)) u(v)) from t", "unsupported query in the argument"),
        (
            "select list_aggr(i, 'covar_pop', 2) from t",
            "unsupported list_aggr: aggregate covar_pop of a list",
        ),
        ("select list_sum(b) from t", "unsupported list_aggr: aggregate sum of what is no number"),
    ],
)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(query, _TABLES)


_MEDIANS = {
    **dict.fromkeys(
        ["timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp", "date"],
        "date '2020-01-01' + (i * i)::int",
    ),
    "time": "time '01:00:00' + interval (i * i) second",
    "interval": "interval (i * i) hour",
    "boolean": "i > 2",
    **dict.fromkeys(
        ["tinyint", "ubigint", "hugeint", "float", "double", "decimal(9, 2)", "decimal(38, 3)"], "i * i % 5"
    ),
}


@pytest.mark.parametrize("kind", _MEDIANS)
def test_medians_of_every_type(kind: str) -> None:
    """Those of lists and of their elements."""
    rows = f"(select i % 2 as g, ({_MEDIANS[kind]})::{kind} as x from range(7) r(i))"
    for name in ("median", "max", *([] if kind in ("boolean", "interval") else ["mad"])):
        check(f"select g, list_{name}(list(x order by x)) as l, {name}(x) as x from {rows} group by g", {})


@pytest.mark.parametrize("digits", ["9, 2", "18, 4", "38, 6"])
def test_quantiles_of_decimals(digits: str) -> None:
    draw = random.Random(5)
    values = [Decimal(draw.randrange(-400, 400)) / draw.choice([1, 4, 100]) for _ in range(900)]
    table = {"t": pa.table({"g": [i // 3 for i in range(900)], "v": values})}
    shares = ", ".join(
        f"quantile_cont(x, {share}) as q{place}" for place, share in enumerate((0.1, 0.3, 0.7, 0.9))
    )
    check(
        f"select g, {shares}, median(x) as m from (select g, v::decimal({digits}) as x from t) group by g",
        table,
    )
    shares = shares.replace(" as", " over (partition by g) as")
    check(f"select g, {shares} from (select g, v::decimal({digits}) as x from t)", table)


def test_medians_between_infinities() -> None:
    moments = "('infinity', 1), ('infinity', 1), ('-infinity', 2), ('-infinity', 2), ('2020-01-01', 3)"
    for kind in ("date", "timestamp"):
        rows = f"(select g, s::{kind} as x from (values {moments}) v(s, g))"
        both = f"select g, median(x)::varchar as m, list_median(list(x))::varchar as l from {rows} group by g"
        found = hr.sql(f"{both} order by g").to_pydict()
        assert found["m"] == found["l"] == ["infinity", "-infinity", "2020-01-01 00:00:00"]


def test_rows_that_a_filter_drops_are_not_cast() -> None:
    days = "(date '5881580-07-10'), (date '2020-01-01'), (date '2020-01-04')"
    for name in ("median(d)", "mad(d)", "quantile_cont(d, 0.25)", "quantile_cont(d, [0.25, 0.5])"):
        check(f"select {name} filter (year(d) < 3000) as x from (values {days}) v(d)", {})


def test_far_deviations() -> None:
    """Some are beyond the digits of the type, and not the one in the middle."""
    values = "(-99.99::decimal(9, 2)), (9999999.99), (-0.01)"
    check(f"select mad(x) as a, list_mad(list(x)) as b from (values {values}) v(x)", {})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select cast(['x'] || s as int[]) from t", "a value of a list cannot be cast"),
        ("select cast(s as date[]) from t", "cannot be cast|invalid cast|not a date"),
        (f"select list_sum([{'9' * 38}::decimal(38, 0), k::decimal(38, 0)]) from t", "overflow in list_sum"),
    ],
)
def test_errors_of_data(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(query, _TABLES)


def test_how_many_elements_and_reversed_nothing() -> None:
    check("select cardinality(i) as a, cardinality([]) as b, list_reverse(null) as c from t", _TABLES)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("list_select(i, [null])", "NULL is no place in a list"),
        ("list_where(i, [true, null])", "NULL is no mark of an element"),
        ("list_resize(i, 5000000000)", "a list has from 0 to 4294967295 elements"),
    ],
)
def test_arguments_of_lists_that_are_errors(call: str, message: str) -> None:
    with pytest.raises(hr.errors.DataError, match=message):
        hr.sql(f"select {call} from t", _TABLES)
