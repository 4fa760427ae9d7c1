"""The module `_runtime`: what it links, its errors, Arrow in and out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pytest
from headrace import _runtime
from headrace._src.array import program as tensors
from headrace._src.programs import Target

SUM = "select sum(l_quantity) as total from lineitem where l_discount >= 0.05"


def test_links_no_compiler() -> None:
    """Plans run where LLVM is not installed."""
    done = subprocess.run(["ldd", _runtime.__file__], capture_output=True, text=True, check=True)
    assert "libarrow" in done.stdout
    assert "LLVM" not in done.stdout
    assert "MLIR" not in done.stdout


def test_plans_that_are_none_are_refused() -> None:
    with pytest.raises(RuntimeError) as error:
        _runtime.load_plan('{"tasks": 3}', b"")
    assert error.value.kind == "corrupt"
    assert "schemaMajor" in str(error.value)


def test_kernels_that_are_none_are_refused() -> None:
    with pytest.raises(_runtime.Error) as error:
        _runtime.load_plan("{}", b"not a shared object")
    assert error.value.kind in ("io", "corrupt")


def test_files_that_are_missing_are_named() -> None:
    with pytest.raises(_runtime.Error, match=r"/no/such\.parquet") as error:
        _runtime.statistics(["/no/such.parquet"])
    assert error.value.kind == "io"


def test_statistics_of_arrow_data() -> None:
    document = json.loads(_runtime.statistics(pa.table({"a": pa.array([3, None, 7], pa.int64())})))
    assert document["rows"] == 3
    assert (document["columns"]["a"]["min"], document["columns"]["a"]["max"]) == (3, 7)
    assert document["columns"]["a"]["nulls"] == 1


def test_files_and_arrow_data_give_the_same(tpch_small: Path) -> None:
    import pyarrow.parquet as parquet

    table = parquet.read_table(tpch_small / "lineitem.parquet", columns=["l_quantity", "l_discount"])
    assert hr.sql(SUM, tpch_small).to_pylist() == hr.sql(SUM, {"lineitem": table}).to_pylist()


def test_a_reader_is_read_once_and_answers_again() -> None:
    batches = pa.table({"a": list(range(1000))}).to_batches(max_chunksize=100)
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    for _ in range(2):
        assert hr.sql("select sum(a) as s from t", {"t": reader}).to_pylist() == [{"s": 499500}]


def test_a_frame_that_changes_is_read_again() -> None:
    import polars as pl

    frame = pl.DataFrame({"a": [1, 2, 3]})
    assert hr.sql("select sum(a) as s from t", {"t": frame}).to_pylist() == [{"s": 6}]
    frame[0, "a"] = 100
    assert hr.sql("select sum(a) as s from t", {"t": frame}).to_pylist() == [{"s": 105}]


def test_a_table_is_forgotten_with_its_last_reference() -> None:
    from headrace._src.query import arrow_tables

    table = pa.table({"a": [1, 2]})
    before = len(arrow_tables._read)
    hr.sql("select a from t", {"t": table})
    assert len(arrow_tables._read) == before + 1
    del table
    assert len(arrow_tables._read) == before


def test_threads_share_a_program(tpch_small: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    expected = hr.sql(SUM, tpch_small).to_pylist()
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda _: hr.sql(SUM, tpch_small, threads=2).to_pylist(), range(16))
    assert all(result == expected for result in results)


def test_ctrl_c_stops_a_run(tmp_path: Path) -> None:
    """A join of every row with every row would take hours."""
    import signal
    import sys
    import time

    program = (
        "import headrace as hr, pyarrow as pa\n"
        "t = pa.table({'k': [1] * 200000, 'a': list(range(200000))})\n"
        "t = pa.Table.from_batches(t.to_batches(max_chunksize=200))  # a batch is a morsel\n"
        "print('ready', flush=True)\n"
        "hr.sql('select sum(x.a * y.a) as s from t x join t y on x.k = y.k', {'t': t}, threads=2)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout
    assert child.stdout.readline() == b"ready\n"
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=20)
    assert child.returncode != 0
    assert b"KeyboardInterrupt" in errors


def test_a_profile_names_every_task(tpch_small: Path) -> None:
    hr.sql(SUM, tpch_small, threads=2)
    run = hr.last_profile().run
    assert run["threads"] == 2
    assert {"load", "run", "result"} <= {task["kind"] for task in run["tasks"]}
    assert run["wall_seconds"] > 0


def test_a_limit_that_is_too_small_names_what_wanted_the_memory(tpch_small: Path) -> None:
    text = "select l_orderkey, sum(l_quantity) as q from lineitem group by l_orderkey"
    with pytest.raises(hr.HeadraceError, match=r"--memory") as error:
        hr.sql(text, tpch_small, memory=1 << 20)
    assert error.value.kind == "memory"
    assert "host" in str(error.value)
    assert "aggregate" in str(error.value)


def test_what_is_bound_and_asked_of_a_tensor_program() -> None:
    import numpy as np

    program = hr.jit(lambda x: x + x).compile(np.ones(4))
    compiled = tensors.compiled(program.source, (), Target.of(1, None, None))
    handle = _runtime.load_plan(compiled.plan_json, compiled.kernels)
    (name,) = (slot["name"] for slot in json.loads(compiled.plan_json)["slots"])
    with pytest.raises(_runtime.Error, match=f"not an array in host memory is bound to tensor: {name}"):
        handle.run({name: "no array"}, threads=1)
    with pytest.raises(_runtime.Error, match="memory must not be negative: -1"):
        handle.run({name: np.ones(4)}, threads=1, memory=-1)
    result = handle.run({name: np.ones(4)}, threads=1)
    with pytest.raises(_runtime.Error, match="the program has no table as its result"):
        pa.table(result)
