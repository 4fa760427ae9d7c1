"""`unnest` of lists that are computed: each is made once for its row, whatever reads it, against DuckDB."""

from __future__ import annotations

import os
import subprocess
import sys

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check

_ROWS = range(300)
TABLES = {
    "t": pa.table(
        {
            "k": pa.array(_ROWS, pa.int32()),
            "i": [None if k % 7 == 0 else [k + j if j != 2 else None for j in range(k % 5)] for k in _ROWS],
            "s": [None if k % 11 == 0 else " ".join(f"w{k * j % 13}" for j in range(k % 4)) for k in _ROWS],
        }
    ),
    "d": pa.table({"e": pa.array(range(0, 400, 3), pa.int64()), "name": [f"n{e}" for e in range(0, 400, 3)]}),
}
_MADE = "list_transform(i, lambda x: x * 2)"
_TEXTS = "list_transform(i, lambda x: x::varchar || '-' || coalesce(s, 'none of them'))"
_NESTED = "list_transform(i, lambda x: [x, k, null])"
_STRUCTS = "list_transform(i, lambda x: {'a': x, 'b': x::varchar || ' of a row'})"

QUERIES = [
    *(f"select k, unnest({made}) as e from t" for made in (_MADE, _TEXTS, _NESTED, _STRUCTS)),
    f"select k, e from t, unnest({_MADE}) u(e)",
    f"select k, e from t left join unnest({_TEXTS}) u(e) on true",
    f"select k, e, p from t, unnest({_MADE}) with ordinality u(e, p)",
    f"select generate_subscripts({_MADE}, 1) as n, unnest({_MADE}) as e from t",
    # Side by side: short ones are filled up with NULL.
    f"select k, unnest({_MADE}) as a, unnest({_TEXTS}) as b, unnest(range(k % 3)) as c, unnest(i) as d"
    " from t",
    f"select k, unnest({_MADE}) as a, upper(s) as b, string_split(s, ' ') as c, list_sum(i) as d from t",
    "select k, unnest(string_split(s, ' ')) as w, length(s) as n from t",
    "select k, unnest(case when k % 2 = 0 then range(k % 6) when k % 3 = 0 then [] end) as e from t",
    # What is made of lists above them.
    f"select k, unnest(l) as e, list_sum(l) as n, list_sort(l)[2] as m from (select k, {_MADE} as l from t)",
    f"select k, e, len(l) as n, l[e % 4] as m, upper(s) || e as z"
    f" from (select *, unnest({_MADE}) as e, i as l from t)",
    # One behind the other.
    f"select k, a, b from t, unnest({_MADE}) u(a), unnest(range(a % 4)) v(b)",
    f"select k, unnest(l) as e from (select k, unnest({_NESTED}) as l from t)",
    f"select k, a, unnest(list_transform(l, lambda x: x + a)) as e"
    f" from (select k, unnest({_MADE}) as a, {_MADE} as l from t)",
    # An element and what is made of its whole list, or of others of the row.
    "select k, e from (select k, unnest(i) as e, i from t) where e > list_avg(i)",
    "select k, e - list_sum(i) as d, e + list_count(i) as c, list_max(i) as m"
    " from (select k, unnest(i) as e, i from t)",
    f"select k, a from (select k, unnest(l) as a, l, s from (select k, s, {_TEXTS} as l from t))"
    " where a <> list_max(l) or list_contains(string_split(s, ' '), a)",
    f"select k, case when e > 3 then list_sum(l) when e is null then length(reverse(s)) else k end as x"
    f" from (select k, s, unnest(l) as e, l from (select k, s, {_MADE} as l from t))",
    "select k, a, e from (select k, a, i, unnest([a, k, list_sum(i)]) as e from (select k, i, unnest(i) as a"
    " from t)) where e + a > list_avg(i) and e < list_sum(list_transform(i, lambda x: x + a))",
    "select k, e, name from (select k, i, unnest(i) as e from t) join d using (e)"
    " where e > list_avg(i) and upper(name) > 'N' || list_min(i)",
    f"select k, list_filter(i, lambda x: x >= list_avg(i)) as f, list_transform({_TEXTS}, lambda x, n:"
    f" x || list_min({_TEXTS}) || n) as g from t",
    "select k, list_transform(i, lambda x: list_sum(list_transform(i, lambda y: y - list_max(i) + x))) as f,"
    " list_reduce(i, lambda x, y: x + y - list_sum(i)) as r from (select * from t where len(i) > 0)",
    # Rows beside what is made of them, with other columns of theirs, also where the same come twice.
    "select t.*, e from t, unnest(i) u(e) where e > list_avg(i) or s is null",
    "select t.*, w from t, unnest(string_split(s, ' ')) u(w) where w <> 'w0' and k > 3",
    "select a.s, b.i, w, e from t a join t b on a.k = b.k + 1, unnest(string_split(a.s, ' ')) u(w),"
    " unnest(b.i) v(e) where e % 2 = 0",
    "select s, x, count(*) as c, min(k) as m from t, unnest([s, 'x', s || '!', null]) u(x) group by all",
    "select k, a, b from t, unnest([i, [k, null]]) u(a), unnest(a) v(b) where b > list_avg(a)",
    "select k, q.* from t, lateral (select e, e + len(i) as n, s from unnest(i) u(e) where e > 20) q",
    "select k, q.* from t, lateral (select e, s as z from unnest(i) u(e) where e > k) q where z <> ''",
    "select k, e from t left join unnest(i) u(e) on true where s is not null",
    "select k, u.e from t, unnest(i) u(e), d where d.e = u.e and name > s",
    "select k, e from t, unnest(case when s is null then [k] when k % 2 = 0 then i end) u(e)",
    # What reads the elements: conditions, groups, joins, windows, orders.
    f"select k, e, s || '!' as z from (select k, unnest({_MADE}) as e, lower(s) as s from t) where e % 3 = 0",
    f"select e, count(*) as c, sum(k) as n from (select k, unnest({_TEXTS}) as e from t) group by e",
    f"select k, count(distinct e) as c, max(l) as m"
    f" from (select k, unnest({_MADE}) as e, reverse(s) as l from t) group by k",
    f"select k, name from (select k, unnest({_MADE}) as e from t) join d using (e)",
    f"select k, e, name from (select k, unnest({_MADE}) as e from t) q left join d using (e)",
    f"select a.k, b.k as other, e from (select k, unnest({_MADE}) as e from t) a"
    f" join (select k, unnest({_MADE}) as e from t where k % 5 = 0) b using (e)",
    f"select k, e, sum(e) over (partition by k) as n,"
    f" row_number() over (partition by k order by e nulls first, p) as r"
    f" from (select k, unnest({_MADE}) as e, generate_subscripts({_MADE}, 1) as p from t)",
    f"select k, e from (select k, unnest({_TEXTS}) as e from t) order by e desc nulls last, k limit 50",
    f"select distinct unnest({_TEXTS}) as e from t",
    f"select k, (select sum(e) from unnest({_MADE}) u(e)) as n from t",
]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_duckdbs(query: str, ranks: int) -> None:
    check(query, TABLES, ranks=ranks)


# Rows that come in many rounds, so that the room of a chunk ends in the middle of them.
_LONG = {"t": pa.table({"k": pa.array(range(9), pa.int32())})}
LONG = [
    "select k, unnest(list_transform(range(20000 + k), lambda x: x * k)) as e from t",
    "select k, unnest(list_transform(range(k * 3000), lambda x: 'text ' || (x + k)::varchar)) as e from t",
    "select k, unnest(range(30000 + k)) as a, unnest(range(k * 1000)) as b, repeat('x', k) as c from t",
    "select k, e from (select k, unnest(range(70000 + k)) as e from t) where e % 7 = k",
    "select e % 1000 as g, sum(k) as n, count(*) as c"
    " from (select k, unnest(range(30000 + k)) as e from t) group by g",
    "select a.k, count(*) as c from (select k, unnest(range(5000 + k)) as e from t) a"
    " join (select unnest(list_transform(range(6000 + k), lambda x: x * 2)) as e from t where k < 2) b"
    " using (e) group by a.k",
]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("query", LONG)
def test_rows_of_many_rounds_go_on_where_room_ended(query: str, ranks: int) -> None:
    check(query, _LONG, ranks=ranks, threads=2)


def test_an_error_in_a_list_ends_the_run() -> None:
    made = "list_transform([1], lambda x: case when k = 5 then error('row five') else x end)"
    with pytest.raises(hr.HeadraceError, match="row five"):
        hr.sql(f"select unnest({made}) from t", _LONG)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_list_that_fails_is_an_error_where_an_element_asks_for_it(ranks: int) -> None:
    tables = {"t": pa.table({"k": pa.array(range(9), pa.int32())})}
    lists = "(select k, l, unnest(l) as e from (select k, range(k) as l from t))"
    made = "list_sum(list_transform(l, lambda x: case when x = 6 then error('six') else x end))"
    check(f"select k, e, case when e > k then {made} else 0 end as x from {lists}", tables, ranks=ranks)
    check(f"select k, e from {lists} where k < 7 and e * 3 > {made}", tables, ranks=ranks)
    inside = f"list_transform(l, lambda y: case when y = {{n}} then {made} else y end)"
    check(f"select k, {inside.format(n=-1)} as x from (select k, range(k) as l from t)", tables, ranks=ranks)
    for query in (
        f"select k, e, case when e = 7 then {made} else 0 end as x from {lists}",
        f"select k, e from {lists} where e * 3 > {made}",
        f"select k, {inside.format(n=7)} as x from (select k, range(k) as l from t)",
    ):
        with pytest.raises(hr.HeadraceError, match="six"):
            hr.sql(query, tables, ranks=ranks)


def test_the_room_of_a_row_is_the_next_ones() -> None:
    """The lists of all rows have 320 MB together."""
    tables = {"t": pa.table({"k": pa.array(range(400), pa.int32())})}
    query = "select sum(e) as s, count(*) as n from (select unnest(range(100000 + k % 2)) as e from t)"
    expected = 200 * (sum(range(100_000)) + sum(range(100_001)))
    result = hr.sql(query, tables, memory="64MB", threads=1)
    assert result.to_pylist() == [{"s": expected, "n": 40_000_200}]


# The least of three, in processor seconds: other work on the machine makes them longer, never shorter.
_TIMED = """
import sys
import time
import pyarrow
import headrace as hr
tables = {"t": pyarrow.table({"k": pyarrow.array(range(3), pyarrow.int32())})}
def run(n):
    before = time.process_time()
    hr.sql(sys.argv[1].replace("{n}", str(n)), tables, threads=1)
    return time.process_time() - before
run(10)
print(min(run(int(sys.argv[2])) for _ in range(3)))
"""


def _seconds(query: str, n: int) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, query, str(n)],
        capture_output=True,
        text=True,
        env=os.environ,
        check=True,
    )
    return float(done.stdout)


@pytest.mark.alone
@pytest.mark.parametrize(
    "query",
    [
        "select sum(x) from (select unnest(range({n} + k)) x from t)",
        "select sum(x) from t, unnest(range({n} + k)) u(x)",
        "select max(x) from (select unnest(list_transform(range({n} + k), lambda y: y + 1)) x from t)",
        "select max(x) from (select unnest(list_transform(range({n} + k), lambda y: y::varchar)) x from t)",
        "select sum(x), sum(y)"
        " from (select list_sum(l) x, unnest(l) y from (select range({n} + k) l from t))",
        "select sum(y), sum(x)"
        " from (select unnest(l) y, list_sum(l) x from (select range({n} + k) l from t))",
        "select x from (select unnest(range({n} + k)) x from t)",
        "select sum(x) from (select unnest(l) x, l from (select range({n} + k) l from t))"
        " where x > list_avg(l)",
        "select max(x - list_sum(l)) from (select unnest(l) x, l from (select range({n} + k) l from t))",
        "select max(len(list_filter(l, lambda x: x > list_avg(l)))) from (select range({n} + k) l from t)",
        "select sum(x) from (select range({n} + k) l from t), unnest(l) u(x) where x > list_avg(l)",
        "select max(w) from (select repeat('word ', {n} + k) s from t), unnest(string_split(s, ' ')) u(w)"
        " where length(w) < length(s)",
        "select max(e.value) from (select to_json(range({n} + k)) s from t), json_each(s) e",
        "select sum(e.id), max(e.fullkey) from t, json_tree(to_json(range({n} + k))) e",
    ],
    ids=[
        "sum",
        "lateral",
        "transformed",
        "texts",
        "beside",
        "behind",
        "emitted",
        "condition",
        "mixed",
        "lambda",
        "lateral condition",
        "lateral texts",
        "json rows",
        "json",
    ],
)
def test_four_times_the_elements_take_about_four_times_the_time(query: str) -> None:
    once, more = _seconds(query, 20_000), _seconds(query, 80_000)
    print(f"{once:.3f} s, then {more:.3f} s")
    assert more < 8 * once + 0.5  # quadratic: minutes
