"""A driver's script: ranks in the processes of an engine. Run by test_engines.py.

engine_program.py ENGINE QUERIES TABLES FOLDER NAME...
"""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import headrace as hr
import headrace.array as ha
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather

COUNT = "select count(*) as n from lineitem"


@contextmanager
def dask() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit="1GB"
        ) as workers,
        Client(workers) as client,
    ):
        yield client


@contextmanager
def ray() -> Iterator[Any]:
    import ray

    sizes = {"num_cpus": 6, "object_store_memory": 80 << 20, "_memory": 6 << 30}
    with TemporaryDirectory(prefix="ray") as folder:
        ray.init(include_dashboard=False, _temp_dir=folder, **sizes)
        try:
            yield ray
        finally:
            ray.shutdown()


@contextmanager
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    made = SparkSession.builder.master("local-cluster[2,2,1024]").config("spark.ui.enabled", "false")
    session = made.config("spark.executor.pyspark.memory", "3g").getOrCreate()
    try:
        yield session
    finally:
        session.stop()


ENGINES = {"dask": dask, "ray": ray, "spark": spark}


@hr.jit
def network(x: Any, w: Any, v: Any) -> Any:
    return ha.tanh(ha.relu(x @ w) @ v)


def kinds_of_trouble(tables: str) -> None:
    """Errors have the kind and text that they have in one process, and the next query runs."""

    def refused(kind: str, text: str, **options: Any) -> None:
        try:
            hr.sql(text, tables, **options)
        except hr.HeadraceError as error:
            assert error.kind == kind, error
        else:
            raise AssertionError(kind)

    refused("user", "select nonsense from lineitem")
    refused("data", "select max(1 // (l_orderkey - 60000)) from lineitem")
    refused("memory", COUNT, memory="50KB")
    long = "select count(*) from lineitem a join lineitem b on a.l_tax < b.l_quantity join lineitem c on true"
    began = time.monotonic()
    refused("cancelled", long, timeout=0.5)
    assert time.monotonic() - began < 10
    stop = hr.Cancel()
    refused("cancelled", long, cancel=stop, progress=lambda *_: stop.cancel())
    assert hr.sql(COUNT, tables)["n"].to_pylist() == [60175]


def scattered(group: Any) -> None:
    """Each worker has its share of a table of the driver's."""
    rows = pa.table({"k": np.arange(1_000_000) % 10, "v": np.arange(1_000_000)})
    found = hr.sql(
        "select k, sum(v) as v from t group by k order by k", {"t": rows}, topology="ethernet-fast"
    )
    assert [int(v) for v in found["v"].to_pylist()] == [49999500000 + 100000 * k for k in range(10)]
    held = [key[1] for member in group._handle._ranks for key in member.holds if key[1].size > 1]
    assert [(part.index, part.size) for part in held] == [(rank, 4) for rank in range(4)], held


def killed(group: Any, rank: int, tables: str) -> None:
    """The others answer without it, and it comes back."""
    began = time.monotonic()
    os.kill(group._handle._ranks[rank].process, signal.SIGKILL)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert hr.sql(COUNT, tables)["n"].to_pylist() == [60175]
    answered = time.monotonic() - began
    assert any("the cluster goes on with" in str(each.message) for each in said), said

    def back() -> bool:
        assert hr.sql(COUNT, tables)["n"].to_pylist() == [60175]
        return group.size == 4

    until(back)
    back_again = time.monotonic() - began
    print(f"rank {rank} came back after {back_again:.2f} s, an answer after {answered:.2f} s", flush=True)


SUMS = "select k, sum(v) as v from t group by k order by k"


def summed(rows: pa.Table, group: Any, ranks: int) -> float:
    """A query over a table of the script has so many ranks; its seconds."""
    began = time.monotonic()
    found = hr.sql(SUMS, {"t": rows}, topology="ethernet-fast")
    assert [int(v) for v in found["v"].to_pylist()] == [199999000000 + 200000 * k for k in range(10)]
    assert group.size == ranks, group.size
    return time.monotonic() - began


def rows_of_the_script() -> pa.Table:
    return pa.table({"k": np.arange(2_000_000) % 10, "v": np.arange(2_000_000)})


def resized(group: Any) -> None:
    """More and fewer ranks, as `resize` says, where the engine's processes are the cluster's own."""
    rows = rows_of_the_script()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # no rank is lost
        for ranks in (4, 2, 3):
            group.resize(ranks)
            summed(rows, group, ranks)
        try:
            group.resize(7)
        except hr.HeadraceError as error:
            print(f"resize(7): {error}", flush=True)
        else:
            raise AssertionError("seven ranks")
        summed(rows, group, 3)


def dask_resized() -> None:
    """Workers come and go between queries over a table of the script, and ranks with them."""
    from distributed import Client, LocalCluster

    rows = rows_of_the_script()
    options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": "1GB"}
    with (
        LocalCluster(n_workers=2, processes=True, **options) as workers,
        Client(workers) as client,
        hr.cluster(client) as group,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error", RuntimeWarning)  # no rank is lost
        summed(rows, group, 2)
        again = summed(rows, group, 2)
        workers.scale(6)
        client.wait_for_workers(6)
        until(lambda: len(group._handle._lobby.members) == 6)
        grown = summed(rows, group, 6)
        workers.scale(3)
        until(lambda: len(group._handle._lobby.members) == 3)
        shrunk = summed(rows, group, 3)
        print(f"2 ranks {again:.2f} s, then 6 {grown:.2f} s, then 3 {shrunk:.2f} s", flush=True)


def ray_nodes(tables: str) -> None:
    """One rank on each node that has CPUs; a node goes, and another comes."""
    import ray
    from ray.cluster_utils import Cluster

    of_nodes = {"object_store_memory": 80 << 20, "include_dashboard": False}
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **of_nodes})
    two, _, _ = [nodes.add_node(num_cpus=cpus, **of_nodes) for cpus in (2, 2, 3)]
    ray.init(address=nodes.address)
    with hr.cluster(ray, settings={"peerTimeout": 3}) as group:
        assert group.size == 3
        assert hr.sql(COUNT, tables)["n"].to_pylist() == [60175]
        nodes.remove_node(two)
        until(lambda: len(group._handle._lobby.members) == 2)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert hr.sql(COUNT, tables)["n"].to_pylist() == [60175]
        assert any("the cluster goes on with 2 ranks" in str(each.message) for each in said), said
        nodes.add_node(num_cpus=2, **of_nodes)
        until(lambda: hr.sql(COUNT, tables)["n"].to_pylist() == [60175] and group.size == 3)
    ray.shutdown()
    nodes.shutdown()


def dataset(group: Any, tables: str) -> None:
    """Rows that stay on the ranks; also for ranks that have come since."""
    parts = hr.persist("select l_orderkey, l_tax from lineitem", tables, by="l_orderkey")
    assert len(parts.rows) == group.size
    killed(group, 1, tables)
    found = hr.sql("select count(*) as n, count(distinct l_orderkey) as k from p", {"p": parts})
    assert found.to_pylist() == [{"n": 60175, "k": 15000}]


def stopped(group: Any, tables: str) -> None:
    """A process that is stopped is given up, and is a rank again when it wakes, or another in its place."""
    process = group._handle._ranks[3].process
    os.kill(process, signal.SIGSTOP)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert hr.sql(COUNT, tables)["n"].to_pylist() == [60175]
    assert any("the cluster goes on with" in str(each.message) for each in said), said
    with suppress(ProcessLookupError):  # the engine has ended it
        os.kill(process, signal.SIGCONT)
    until(lambda: hr.sql(COUNT, tables)["n"].to_pylist() == [60175] and group.size == 4)
    print("rank 3 woke", flush=True)


def until(said: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not said():
        assert time.monotonic() < end
        time.sleep(0.05)


def main(engine: str, queries: str, tables: str, folder: str, names: list[str]) -> None:
    with ENGINES[engine]() as made:
        began = time.monotonic()
        with hr.cluster(made, ranks=4, settings={"peerTimeout": 3}) as group:
            print(f"{engine} has 4 ranks after {time.monotonic() - began:.2f} s", flush=True)
            assert (group.rank, group.size) == (0, 4)
            for name in names:
                with open(f"{queries}/q{name}.sql") as text:
                    feather.write_feather(hr.sql(text.read(), tables), f"{folder}/{name}.arrow")
            assert hr.last_profile().run["ranks"] == 4
            draw = np.random.default_rng(1).normal
            x, w, v = draw(size=(64, 32)), draw(size=(32, 48)), draw(size=(48, 16))
            np.save(f"{folder}/network.npy", [network(x, w, v), np.tanh(np.maximum(x @ w, 0) @ v)])
            rows = pa.table({"k": range(1000), "v": [i % 7 for i in range(1000)]})
            found = hr.sql("select v, count(*) as n from t group by v order by v", {"t": rows})
            assert found["n"].to_pylist() == [143] * 6 + [142]
            scattered(group)
            kinds_of_trouble(tables)
            for rank in (2, 0):
                killed(group, rank, tables)
            dataset(group, tables)
            stopped(group, tables)
            ranks = [each.process for each in group._handle._ranks]
        if engine == "dask":
            dask_resized()
        else:
            until(lambda: not any(serves(each) for each in ranks))
            with hr.cluster(made, ranks=2, settings={"threads": 1, "joinTimeout": 10}) as group:
                resized(group)
    if engine == "ray":
        ray_nodes(tables)
    print("done")


def serves(process: int) -> bool:
    """Whether it has threads of a rank."""
    try:
        names = [name.read_text() for name in Path(f"/proc/{process}/task").glob("*/comm")]
    except OSError:
        return False
    return any(name.startswith("headrace") for name in names)


if __name__ == "__main__":
    main(*sys.argv[1:5], sys.argv[5:])
