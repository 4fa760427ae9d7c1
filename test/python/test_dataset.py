"""`hr.persist`: rows that stay on the ranks that made them are a table for the queries that follow."""

from __future__ import annotations

import datetime
import gc
import json
import subprocess
import time
import warnings
import weakref
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, same
from headrace._src.engines import driver
from headrace._src.programs import Target
from headrace._src.query import plan_cache
from headrace._src.query.compiled_query import load_query
from headrace._src.query.tables import resolve
from rank_processes import Processes
from test_cluster import ended

_ROWS = 6000
T = pa.table(
    {
        "k": [i * 7 % 500 for i in range(_ROWS)],
        "v": [None if i % 11 == 0 else i % 97 for i in range(_ROWS)],
        "s": [None if i % 13 == 0 else f"x{i % 77}" for i in range(_ROWS)],
        "f": [float("nan") if i % 50 == 0 else i / 8 for i in range(_ROWS)],
    }
)
U = pa.table({"k": [None if i % 9 == 0 else i for i in range(700)], "w": [i % 5 for i in range(700)]})
MADE = [
    "select k, sum(v) as v, min(s) as s, count(*) as n from t group by k",
    "select * from t where v > 40",
    "select t.k, v, w from t join u using (k)",
    "select t.k, v, s, w from t left join u on t.k = u.k and w > 1",
    "select s, max(f) as v, min(k) as k from t group by s",
    "select count(*) as v, 3 as k, 'a' as s from t",
    "select k, v from t where k < 0",
    "select distinct k, v, s from t order by v, s desc, k limit 900",
    "select k, v from t union all select k, w from u",
    "select * from (values (1, 2), (3, NULL)) as x(k, v)",
    "select 1 as k, 2 as v where false",
]
READ = [
    "select count(*) as n, sum(v) as v, min(k) as least, max(k) as most from d",
    "select k, count(*) as n, sum(v) as v from d group by k",
    "select d.k, u.w, count(*) as n from d join u on d.k = u.k group by d.k, u.w",
    "select u.k, u.w, d.v from u left join d on d.k = u.k and d.v > 3",
    "select a.k, count(*) as n from d a join d b on a.k = b.k group by a.k",
    "select k, v, row_number() over (partition by k order by v nulls first) as r from d",
    "select w from u where k in (select k from d)",
]


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("made", MADE)
def test_answers_are_those_of_the_query_in_its_place(made: str, ranks: int) -> None:
    tables = {"t": T, "u": U}
    for by, seed in (([], None), (["k"], 5), (["v", "k"], None)):
        dataset = hr.persist(made, tables, by=by, ranks=ranks)
        assert dataset is not None
        assert len(dataset.rows) == ranks
        same(dataset.collect(), answer(made, tables))
        for read in READ:
            found = hr.sql(read, {"d": dataset, "u": U}, ranks=ranks, layout_seed=seed)
            same(found, answer(f"with d as ({made}) {read}", tables))


#: Beside NULL.
KEYS: dict[str, list[Any]] = {
    "tinyint": [-128, 127, 0],
    "bigint": [-(2**63), 2**63 - 1, 5],
    "hugeint": [-(2**100), 10**38 - 1, 5],
    "uhugeint": [0, 10**38 - 1],
    "utinyint": [0, 255],
    "ubigint": [0, 2**64 - 1],
    "double": [0.0, -0.0, float("nan"), 1e300],
    "float": [0.5, float("inf")],
    "varchar": ["", "a", "a" * 100, "ä"],
    "boolean": [True, False],
    "date": [datetime.date(1, 1, 1), datetime.date(2024, 2, 29)],
    "timestamp": [datetime.datetime(1969, 12, 31, 23, 59, 59, 5), datetime.datetime(2024, 1, 1)],
    "time": [datetime.time(1, 2, 3, 4)],
    "decimal(4, 2)": [Decimal("12.34"), Decimal("-0.01")],
    "decimal(30, 5)": [Decimal("1234567890123456789.12345"), Decimal(1)],
    "blob": ["", "a", "\\x00\\xFF"],
    "uuid": ["0" * 32, "f" * 32, "80" + "0" * 30],
    "integer[]": [[], [1], [2, 1]],
}


@pytest.mark.parametrize("kind", KEYS)
def test_equal_keys_of_every_type_lie_together(kind: str) -> None:
    """What stays by the hash of keys meets rows of other tables that are exchanged by them."""
    values = [f"({v})" if isinstance(v, list) else f"('{v}')" for v in KEYS[kind]]
    values.append("(null)")
    keys = f"select x::{kind} as k from (values {', '.join(values)}) v(x)"
    text = f"select k, i from ({keys}), range(40) r(i)"
    for ranks in (1, 3):
        dataset = hr.persist(text, by="k", ranks=ranks)
        for read in (
            "select k, count(*) as n from d group by k",
            f"select d.k, count(*) as n from d join ({text} where i < 3) e on d.k = e.k group by d.k",
            f"select d.k from d where not exists (from ({text} where i < 2) e where d.k = e.k)",
        ):
            for seed in (None, 1, 2):
                found = hr.sql(read, {"d": dataset}, ranks=ranks, layout_seed=seed)
                same(found, answer(f"with d as ({text}) {read}", {}))


def _exchanges(text: str, tables: dict[str, Any], ranks: int) -> list[str]:
    loaded = load_query(text, resolve(tables), Target.of(ranks, "ethernet-slow", None))
    tasks = json.loads(loaded.compiled.plan_json)["tasks"]
    return [task["exchange"] for task in tasks if task["kind"] == "exchange"]


def test_rows_that_lie_together_are_not_exchanged_again() -> None:
    left = hr.persist("select k, sum(v) as v from t group by k", {"t": T}, by="k", ranks=4)
    right = hr.persist("select k, w from u", {"u": U}, by=["k"], ranks=4)
    joined = "select count(*) as n, sum(v * w) as x from a join b on a.k = b.k"
    # One exchange, of the ranks' counts.
    assert _exchanges(joined, {"a": left, "b": right}, 4) in (["gather"], ["broadcast"])
    whole = pa.table({"k": range(300_000), "v": [i % 90_000 for i in range(300_000)]})
    other = hr.persist("select k, v from t", {"t": whole}, by="k", ranks=4)
    groups = "select {0}, count(*) as n from a group by {0} having n > 7"
    assert "hash" in _exchanges(groups.format("v"), {"a": other}, 4)
    assert "hash" not in _exchanges(groups.format("k"), {"a": other}, 4)
    grouped = "select max(n) as n from (select k, count(*) as n from a group by k)"
    assert _exchanges(grouped, {"a": left}, 4) in (["gather"], ["broadcast"])
    # What a plan leaves by keys of its own is known as well.
    by_plan = hr.persist(
        "select k, sum(v) as v from t group by k", {"t": T}, ranks=4, topology="ethernet-slow"
    )
    assert by_plan is not None
    assert by_plan.parts.document.count('"resident":["k"]') == 1


def test_order_is_that_of_the_ranks() -> None:
    dataset = hr.persist("select k, v from t order by v desc nulls last, k", {"t": T}, ranks=3)
    found = hr.sql("select k, v, rowid as i from d", {"d": dataset}, ranks=3)
    wanted = answer("select k, v from t order by v desc nulls last, k", {"t": T})
    assert found["v"].to_pylist() == wanted["v"].to_pylist()
    assert found["i"].to_pylist() == list(range(_ROWS))
    assert hr.sql("select v from d limit 5", {"d": dataset}, ranks=3)["v"].to_pylist() == [96] * 5
    again = hr.persist("select * from d where v > 90", {"d": dataset}, ranks=3)
    assert again is not None
    assert again.column_names == ["k", "v"]
    assert again.num_rows == len(again) == sum(v is not None and v > 90 for v in T["v"].to_pylist())


def test_rows_of_a_table_stay_in_its_order() -> None:
    rows = pa.table({"n": range(700_000), "v": [i * 7 % 31 for i in range(700_000)]})
    for seed in (None, 1, 2):
        dataset = hr.persist(
            "select n, v + 1 as v from t where v < 20", {"t": rows}, ranks=3, layout_seed=seed, threads=2
        )
        assert dataset is not None
        wanted = [i for i in range(700_000) if i * 7 % 31 < 20]
        assert dataset.collect()["n"].to_pylist() == wanted
        found = hr.sql("select n from d limit 4 offset 1000", {"d": dataset}, ranks=3, layout_seed=seed)
        assert found["n"].to_pylist() == wanted[1000:1004]


def test_in_sessions_frames_and_arrays() -> None:
    dataset = hr.persist("select k, v from t where v is not null", {"t": T}, ranks=2)
    assert dataset is not None
    assert str(dataset) == f"Dataset of {dataset.num_rows} rows on 2 ranks: k, v"
    assert dataset.nbytes > 0
    wanted = sum(v for v in T["v"].to_pylist() if v is not None)
    session = hr.connect(ranks=2)
    session.register("d", dataset)
    assert session.sql("select sum(v) as v from d").arrow()["v"].to_pylist() == [wanted]
    frame = dataset.lazy().filter(hr.col("k") < 10).select(hr.col("v").sum())
    less = sum(
        v for k, v in zip(T["k"].to_pylist(), T["v"].to_pylist(), strict=True) if v is not None and k < 10
    )
    assert frame.collect(ranks=2)["v"].to_pylist() == [less]

    @hr.jit(ranks=2)
    def total(rows: Any) -> Any:
        return hr.array.sum(rows, axis=0)

    assert total(hr.query("select v from d", {"d": dataset}).to_tensor(["v"]))[0] == wanted


def test_frames_stay_too() -> None:
    frame = hr.from_arrow(T).filter(hr.col("v") > 3).group_by("k").agg(hr.col("v").sum())
    dataset = frame.persist(ranks=2, by="k")
    assert dataset.column_names == ["k", "v"]
    same(
        hr.sql("select k, v from d", {"d": dataset}, ranks=2),
        answer("select k, sum(v)::bigint as v from t where v > 3 group by k", {"t": T}),
    )


def test_not_where_the_rows_are(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = hr.persist("select k from t", {"t": T})
    assert dataset is not None
    monkeypatch.setattr("headrace._src.query.dataset.current", lambda: object())
    with pytest.raises(
        hr.errors.UserError,
        match="the rows of a dataset are on the ranks of this process, and the query is not run there",
    ):
        _ = dataset.parts


def test_mistakes() -> None:
    dataset = hr.persist("select k from t", {"t": T}, ranks=2)
    with pytest.raises(
        hr.errors.UserError,
        match="the rows of a table lie on 2 ranks, each of which reads its own, and the query runs on 3: d",
    ):
        hr.sql("select sum(k) from d", {"d": dataset}, ranks=3)
    with pytest.raises(hr.errors.UserError, match="the result has no column to divide its rows by: z"):
        hr.persist("select k from t", {"t": T}, ranks=2, by="z")
    with pytest.raises(hr.HeadraceError, match="a table whose columns have one name cannot be read"):
        hr.persist("select k as a, v as a from t", {"t": T})
    for text in ("copy (from t) to 'x.parquet'", "describe t", "explain select 1"):
        with pytest.raises(hr.errors.UserError, match="persist takes a query that gives rows"):
            hr.persist(text, {"t": T})


def test_a_plan_in_a_folder_has_no_use_for_rows_that_stay(tmp_path: Path) -> None:
    loaded = load_query("select 1 as k", resolve({"t": T}), replace(Target.of(1, None, None), resident=()))
    plan_cache.write(tmp_path / "x.plan", loaded.compiled)
    done = subprocess.run(
        ["headrace-run", tmp_path / "x.plan"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode != 0
    assert "this plan's result stays on the ranks" in done.stderr


# Ranks that a launcher has started


@pytest.mark.waits
def test_processes_of_a_launcher(tpch_small: Path, tmp_path: Path) -> None:
    ended(
        """
        made = "select l_orderkey as k, sum(l_quantity) as q from lineitem group by l_orderkey"
        read = "select count(*) as n, sum(q) as q from d join orders on k = o_orderkey"
        with hr.cluster() as group:
            class Frame:  # a data frame has its columns as attributes
                here = "a column"
                def __arrow_c_stream__(self, requested_schema=None):
                    return pa.table({"x": [1, 2]}).__arrow_c_stream__(requested_schema)
            hr.sql("select sum(x) as x from f", {"f": Frame()})
            d = hr.persist(made, tables, by="k")
            assert len(d.rows) == 3 and min(d.rows) > 0, d.rows
            assert d.column_names == ["k", "q"]
            found = hr.sql(read, {"d": d, "orders": f"{tables}/orders.parquet"})
            rows = d.collect()
            e = hr.persist("select k % 7 as k, max(q) as q from d group by 1", {"d": d})
            few = hr.sql("select count(*) as n, max(q) as q from e", {"e": e})
            try:
                hr.persist("select 1 // (k - k) as x from d", {"d": d})
            except hr.errors.DataError as error:
                assert "division by zero" in str(error)
            again = hr.sql("select count(*) as n from d", {"d": d})
        try:
            hr.sql("select * from d", {"d": d})
        except hr.errors.UserError as error:
            assert "on the ranks of a cluster, and the query is not run there" in str(error)
        wanted = hr.sql(made, tables)
        if group_rank := os.environ["HEADRACE_RANK"] != "0":
            assert found is None and rows is None
        else:
            assert rows.num_rows == wanted.num_rows == d.num_rows
            total = sum(wanted["q"].to_pylist())
            assert found.to_pylist() == [{"n": wanted.num_rows, "q": total}], found
            assert few.to_pylist() == [{"n": 7, "q": max(wanted["q"].to_pylist())}]
            assert again["n"].to_pylist() == [wanted.num_rows]
        """,
        tmp_path,
        tpch_small,
    )


@pytest.mark.waits
def test_a_rank_of_a_launcher_that_is_lost(tpch_small: Path, tmp_path: Path) -> None:
    from test_cluster import started

    body = """
        import warnings
        warnings.simplefilter("ignore")
        with hr.cluster(settings={"peerTimeout": 3}) as group:
            d = hr.persist("select l_orderkey as k from lineitem", tables)
            if group.rank == 2:
                os.kill(os.getpid(), 9)
            try:
                hr.sql("select count(*) as n from d", {"d": d})
                raise SystemExit("rows of a lost rank were counted")
            except hr.errors.InputOutputError as error:
                assert "ranks that had rows of a dataset have changed: persist it again" in str(error)
            d = hr.persist("select l_orderkey as k from lineitem", tables)
            n = hr.sql("select count(*) as n from d", {"d": d})
            if group.rank == 0:
                print(n["n"].to_pylist())
        """
    with started(body, tmp_path, tpch_small) as ranks:
        found = ranks.ended()
    assert [each.status for each in found] == [0, 0, -9], [each.errors[-2000:] for each in found]
    rows = hr.sql("select count(*) as n from lineitem", tpch_small)["n"].to_pylist()
    assert found[0].output.split()[-1] == str(rows)


# Ranks of an engine, which a driver leads

SETTINGS = {"threads": "1", "memory": str(200 << 20)}


@pytest.mark.waits
def test_ranks_of_an_engine(engine: Processes) -> None:
    with driver.Driver(driver.RemoteRanks(engine, SETTINGS), "shrink") as group:
        dataset = hr.persist("select k, sum(v) as v from t group by k", {"t": T}, by="k")
        assert dataset is not None
        assert len(dataset.rows) == 3
        assert dataset.parts.table is None
        wanted = answer("select k, sum(v) as v from t group by k", {"t": T})
        same(dataset.collect(), wanted)
        text = "select count(*) as n, sum(d.v) as v from d join t using (k)"
        expected = answer(f"with d as (select k, sum(v) as v from t group by k) {text}", {"t": T})
        same(hr.sql(text, {"d": dataset, "t": T}), expected)
        engine.more(1)
        group.resize(4)  # the query is run again, on those that there are
        same(hr.sql(text, {"d": dataset, "t": T}), expected)
        assert len(dataset.rows) == 4
        group.resize(2)
        same(hr.sql(text, {"d": dataset, "t": T}), expected)
        engine.kill(group._handle._ranks[1].process)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            same(hr.sql(text, {"d": dataset, "t": T}), expected)
        parts = weakref.ref(dataset.parts)
        del dataset
        hr.sql("select count(*) from t", {"t": T})
        gc.collect()
        assert parts() is None
        hr.sql("select count(*) from t", {"t": T})
        left = {identity for member in group._handle._lobby.members for identity, _ in member.holds}
        assert left == {group._handle._tables.identity(T)}


@pytest.mark.waits
def test_a_time_limit_counts_while_rows_are_made_again(engine: Processes) -> None:
    with driver.Driver(driver.RemoteRanks(engine, SETTINGS), "shrink") as group:
        text = "select a.x, b.y from range(3000) a(x) join range(2000) b(y) on x % 7 = y % 7"
        dataset = hr.persist(text)
        group.resize(2)
        begun = time.monotonic()
        with pytest.raises(hr.errors.QueryTimeoutError):
            hr.sql("select count(*) as n from d", {"d": dataset}, timeout=0.01)
        assert time.monotonic() - begun < 10
        found = hr.sql("select count(*) as n from d", {"d": dataset})
        assert found["n"].to_pylist() == answer(f"select count(*) as n from ({text})", {})["n"].to_pylist()
