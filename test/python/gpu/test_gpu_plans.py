"""Plans whose tasks run on a GPU: the emulated driver's, with several seeds, against the CPU's answers.

Sources: runtime/exec/gpu/{device_call,morsel_columns,read_back_copy}.cpp,
runtime/exec/task/device_run_task.cpp
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import headrace as hr
import pyarrow
import pyarrow.parquet as parquet
import pytest
from headrace._src.programs import Target
from headrace._src.query import plan_cache, sql
from headrace._src.query.compiled_query import load_query
from headrace._src.query.tables import resolve
from random_sql import random_query
from tpch_queries import NAMES, OTHERS, QUERIES

SEEDS = (1, 2, 3)
BYTES = 256 << 20
SMALL = "select l_returnflag, sum(l_quantity) as q, count(*) as n from lineitem group by all order by 1"


def compiled(
    text: str, tables: Path, folder: Path, *, ranks: int = 1, layout_seed: int | None = None
) -> Path:
    """The directory of a plan for the emulated GPU."""
    target = replace(Target.of(ranks, None, None), gpu="emulation", layout_seed=layout_seed)
    plan_cache.write(folder, load_query(text, resolve(tables), target).compiled)
    return folder


def run(
    plan: Path, *words: object, seed: int = 1, memory: int = BYTES, status: int = 0, fail: str = ""
) -> subprocess.CompletedProcess[str]:
    tool = shutil.which("headrace-run-emulated")
    assert tool, "headrace-run-emulated is not on PATH"
    first = [f"FAIL={fail}"] if fail else []
    command = [tool, *first, str(seed), str(memory), str(plan), "--format", "csv", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stderr
    return done


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def same(found: str, expected: str, *, ordered: bool) -> bool:
    """Equal rows; sums of doubles may differ in their last digits."""

    def cells(text: str) -> list[list[object]]:
        lines: list[list[object]] = []
        for line in rows(text):
            lines.append(
                [round(float(cell), 6) if re.fullmatch(r"-?\d+\.\d{7,}", cell) else cell for cell in line]
            )
        return lines if ordered else sorted(lines, key=str)

    a, b = cells(found), cells(expected)
    return len(a) == len(b) and all(
        x == y or (isinstance(x, float) and x == pytest.approx(y, rel=1e-9))
        for line, other in zip(a, b, strict=True)
        for x, y in zip(line, other, strict=True)
    )


def gpu_tasks(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Those that a run with --log debug has started on a GPU."""
    return set(re.findall(r"starts task \d+ (\S+) on the GPU", done.stderr))


@pytest.mark.parametrize("name", sorted(NAMES + OTHERS))
def test_tpch(name: str, tpch_small: Path, tmp_path: Path) -> None:
    text = (QUERIES / f"q{name}.sql").read_text()
    plan = compiled(text, tpch_small, tmp_path / "query.plan")
    expected = run(plan, "--threads", 2).stdout
    for seed in SEEDS:
        done = run(plan, "--device", "cuda", "--threads", 2, "--log", "debug", seed=seed)
        # All joins of q20 end in rows that the CPU sorts.
        assert gpu_tasks(done) or name == "20"
        assert same(done.stdout, expected, ordered="order by" in text.lower()), seed


OVERFLOW = "select sum(l_orderkey * 9000000000000000) as s from lineitem"


def test_a_full_state_is_made_larger(tpch_small: Path, tmp_path: Path) -> None:
    text = "select o_comment, count(*) as n from orders group by all"  # of more bytes than is thought
    plan = compiled(text, tpch_small, tmp_path / "query.plan")
    done = run(plan, "--device", "cuda", "--log", "info")
    assert "was full on the GPU: again with room for" in done.stderr
    assert same(done.stdout, run(plan).stdout, ordered=False)
    # The next run knows.
    more = run(plan, "--device", "cuda", "--log", "info", "--repeat", 3)
    assert more.stderr.count("was full on the GPU") == done.stderr.count("was full on the GPU")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_full_state_of_a_table_that_ranks_share(seed: int, tpch_small: Path, tmp_path: Path) -> None:
    text = "select o_comment, count(*) as n from orders group by all"
    plan = compiled(text, tpch_small, tmp_path / "query.plan", ranks=3, layout_seed=0)
    done = run(plan, "--device", "cuda", "--log", "info", seed=seed)
    assert "was full on the GPU: again with room for" in done.stderr
    assert same(done.stdout, run(plan).stdout, ordered=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["01", "03", "12"])
def test_columns_stay_on_the_gpu(name: str, seed: int, tpch_small: Path, tmp_path: Path) -> None:
    text = (QUERIES / f"q{name}.sql").read_text()
    plan = compiled(text, tpch_small, tmp_path / "query.plan")
    done = run(plan, "--device", "cuda", "--repeat", 4, "--log", "debug", seed=seed)
    assert same(done.stdout, run(plan).stdout, ordered=True)
    counts = re.findall(r"found (\d+) columns of morsels on the GPU and copied (\d+)", done.stderr)
    assert counts[0][0] == "0" and counts[-1][1] == "0" and counts[-1][0] != "0"


def test_kept_columns_give_way_for_states(tpch_small: Path, tmp_path: Path) -> None:
    """The memory is for a state, or for what would be kept, not for both."""
    text = "select l_orderkey, l_linenumber, sum(l_quantity) as q from lineitem group by all order by 1, 2"
    plan = compiled(text, tpch_small, tmp_path / "query.plan")
    done = run(plan, "--device", "cuda", "--repeat", 5, "--log", "warning", memory=12 << 20)
    assert "the CPU runs the plan again" not in done.stderr
    assert done.stdout == run(plan).stdout


def test_without_memory_the_cpu_runs_the_plan(tpch_small: Path, tmp_path: Path) -> None:
    plan = compiled(SMALL, tpch_small, tmp_path / "query.plan")
    done = run(plan, "--device", "cuda", "--device-memory", "64KiB", "--log", "warning")
    assert re.search(r"the CPU runs the plan again: out of device memory: .* --device-memory", done.stderr)
    assert done.stdout == run(plan).stdout
    # The device's own limit.
    done = run(plan, "--device", "cuda", "--log", "warning", memory=1 << 17)
    assert "the CPU runs the plan again" in done.stderr
    assert done.stdout == run(plan).stdout


@pytest.mark.parametrize("call", ["cuLaunchKernel", "cuMemcpyAsync", "cuEventQuery"])
def test_a_lost_device_ends_the_run(call: str, tpch_small: Path, tmp_path: Path) -> None:
    plan = compiled(SMALL, tpch_small, tmp_path / "query.plan")
    done = run(plan, "--device", "cuda", fail=call, status=1)
    assert "was lost" in done.stderr and "CUDA_ERROR_ILLEGAL_ADDRESS" in done.stderr


def test_errors_of_rows_say_where(tpch_small: Path, tmp_path: Path) -> None:
    plan = compiled(OVERFLOW, tpch_small, tmp_path / "query.plan")
    on_cpu = run(plan, status=1).stderr
    assert "number out of range" in on_cpu
    assert run(plan, "--device", "cuda", status=1).stderr == on_cpu


def test_several_ranks_share_the_gpu(tpch_small: Path, tmp_path: Path) -> None:
    text = (QUERIES / "q01.sql").read_text()
    plan = compiled(text, tpch_small, tmp_path / "query.plan", ranks=3)
    done = run(plan, "--device", "cuda", "--log", "debug")
    assert gpu_tasks(done)
    assert same(done.stdout, run(plan).stdout, ordered=True)


def test_deterministic_runs_stay_on_the_cpu(tpch_small: Path, tmp_path: Path) -> None:
    plan = compiled(SMALL, tpch_small, tmp_path / "query.plan")
    assert not gpu_tasks(run(plan, "--device", "cuda", "--deterministic", "--log", "debug"))


def test_nulls_texts_and_booleans(tmp_path: Path) -> None:
    """Every form that a column has on the way to a GPU."""
    import duckdb

    file = tmp_path / "t.parquet"
    duckdb.sql(f"""
        copy (select i, case when i % 7 <> 0 then i % 5 end as few,
                     case when i % 3 <> 0 then i * 0.5::double end as real, i % 2 = 0 as even,
                     case when i % 11 <> 0 then i % 4 = 1 end as maybe,
                     case when i % 6 <> 0 then 'text ' || (i % 9) end as word,
                     case when i % 5 <> 0 then 'long and different text ' || i end as line,
                     (i * 1000003)::decimal(38, 2) as wide
              from range(20000) t(i)) to '{file}' (row_group_size 3000)""")
    text = """
        select few, word, even, count(*) as n, count(maybe) as m, sum(i) as total, sum(real) as reals,
               sum(wide) as wides, count(case when maybe then 1 end) as yes,
               count(case when line like '%9%' then 1 end) as nines
        from t group by all"""
    plan = compiled(text, file, tmp_path / "query.plan")
    expected = run(plan, "--tables", file).stdout
    for seed in SEEDS:
        done = run(plan, "--tables", file, "--device", "cuda", "--log", "debug", seed=seed)
        assert gpu_tasks(done)
        assert same(done.stdout, expected, ordered=False)


def test_corrupt_pages(tmp_path: Path) -> None:
    """Codes that no dictionary has: the same error as the CPU's."""
    file = tmp_path / "t.parquet"
    values = [(row * row) % 11 % 3 for row in range(20000)]
    parquet.write_table(pyarrow.table({"v": values}), file, compression="none", use_dictionary=["v"])
    column = parquet.read_metadata(file).row_group(0).column(0)
    data = bytearray(file.read_bytes())
    middle = column.data_page_offset + (column.total_compressed_size // 2)
    data[middle : middle + 64] = b"\xff" * 64
    file.write_bytes(data)
    plan = compiled("select sum(v) as s from t", file, tmp_path / "p.plan")
    for device in ("cpu", "cuda"):
        done = run(plan, "--tables", file, "--device", device, status=1)
        assert "a page of codes does not decode" in done.stderr


def test_no_device_where_none_is(tpch_small: Path) -> None:
    """Without a driver, by name or by chance."""
    if shutil.which("nvidia-smi"):
        pytest.skip("there may be a driver")
    with pytest.raises(hr.HeadraceError, match="no CUDA driver, install NVIDIA's"):
        hr.sql(SMALL, tpch_small, device="cuda")
    assert hr.sql(SMALL, tpch_small, device="auto").equals(hr.sql(SMALL, tpch_small))
    with pytest.raises(hr.HeadraceError, match="device"):
        hr.sql(SMALL, tpch_small, device="gpu")
    with pytest.raises(hr.HeadraceError, match="device must be cpu or cuda, got auto"):
        sql.compile_to("unused.plan", SMALL, tpch_small, device="auto")


@pytest.mark.parametrize("part", range(4))
def test_random_queries(part: int, tmp_path: Path) -> None:
    """What has a shape for threads gives what the CPU gives; of HEADRACE_RANDOM_QUERIES that are tried."""
    ran = 0
    for seed in range(part, int(os.environ.get("HEADRACE_RANDOM_QUERIES", "120")), 4):
        tables, query = random_query(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        for name, table in tables.items():
            parquet.write_table(table, folder / f"{name}.parquet", row_group_size=7)
        try:
            plan = compiled(query.text(), folder, folder / "query.plan")
        except hr.HeadraceError:
            continue
        if '"gpu"' not in (plan / "plan.json").read_text():
            continue
        tool = shutil.which("headrace-run-emulated")
        answers = []
        for device in ("cpu", "cuda"):
            command = [tool, str(seed), str(BYTES), plan, "--format", "csv", "--device", device]
            answers.append(subprocess.run(command, capture_output=True, text=True, timeout=300))
        expected, found = answers
        assert found.returncode == expected.returncode, f"{seed}: {found.stderr}\n{query.text()}"
        assert same(found.stdout, expected.stdout, ordered=False), f"{seed}: {query.text()}"
        ran += 1
    assert ran > 0
