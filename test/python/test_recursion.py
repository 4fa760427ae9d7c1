"""WITH RECURSIVE beside DuckDB: rounds, rows that are known already, keys, recursions in recursions."""

from __future__ import annotations

import random
from types import SimpleNamespace

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check

EDGES = pa.table(
    {"a": [1, 2, 3, 4, 2, None, 7], "b": [2, 3, 4, 1, 5, 1, None], "w": [1.5, 2.0, 0.5, 4.0, 8.0, 1.0, 2.0]}
)

QUERIES = {
    "numbers": "with recursive t(x) as (select 1 union all select x + 1 from t where x < 40) select * from t",
    "of two columns one is read in the step": """
        with recursive p(c, d) as (values ('a', 'b'), ('c', 'd'), ('b', 'c')),
            unused(x, y) as (values (1, 2)), r(c) as (values ('d') union select p.c from p, r where p.d = r.c)
        select * from r""",
    "rows of all rounds": """
        with recursive t(x) as (select 1 union select r.x + t.x from t, recurring.t r where r.x + t.x < 30)
        select * from t""",
    "rows of all rounds, the same ones too": """
        with recursive t(x, n, k) as (
            select range, 0, 0 from range(3) union all
            select x, n + 1, (select count(*) from recurring.t) from t where n < 4)
        select * from t""",
    "all rounds beside each other": """
        with recursive p(c, p) as (values ('c1', 'c2'), ('c3', 'c4'), ('c4', 'c6')),
            s(c, s) as (values ('c1', 'c3'), ('c3', 'c5'), ('c4', 'c7')),
            f(c) as (
                select * from (values ('c2'), ('c4'), ('c5')) v union
                select p.c from p, s, recurring.f a, recurring.f b
                where a.c = p.p and b.c = s.s and p.c = s.c)
        select * from f""",
    "none": """
        with recursive t(x) as (select a from e where a > 99 union all select x + 1 from t)
        select * from t""",
    "one table in two places": """
        with recursive t(x) as (select 1 union all select x + 1 from t where x < 9)
        select l.x, count(*) from t l join t r on l.x < r.x group by l.x""",
    "a cycle ends": """
        with recursive r(n) as (select a from e where a = 1 union select b from r join e on n = a)
        select * from r""",
    "null is known once": """
        with recursive r(n) as (select a from e union select b from r join e on n is not distinct from a)
        select * from r""",
    "paths": """
        with recursive r(n, path, w) as (
            select 1::bigint, '1', 0.0::double
            union all select b, path || '>' || b, r.w + e.w from r join e on n = a where length(path) < 11)
        select * from r""",
    "two references": """
        with recursive f(i, a, b) as (
            select 0, 0::hugeint, 1::hugeint union all select i + 1, b, a + b from f where i < 90)
        select i, a from f where a % 7 = (select count(*) from f where i < 3)""",
    "aggregates in a step": """
        with recursive t(n, x) as (
            select 1, a from e union all select n + 1, s from (select max(n) n, sum(x) s from t) where n < 6)
        select n, count(*), sum(x) from t group by n""",
    "beside others": """
        with recursive e2 as (select a, b from e where w < 5),
            r(n) as (select 1::bigint union select b from r join e2 on n = a),
            s as (select sum(n) as total from r)
        select n, total, (select count(*) from e2) from r, s""",
    "one after another": """
        with recursive r(n) as (select 1::bigint union select b from r join e on n = a),
            s(m) as (select n from r union select m * 10 from s where m < 100)
        select m from s""",
    "one in another": """
        with recursive t(x) as (
            select 1 union all
            select x + (
                with recursive u(y) as (select t.x union all select y + 1 from u where y < 4)
                select max(y) from u)
            from t where x < 30)
        select * from t""",
    "for each row": """
        select x, y from range(1, 5) _(x), lateral (
            with recursive t(y) as (select _.x union all select y + 1 from t where y < 3)
            select * from t) z(y)""",
    "in a subquery": """
        select a, (
            with recursive t(x) as (select e.a union all select x + 1 from t where x < 6)
            select count(*) from t)
        from e where a in (
            with recursive t(x) as (select 1 union select x * 2 from t where x < 9) select x from t)""",
    "other types": """
        with recursive t(d, l, u, b) as (
            select date '2024-02-28', [1], 1::utinyint, true
            union all select (d + interval 1 day)::date, l || [len(l)], u, not b from t where len(l) < 4)
        select * from t""",
    "fields without names": """
        with recursive t(n, x, l, m) as (
            select 0, (1, 'a'), list_zip([1.5::double], ['p']), map {'k': row(null::date, [(2, true)])}
            union select n + 1, (x[1] + 1, x[2]), l || list_zip([0.5::double], [x[2]]), m from t where n < 3)
        select * from t""",
}


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_the_answer_is_duckdbs(query: str, ranks: int) -> None:
    check(query, {"e": EDGES}, ranks=ranks)


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs(seed: int) -> None:
    chance = random.Random(seed)

    def node() -> int | None:
        return None if chance.random() < 0.05 else chance.randrange(40)

    edges = pa.table(
        {
            "a": pa.array([node() for _ in range(70)], pa.int32()),
            "b": pa.array([node() for _ in range(70)], pa.int32()),
        }
    )
    reached = f"""
        with recursive r(n, far) as (
            select a, 0 from e where a % 7 = {seed}
           
            union select b, far + 1 from r join e on n = a where far < 12)
        select n, min(far) from r group by n"""
    check(reached, {"e": edges}, ranks=1 + seed % 3)


KEYED = {
    "one row": "r(k, v) using key (k) as (select 1, 5 union select k, v - 1 from r where v > 0) from r",
    "words in texts and comments": """
        r(k, v) using key (k) as (select 1, 5 union select k, v - 1 from r where v > 0)
        select *, 'r using key (v)' as s from r -- r using key (v)""",
    "the same row": "r(k, v) using key (k) as (select 1, 5 union select k, v from r) from r",
    "the last one": """
        r(k, v) using key (k) as (from (values (1, 5), (1, 1)) union select k, v + 1 from r where v < 7)
        from r""",
    "two keys": """
        r(k, j, v) using key (j, k) as (select 1, 2, 3 union select k, j + 1, v from r where j < 5) from r""",
    "every column": "r(k, v) using key (k, v) as (select 1, 2 union select k, v from r where k < 5) from r",
    "names of the start": """
        "R" using key ("K") as (select 1 as k, 0 as v union select k, v + 1 from r where v < 4) from r""",
    "rows before, all of them": """
        r(k, v, n) using key (k) as (select 1, 0, 0 union all
            select x.k, (select count(*) from r), n + 1 from r, (values (1), (2), (3)) x(k) where n < 3)
        from r""",
    "rows before, one of each key": """
        r(k, v, n) using key (k) as (select 1, 0, 0 union
            select x.k, (select count(*) from recurring.r), n + 1 from r, (values (1), (2), (3)) x(k)
            where n < 3) from r""",
    "read elsewhere": """
        r(k, s) using key (k) as (select 1, 'a' union select k, s || 'b' from r where len(s) < 5),
        q(x) as (select k from r) select * from r, q""",
    "null": """
        r(k, v) using key (k) as (select null, [1] union select k, list_append(v, 2) from r where len(v) < 3)
        from r""",
    "two recursions": """
        r(k, v) using key (k) as (select 1, 5 union select k, v - 1 from r where v > 0),
        s(k, v) using key (v) as (select 1, 5 union select k + 1, v from s where k < 4) from r, s""",
}
#: Components and shortest paths.
_GRAPHS = (
    """with recursive g as (select a, b from e union all select b, a from e), c(n, least) using key (n) as (
        select a, a from g union
        select u.n, min(c.least) from recurring.c u, g, c
        where g.a = u.n and g.b = c.n and c.least < u.least group by u.n) from c""",
    """with recursive d(n, far) using key (n) as (
        select 1, 0::hugeint union
        select b, min(d.far + w) from d join e on d.n = a left join recurring.d k on k.n = b
        where k.far is null or d.far + w < k.far group by b) from d""",
)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("query", KEYED.values(), ids=KEYED)
def test_keys(query: str, ranks: int) -> None:
    check(f"with recursive {query}", {}, ranks=ranks)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("query", _GRAPHS)
def test_keys_of_random_graphs(query: str, seed: int) -> None:
    draw = random.Random(seed)
    edges = [(draw.randrange(1, 30), draw.randrange(1, 30), draw.randrange(1, 9)) for _ in range(40)]
    columns = (pa.array(column, pa.int32()) for column in zip(*edges, strict=True))
    check(query, {"e": pa.table(dict(zip("abw", columns, strict=True)))}, ranks=1 + seed % 3)


def test_keys_in_views() -> None:
    view = f"create view v as with recursive {KEYED['one row']}; "
    assert hr.sql(f"{view}select a.v, b.k from v a, v b").to_pylist() == [{"v": 0, "k": 1}]
    session = hr.connect()
    session.view("v", f"with recursive {KEYED['one row']}")
    both = "with recursive s(k, v) using key (v) as (select 1, 5 union select k + 1, v from s where k < 3)"
    found = session.sql(f"{both} select s.k, v.v from s, v").arrow()
    assert found.to_pylist() == [{"k": 3, "v": 0}]
    for text in (
        f"select * from v, ({both.replace('s(', 'r(').replace('from s', 'from r')} from r)",
        "select * from v, (with r as (select 1) from r)",
        "with recursive s(k, v) using key (k, max(v)) as (select 1, 5 union select k, v from s) from s",
    ):
        with pytest.raises(hr.errors.UnsupportedError, match="USING KEY of what is no column, or where two"):
            session.sql(text)
    with pytest.raises(hr.errors.SqlError, match="no such column: zz"):
        hr.sql("with recursive s(k) using key (zz) as (select 1 union select k from s) from s")


def test_explain_of_keys() -> None:
    shown = hr.explain(f"with recursive {KEYED['one row']}", {})
    assert "start of the recursion" in shown
    assert "step of the recursion" in shown


def test_explain_shows_start_step_and_query() -> None:
    query = """with recursive r(n) as (select a from e where a = 1 union select b from r join e on n = a)
        select count(*) as c from r where n > 2"""
    text = hr.explain(query, {"e": EDGES}, ranks=2)
    assert text.index('start of the recursion "rows of WITH 0":') < text.index(
        'step of the recursion "rows of WITH 0", round after round until a round has no rows; how many it'
        " takes is not known:"
    )
    assert text.index("before of WITH 0") < text.index("\nquery:") < text.rindex("rows of WITH 0")
    shown = hr.sql(f"explain {query}", {"e": EDGES}, ranks=2).column("explain").to_pylist()
    assert [line for line in shown if "solved" not in line] == [
        line for line in text.splitlines() if "solved" not in line
    ]


def test_explain_of_recursions_in_recursions_and_around_tables() -> None:
    query = """with recursive p as materialized (select a + 1 as a from e),
        t(x) as (select min(a) from p union all select x + (
            with recursive u(y) as (select t.x union all select y + 1 from u where y < 4)
            select max(y) from u)
        from t where x < 30)
        select x from t, p where x = p.a limit 3"""
    text = hr.explain(query, {"e": EDGES})
    assert text.count("start of the recursion") == text.count("step of the recursion") == 2
    assert 'table "rows of WITH' in text
    limited = "with recursive t(x) as (select 1 union all select x + 1 from t) select x from t limit 3"
    assert "round after round until there are 3 rows" in hr.explain(limited, {})


def test_explain_analyze_is_refused() -> None:
    query = "explain analyze with recursive t(x) as (select 1 union all select x + 1 from t) select * from t"
    with pytest.raises(
        hr.HeadraceError, match="EXPLAIN ANALYZE of WITH RECURSIVE is not supported; EXPLAIN is"
    ):
        hr.sql(query)


def test_a_limit_ends_a_recursion_without_an_end() -> None:
    query = """with recursive t(x) as (select 1 union all select x + 1 from t)
        select x * 2 as y from t limit 3 offset 2"""
    assert hr.sql(query).column("y").to_pylist() == [6, 8, 10]
    query = """with recursive t(x) as (select 1 union all select x + 1 from t)
        select sum(x) as s from (select -x as x from t limit 4) where x < -1"""
    assert hr.sql(query).column("s").to_pylist() == [-9]


def test_rows_come_round_by_round() -> None:
    query = "with recursive t(x) as (select 5 union all select x - 1 from t where x > 0) select x from t"
    assert hr.sql(query, ranks=2).column("x").to_pylist() == [5, 4, 3, 2, 1, 0]


def test_sessions_run_them() -> None:
    query = "with recursive t(x) as (select $1 union all select x + 1 from t where x < 4) from t"
    assert hr.connect().sql(query, [2]).arrow().column("x").to_pylist() == [2, 3, 4]


def test_errors_of_rounds_are_those_of_the_query() -> None:
    step = "select (x + x)::tinyint from t"
    with pytest.raises(hr.errors.DataError, match="out of range"):
        hr.sql(f"with recursive t(x) as (select 1::tinyint union all {step}) select * from t")
    with pytest.raises(hr.errors.QueryTimeoutError):
        hr.sql("with recursive t(x) as (select 1 union all from t) select count(*) from t", timeout=0.5)


def test_a_plan_has_no_rounds() -> None:
    query = "with recursive t(x) as (select 1 union all select x + 1 from t where x < 3) select * from t"
    with pytest.raises(hr.errors.UnsupportedError, match="WITH RECURSIVE in a plan"):
        hr.lower(query, {})


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = "with recursive t(x) as (select 1 union all select x + 1 from t where x < 3) select x from t"
    deep = numbers.replace("select x from", f"select x{' + x' * 700} from")
    with pytest.raises(hr.errors.SqlError, match="the plan is too deep to be read"):
        hr.sql(deep)
    monkeypatch.setattr("headrace._src.query.sql.current", lambda: SimpleNamespace(rank=0, commits=""))
    monkeypatch.setattr("headrace._src.query.sql._on_all_ranks", lambda call, lead, *_, **options: lead())
    with pytest.raises(hr.errors.UnsupportedError, match="WITH RECURSIVE is not supported in a cluster"):
        hr.sql(numbers)
