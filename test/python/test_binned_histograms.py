"""Histograms over bins, the bins of equal widths, and the first few of an order, beside DuckDB.

Sources: passes/import/duckdb/collected.cpp
"""

from __future__ import annotations

import random
import re

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same

_ROWS = 300


def _tables() -> dict[str, pa.Table]:
    draw = random.Random(5)

    def some(low: int, high: int) -> list[int | None]:
        return [None if draw.random() < 0.1 else draw.randrange(low, high) for _ in range(_ROWS)]

    groups = [draw.choice([0, 1, 2, None]) for _ in range(_ROWS - 3)] + [7, 7, 8]
    numbers = some(-50, 60)
    numbers[-3] = numbers[-2] = None  # group 7 has no values
    return {
        "t": pa.table(
            {
                "id": pa.array(draw.sample(range(_ROWS), _ROWS), pa.int32()),
                "g": pa.array(groups, pa.int32()),
                "n": pa.array(numbers, pa.int64()),
            }
        )
    }


_TABLES = _tables()
_BINS = "[-20, 0, 10, 40]"
_STAMP = ("(timestamp '2020-01-01' + to_days(n::int))", "(timestamp '2020-01-01' + to_days(x))")
#: Values of `n` as each type that keys may be, with what makes a bin of a number.
_TYPES = [
    ("n", "x"), ("n::tinyint", "x"), ("(n + 60)::utinyint", "x + 20"), ("(n + 60)::ubigint", "x + 20"),
    ("n::double / 3", "x"), ("n::float", "x"), ("n::decimal(9, 2)", "x"), ("n::varchar", "x::varchar"),
    ("n > 3", "x > 3"), ("encode(n::varchar)", "encode(x::varchar)"), ("n::hugeint", "x::hugeint"),
    ("(n + 60)::uhugeint", "(x + 20)::uhugeint"),
    ("date '2020-01-01' + n::int", "date '2020-01-01' + x"),
    _STAMP, *[tuple(f"{each}::{kind}" for each in _STAMP) for kind in ("timestamptz", "timestamp_s")],
    ("time '12:00' + to_seconds(n)", "time '12:00' + to_seconds(x)"), ("[n]", "[x]"),
    ("{'a': n}", "{'a': x}"),
]  # fmt: skip


def entries(call: str) -> str:
    """A map with infinite dates, which Python has no values for."""
    return f"map_keys({call})::varchar as k, map_values({call}) as v"


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(("value", "bin_"), _TYPES, ids=lambda text: text)
def test_histograms(value: str, bin_: str, ranks: int) -> None:
    for function in ("histogram", "histogram_exact"):
        call = f"{function}({value}, [{bin_} for x in {_BINS}::int[]])"
        where = "where n is not null" if value[0] in "[{" else ""
        check(f"select {entries(call)} from t {where}", _TABLES, ranks=ranks)
        check(f"select g, {entries(call)} from t {where} group by g", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("bins", ["[]", "[5]", "[40, -20, 40, 10]", "range(-50, 60, 9)", "[n for n in [60]]"])
def test_any_bins(bins: str, ranks: int) -> None:
    calls = f"histogram(n, {bins}) as a, histogram_exact(n, {bins}) filter (where id > 40) as b"
    calls += f", histogram(distinct n, {bins}) as c, histogram(n, {bins} order by id) as d"
    check(f"select {calls} from t", _TABLES, ranks=ranks)
    check(f"select g, {calls} from t group by g", _TABLES, ranks=ranks)
    check(f"select {calls} from t where n is null", _TABLES, ranks=ranks)
    check(f"select {calls} from t where false", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2])
def test_bins_of_groups_windows_and_lists(ranks: int) -> None:
    bins = "case when g = 0 then [0, 10] else [5, 15, 25] end"
    check(f"select g, histogram(n, {bins}) as a from t group by g", _TABLES, ranks=ranks)
    window = "(partition by g order by id rows between 5 preceding and current row)"
    check(f"select id, histogram(n, [0, 20]) over {window} as a from t", _TABLES, ranks=ranks)
    calls = "list_aggr(l, 'histogram', [0, 20]) as a, list_aggr(l, 'histogram_exact', [0, 20]) as b"
    check(f"select g, {calls} from (select g, list(n) as l from t group by g)", _TABLES, ranks=ranks)


def _of_rows(value: str = "n") -> list[str]:
    """Calls whose bins are those of the first row that counts."""
    return [
        *[f"histogram({value}, [id, id + 30])", f"histogram_exact({value}, [id % 50, n])"],
        f"histogram({value}, [id % 9, 20]) filter (where id % 3 > 0)",
        f"histogram({value}, [id - 200, 0] order by -id)",
        f"histogram({value}, [{value}, 0] order by {value} desc, id) filter (where id % 4 > 0)",
    ]


def _listed(calls: list[str], over: str = "") -> str:
    return ", ".join(f"{call}{over} as c{place}" for place, call in enumerate(calls))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_bins_of_the_first_row_of_groups(ranks: int) -> None:
    """Of rows of a table, which have an order."""
    known = "coalesce(id, 0)"
    calls = [*_of_rows(), f"histogram(n::varchar, [{known}::varchar])", f"histogram(n, [{known}, n])"]
    check(f"select g, {_listed(calls)} from t group by g", _TABLES, ranks=ranks)
    check(f"select {_listed(calls)} from t", _TABLES, ranks=ranks)
    check(f"select {_listed(calls)} from t where n is null", _TABLES, ranks=ranks)
    check(f"select id, {_listed(calls, ' over (partition by g)')} from t", _TABLES, ranks=ranks)
    check(f"select id, {_listed(calls, ' over ()')} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "frame",
    [
        "partition by g order by id rows between 3 preceding and 1 following",
        "order by id rows between 2 preceding and 2 following",
        "order by id desc rows between 4 preceding and 1 preceding",
        "partition by g order by id rows between 3 preceding and 2 following exclude current row",
        "order by id range between 6 preceding and 4 following",
        "partition by g order by id groups between 2 preceding and current row exclude ties",
    ],
)
def test_bins_of_the_first_row_of_frames(frame: str, ranks: int) -> None:
    """DuckDB joins no parts of a frame that have other bins; in an order of the function it makes none."""
    same_order = "-id" if "desc" in frame else "id + 1"
    ordered = [re.sub(r"\](?=\))", f"] order by {same_order}", call) for call in _of_rows()]
    found = hr.sql(f"select id, {_listed(_of_rows(), f' over ({frame})')} from t", _TABLES, ranks=ranks)
    same(found, answer(f"select id, {_listed(ordered, f' over ({frame})')} from t", _TABLES))


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("frame", ["partition by g order by id", "order by id desc", "order by g, id"])
def test_bins_of_the_first_row_of_long_frames(frame: str, ranks: int) -> None:
    """As the first row of its list has them; DuckDB joins no parts of a frame that have other bins."""
    columns = "histogram(n, [id % 40]) over w as h, list({'n': n, 'id': id}) over w as l"
    for row in hr.sql(f"select {columns} from t window w as ({frame})", _TABLES, ranks=ranks).to_pylist():
        known = [each for each in row["l"] if each["n"] is not None]
        if not known:
            assert row["h"] is None
            continue
        end = known[0]["id"] % 40
        counts = {end: 0}
        for each in known:
            key = end if each["n"] <= end else 2**63 - 1
            counts[key] = counts.get(key, 0) + 1
        assert dict(row["h"]) == counts


def test_a_histogram_of_nan() -> None:
    """NaN is the greatest number; DuckDB counts it in the first bin."""
    table = {"t": pa.table({"x": [float("nan"), 0.5, 7.0]})}
    found = hr.sql("select histogram(x, [1, 10]) as h from t", table)["h"].to_pylist()
    assert found == [[(1.0, 1), (10.0, 1), (float("inf"), 1)]]


@pytest.mark.parametrize("ranks", [1, 2])
def test_other_bins(ranks: int) -> None:
    others = [
        "127::tinyint",
        "9223372036854775807",
        "255::utinyint",
        "'inf'::float",
        "'infinity'::date",
        "''",
    ]
    others += [
        "'infinity'::timestamp",
        "time '24:00'",
        "[]::int[]",
        "{'a': null::int}",
        "x'01'",
        "99.9::decimal(3, 1)",
    ]
    calls = [
        f"is_histogram_other_bin(case id % 3 when 0 then {value} when 1 then null end)" for value in others
    ]
    calls += ["is_histogram_other_bin(id)", "is_histogram_other_bin(n::varchar)", "constant_or_null(7, n, g)"]
    listed = ", ".join(f"{call} as c{place}" for place, call in enumerate(calls))
    check(f"select id, {listed} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("technique", ["auto", "sample", "equi-width", "equi-width-nice", "equi-height"])
def test_histogram_macros(technique: str, ranks: int) -> None:
    for count in (2, 7):
        options = f"bin_count := {count}, technique := '{technique}'"
        column = "n % 2" if technique == "sample" else "n"
        check(f"select * from histogram_values(t, {column}, {options})", _TABLES, ranks=ranks)
        check(f"select bin, count from histogram(t, {column}, {options})", _TABLES, ranks=ranks)
    if technique == "auto":
        check("select * from histogram_values(t, (n % 3)::varchar)", _TABLES, ranks=ranks)


def _ends(seed: int) -> list[tuple[str, str, str]]:
    draw = random.Random(seed)
    ends = [("bigint", "(-9223372036854775808)", "9223372036854775807"), ("double", "-1e308", "1e308")]
    ends += [("bigint", "0", "9223372036854775807"), ("bigint", "99", "101"), ("double", "0", "6.347")]
    for _ in range(30):
        low = draw.randrange(-(10 ** draw.randrange(1, 18)), 10 ** draw.randrange(1, 18))
        ends.append(("bigint", str(low), str(low + draw.randrange(10 ** draw.randrange(1, 18)))))
        start = draw.uniform(-1, 1) * 10 ** draw.randrange(-5, 12)
        ends.append(("double", repr(start), repr(start + draw.random() * 10 ** draw.randrange(-5, 12))))
        moment = draw.randrange(-(10**15), 2 * 10**15)
        later = moment + draw.randrange(10 ** draw.randrange(2, 17))
        ends.append(("timestamp", f"make_timestamp({moment})", f"make_timestamp({later})"))
    return ends


@pytest.mark.parametrize("seed", range(6))
def test_bins_of_equal_widths(seed: int) -> None:
    rows = [
        f"select {place} as id, {low}::{kind} as low, {high}::{kind} as high, {count} as n, {nice} as nice"
        for place, (kind, low, high) in enumerate(_ends(seed))
        for count, nice in ((1 + seed * 3, "true"), (2 + seed, "true"), (5 + seed, "false"))
        if kind == ("bigint", "double", "timestamp")[seed % 3]
    ]
    given = {"t": answer(" union all ".join(rows), {})}
    text = "select id, n, nice, equi_width_bins(low, high, n, nice) as bins from t order by id, n, nice"
    same(hr.sql(text, given, ranks=2), answer(text, given), ordered=True)


_OF_TYPES = [
    "1::tinyint, 100::tinyint, 7, true", "1.5, 9.25, 4, true", "0::float, 3::float, 3, false",
    "date '1992-01-01', date '2000-01-01', 2, true", "date '1992-01-01', date '1992-03-01', 3, false",
    "timestamp_s '2020-01-01', timestamp_s '2022-01-01', 2, true", "5, 5, 3, true", "0, 10, 5999, true",
    "0, 10, 5999, false", "1, null::int, 7, true", "'inf'::double, 'inf'::double, 3, true", "0, 5, 10, true",
]  # fmt: skip


@pytest.mark.parametrize("arguments", _OF_TYPES)
def test_bins_of_types(arguments: str) -> None:
    check(f"select equi_width_bins({arguments}) as x", {})


_NULLS_LAST = ("arg_min_nulls_last", "arg_max_nulls_last")


@pytest.mark.parametrize("ranks", [1, 3])
def test_first_few(ranks: int) -> None:
    calls = [
        "max(n, 3)",
        "min(n, 2)",
        "min(n::varchar, 2)",
        "max([n], 1) filter (where n > 0)",
        "max(distinct n, 400)",
    ]
    calls += [
        "arg_max(n, id, 3)",
        "arg_min(n::varchar, -id, 2)",
        "max_by(id, [id], 2)",
        "arg_min(n, id, g + 1)",
    ]
    listed = ", ".join(f"{call} as c{place}" for place, call in enumerate(calls))
    check(f"select {listed.replace('g + 1', '4')} from t", _TABLES, ranks=ranks)
    check(f"select g, {listed} from t where g is not null group by g", _TABLES, ranks=ranks)
    check(f"select {listed.replace('g + 1', '4')} from t where false", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_first_few_with_nulls(ranks: int) -> None:
    calls = [f"{name}(id, [n, id]{count})" for name in _NULLS_LAST for count in ("", ", 2")]
    calls += [
        f"{name}(n, case when id % 3 > 0 then id end{count})" for name in _NULLS_LAST for count in ("", ", 3")
    ]
    calls += [f"{name}(n, 1000 * n + id, 400) filter (where id % 2 = 0)" for name in _NULLS_LAST]
    calls += [f"{name}(distinct id % 4, id % 4, 9)" for name in _NULLS_LAST]
    listed = ", ".join(f"{call} as c{place}" for place, call in enumerate(calls))
    check(f"select {listed} from t", _TABLES, ranks=ranks)
    check(f"select g, {listed} from t group by g", _TABLES, ranks=ranks)
    check(f"select {listed} from t where false", _TABLES, ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_most_frequent(ranks: int) -> None:
    calls = [
        f"approx_top_k({value}, {k})" for value in ("n % 3", "(n % 4)::varchar", "[n % 2]") for k in (2, 9)
    ]
    listed = ", ".join(f"{call} as c{place}" for place, call in enumerate(calls))
    check(f"select {listed} from t where n is not null", _TABLES, ranks=ranks)
    tied = {"t": pa.table({"x": ["b", "a", "a", "c", "b", None, "c", "d"]})}
    check(
        "select approx_top_k(x, 3) as k, approx_top_k(x, 1) filter (where x > 'x') as n from t",
        tied,
        ranks=ranks,
    )


@pytest.mark.parametrize("ranks", [1, 3])
def test_quantiles_of_other_types(ranks: int) -> None:
    moments = [
        "date '2020-01-01' + n::int",
        "timestamp '1960-01-01' + to_microseconds(n)",
        "time '12:00' + to_seconds(n)",
    ]
    moments += [
        f"(timestamp '2020-01-01' + to_seconds(n))::{kind}" for kind in ("timestamp_s", "timestamp_ns")
    ]
    zoned = "(timestamp '2020-01-01' + to_seconds(n))::timestamptz"  # whose zone has another name in DuckDB
    calls = [f"median({value})" for value in [*moments, "[n]", "{'a': n}"]]
    calls += [f"mad({value})" for value in moments[:4]]
    calls += [f"quantile_cont({value}, [0.1, 0.77])" for value in moments]
    calls += [f"epoch_us(median({zoned}))", f"mad({zoned})"]
    calls += [
        "quantile_disc([n], 0.3)",
        "quantile_disc({'a': n}, [0.3, 1])",
        "median([n]) filter (where n > 4)",
    ]
    calls += ["mode([coalesce(g, 3)])", "reservoir_quantile(n, 0.3)"]
    calls += ["reservoir_quantile(n, [0, 0.5, 1])", "reservoir_quantile(n::double, 0.9, 1000)"]
    listed = ", ".join(f"{call} as c{place}" for place, call in enumerate(calls))
    check(f"select g, {listed} from t where n is not null group by g", _TABLES, ranks=ranks)
    check(f"select {listed} from t where n is not null", _TABLES, ranks=ranks)
    check(f"select {listed} from t where false", _TABLES, ranks=ranks)
    window = "(partition by g order by id rows between 6 preceding and current row)"
    windows = ", ".join(
        f"{call} over {window} as w{place}" for place, call in enumerate(calls[:3] + calls[8:11])
    )
    check(f"select id, {windows} from t", _TABLES, ranks=ranks)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "select histogram(n, [1, null]) from t",
            "bins of a histogram that are NULL, or have NULL among them",
        ),
        ("select histogram(n, null::bigint[]) from t", "bins of a histogram that are NULL"),
        (
            "select histogram(n, case when id > 400 then [id] end) over (order by id) from t",
            "bins of a histogram that are NULL",
        ),
        (
            "select equi_width_bins(s, s, 2, true) as x from (select 'a' as s)",
            "equi_width_bins of what is no number",
        ),
        *[
            (f"select equi_width_bins({arguments}, true)", "equi_width_bins needs two finite ends")
            for arguments in ("0.0, -1.0, 5", "0, 'inf'::double, 5", "0, 1, 0", "0, 1, 1000001")
        ],
        *[
            (f"select {call} from t", "n of min, max, arg_min, arg_max and approx_top_k must be 1 to 999999")
            for call in ("max(n, 0)", "arg_min(n, id, 1000000)", "approx_top_k(n, -1)", "min(n, null::int)")
        ],
    ],
)  # fmt: skip
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(query, _TABLES)
