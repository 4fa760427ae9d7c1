"""hr.cluster: the processes that a launcher has started run one query after another together."""

from __future__ import annotations

import re
import signal
import socket
import textwrap
import time
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from launched_ranks import Ended, Ranks, left_behind, started_program
from tpch_queries import QUERIES

pytestmark = pytest.mark.waits

HOST = socket.gethostname()
HEAD = """
import os, sys, time
import headrace as hr, headrace.array as ha, numpy as np, pyarrow as pa, pyarrow.feather as feather
tables = os.environ["TABLES"]
folder = os.environ["FOLDER"]
"""
#: Hours of work.
LONG = """
select count(*) as n from lineitem a join lineitem b on a.l_linenumber = b.l_linenumber
join lineitem c on a.l_linenumber = c.l_linenumber
and a.l_extendedprice + c.l_tax < b.l_extendedprice + c.l_extendedprice
"""


def started(body: str, folder: Path, tables: Path, size: int = 3, **variables: str) -> Ranks:
    return started_program(HEAD + textwrap.dedent(body), folder, size, TABLES=str(tables), **variables)


def ended(body: str, folder: Path, tables: Path, size: int = 3, **variables: str) -> list[Ended]:
    with started(body, folder, tables, size, **variables) as ranks:
        found = ranks.ended()
    assert [each.status for each in found] == [0] * size, [each.errors[-2000:] for each in found]
    assert left_behind(folder / "meeting") == []
    return found


def answer_of_all(query: str, folder: Path, tables: Path) -> pa.Table:
    """What processes that run it together answer; the query names files of the folder."""
    ended(
        f"""
        os.chdir(folder)
        with hr.cluster() as group:
            found = hr.sql({query!r})
            if group.rank == 0:
                feather.write_feather(found, f"{{folder}}/found.arrow")
        """,
        folder,
        tables,
    )
    return feather.read_table(folder / "found.arrow")


def test_one_query_after_another(tpch_small: Path, tmp_path: Path) -> None:
    names = ["01", "03", "05", "13", "18"]
    texts = {name: (QUERIES / f"q{name}.sql").read_text() for name in names}
    ended(
        f"""
        with hr.cluster() as group:
            assert group.size == 3
            assert group.name == f"rank {{group.rank}} on host {HOST}"
            for name, text in {texts!r}.items():
                table = hr.sql(text, tables)
                if group.rank == 0:
                    assert hr.last_profile().run["ranks"] == 3
                    feather.write_feather(table, f"{{folder}}/{{name}}.arrow")
                else:
                    assert table is None
        assert hr.sql("select 1 as x", {{}}).num_rows == 1  # on its own again
        """,
        tmp_path,
        tpch_small,
    )
    for name, text in texts.items():
        found, alone = feather.read_table(tmp_path / f"{name}.arrow"), hr.sql(text, tpch_small)
        order = [(column, "ascending") for column in alone.column_names]
        assert found.sort_by(order).equals(alone.sort_by(order)), name


def test_arrays_and_tables_in_memory(tpch_small: Path, tmp_path: Path) -> None:
    ended(
        """
        @hr.jit
        def layer(x, y):
            return ha.tanh(x @ y)

        @hr.jit
        def sums(rows):
            return ha.sum(rows, axis=0)

        x, y = np.arange(64 * 32.0).reshape(64, 32) / 1000, np.ones((32, 16))
        table = pa.table({"k": range(1000), "v": [i % 7 for i in range(1000)]})
        with hr.cluster() as group:
            for scale in (1, 2):
                found = layer(x * scale, y)
                assert np.allclose(found, np.tanh(x * scale @ y)) if group.rank == 0 else found is None
            found = hr.sql("select v, count(*) as n from t group by v order by v", {"t": table})
            if group.rank == 0:
                assert found["n"].to_pylist() == [143] * 6 + [142]
            found = sums(hr.query("select k from t where v < 3", {"t": table}).to_tensor(["k"]))
            if group.rank == 0:
                assert found[0] == sum(k for k in range(1000) if k % 7 < 3)
            text = "EXPLAIN ANALYZE select count(*) from lineitem"
            found = hr.sql(text, tables)
            assert "lineitem" in str(found) if group.rank == 0 else found is None
            program = hr.mlir(
                "func.func @f(%x: tensor<64x32xf64>) -> tensor<64x32xf64> {\\n"
                "  %y = arith.addf %x, %x : tensor<64x32xf64>\\n"
                "  return %y : tensor<64x32xf64>\\n}"
            )
            found = program(x)
            assert np.allclose(found, x + x) if group.rank == 0 else found is None
        """,
        tmp_path,
        tpch_small,
    )


def test_an_error_is_the_same_on_all_ranks_and_the_next_query_runs(tpch_small: Path, tmp_path: Path) -> None:
    found = ended(
        """
        def refused(kind, call):
            try:
                call()
            except hr.HeadraceError as error:
                assert error.kind == kind, (error.kind, error)
                print(str(error).splitlines()[0])
            else:
                raise AssertionError(kind)

        rows = pa.table({"k": range(1000)})
        with hr.cluster() as group:
            refused("user", lambda: hr.sql("select nonsense from lineitem", tables))
            refused("data", lambda: hr.sql("select max(1 // (l_orderkey - 60000)) from lineitem", tables))
            query = "select count(*) as n from lineitem"
            for memory in ("10KB", "50KB", "70KB", "100KB", "150KB"):
                refused("memory", lambda: hr.sql(query, tables, memory=memory if group.rank == 1 else None))
            own = pa.table({"k": range(group.rank, 1000 + group.rank)})
            refused("mismatch", lambda: hr.sql("select sum(k) from t", {"t": own}))
            given = {"t": rows} if group.rank < 2 else {}
            refused("mismatch", lambda: hr.sql("select sum(k) from t", given))
            refused("mismatch", lambda: hr.sql(f"select {group.rank // 2} as n", {}))
            refused("user", lambda: hr.sql(query, tables, ranks=2))
            refused("user", lambda: hr.sql(query, tables, mesh="a:2,b:2"))
            refused("user", lambda: hr.sql(query, tables, simulation_seed=1))
            refused("cancelled", lambda: hr.sql(query, tables, timeout=1e-9))
            table = hr.sql(query, tables)
            if group.rank == 0:
                assert table["n"].to_pylist() == [60175]
        """,
        tmp_path,
        tpch_small,
    )
    lines = [each.output.splitlines() for each in found]
    assert lines[0] == lines[1] == lines[2]
    expected = [
        "no such column: nonsense",
        rf"rank [012] on host {HOST}: division by zero",
        *[rf"rank 1 on host {HOST}: .*out of host memory"] * 5,
        rf"rank 1 on host {HOST}: all ranks give the same tables and arrays in memory; this .* another",
        rf"rank 2 on host {HOST}: all ranks give the same .* gives none than rank 0 as: t",
        rf"rank 2 on host {HOST}: all ranks make the same calls .*; rank 0 makes 'sql select 0",
        "the cluster has 3 ranks, got ranks=2",
        "the mesh a:2,b:2 has 4 ranks, the cluster 3",
        "simulation_seed is for ranks of one process",
        "the query took longer than its timeout: 1e-09 s",
    ]
    for line, pattern in zip(lines[0], expected, strict=True):
        assert re.match(pattern, line), line


def test_any_rank_may_stop_a_query(tpch_small: Path, tmp_path: Path) -> None:
    with started(
        f"""
        with hr.cluster() as group:
            assert group.size == 3
            open(f"{{folder}}/ready.{{group.rank}}", "w").close()
            try:
                hr.sql({LONG!r}, tables)
            except KeyboardInterrupt:
                print("interrupted")
            except hr.errors.CancelledError as error:
                print(error)
            table = hr.sql("select count(*) as n from lineitem", tables)
            if group.rank == 0:
                print(table["n"][0])
        """,
        tmp_path,
        tpch_small,
    ) as ranks:
        wait_for(tmp_path, 3)
        time.sleep(1)
        ranks.processes[1].send_signal(signal.SIGINT)
        found = ranks.ended()
    assert [each.status for each in found] == [0] * 3, found
    stopped = f"rank 1 on host {HOST}: stopped by the user\n"
    assert [each.output for each in found] == [stopped + "60175\n", "interrupted\n", stopped], found


def wait_for(folder: Path, count: int) -> None:
    end = time.monotonic() + 60
    while len(list(folder.glob("ready.*"))) < count:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_rank_that_leaves_is_missed_at_the_next_query(tpch_small: Path, tmp_path: Path) -> None:
    found = ended(
        """
        with hr.cluster() as group:
            hr.sql("select count(*) as n from lineitem", tables)
            if group.rank == 1:
                sys.exit()
            try:
                hr.sql("select count(*) as n from orders", tables)
            except hr.HeadraceError as error:
                print(error.kind, error)
        try:
            group.call("x", lambda: 1)
        except hr.HeadraceError as error:
            print(error)
        """,
        tmp_path,
        tpch_small,
    )
    for rank in (0, 2):
        assert found[rank].output.splitlines() == [
            f"io a rank has left the cluster: rank 1 on host {HOST}",
            "this process has left the cluster",
        ]


def test_no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADRACE_RANK", raising=False)
    with pytest.raises(hr.errors.UserError, match="no launcher has started this process"):
        hr.cluster()
    with pytest.raises(hr.errors.UserError, match=r"expected a launcher \(torchrun, mpi,"):
        hr.cluster("cron")


def test_one_cluster_at_a_time(tpch_small: Path, tmp_path: Path) -> None:
    ended(
        """
        with hr.cluster() as group:
            try:
                with group:
                    pass
            except hr.errors.UserError as error:
                assert "a rank of a cluster already" in str(error)
        """,
        tmp_path,
        tpch_small,
        size=1,
    )


@pytest.mark.parametrize("lost", [0, 2])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
@pytest.mark.parametrize("when", ["in a run", "before a call"])
def test_a_lost_rank_is_named_on_all_others(
    how: signal.Signals, lost: int, when: str, tpch_small: Path, tmp_path: Path
) -> None:
    """Within 10 s, by default; then every call says so, and the processes end."""
    with started(
        f"""
        with hr.cluster(on_loss="fail") as group:
            open(f"{{folder}}/ready.{{group.rank}}", "w").close()
            if group.rank == {lost} and {when == "before a call"}:
                time.sleep(3600)
            for text in ({LONG!r}, "select 1 as x"):
                try:
                    hr.sql(text, tables)
                except hr.HeadraceError as error:
                    print(f"{{time.time():.2f}} {{error.kind}} {{error}}")
        """,
        tmp_path,
        tpch_small,
    ) as ranks:
        wait_for(tmp_path, 3)
        time.sleep(1)
        at = time.time()
        ranks.processes[lost].send_signal(how)
        others = [process for rank, process in enumerate(ranks.processes) if rank != lost]
        for process in others:
            process.wait(timeout=60)
        found = [process.communicate() for process in others]
        ranks.processes[lost].send_signal(signal.SIGCONT)
        time.sleep(0.5)
        ranks.processes[lost].send_signal(signal.SIGINT)  # of its sleep, if it was before a call
        ranks.processes[lost].wait(timeout=60)
    for output, errors in found:
        assert errors == ""
        first, second = output.splitlines()
        seconds, _, error = first.partition(" ")
        limit = 3 if how == signal.SIGKILL else 10
        assert float(seconds) - at < limit, first
        assert error.startswith("io "), error
        assert error.endswith(f"rank {lost} on host {HOST}"), error
        assert second.endswith(error), "and it stays so"
    assert left_behind(tmp_path / "meeting") == []
