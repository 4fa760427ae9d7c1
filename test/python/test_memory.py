"""Memory limits: what is refused, by whom, before and during a run; and that nothing is kept afterwards."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from dev.bench.memory import LARGE
from duckdb_oracle import check
from headrace._src.programs import Target
from test_tpch import QUERIES, rows

SETTING = "--memory (memory= in Python)"


def query(name: str) -> str:
    return (QUERIES / f"q{name}.sql").read_text()


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", ["09", "18"])
def test_over_the_limit_names_tier_operator_bytes_and_setting(
    name: str, ranks: int, tpch_small: Path
) -> None:
    expected = rows(hr.sql(query(name), tpch_small, ranks=ranks))
    kinds = set()
    for memory in (64 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20):
        try:
            hr.sql(query(name), tpch_small, ranks=ranks, memory=memory)
        except hr.HeadraceError as error:
            assert error.kind == "memory", error
            message = str(error)
            # An operator of the query, or what the ranks need to talk to each other.
            assert re.match(r"([\w ]+: )?out of host memory: ", message), message
            assert re.search(
                r"(asked for|need at least|a block of) .*\(\d+ bytes\).* of the limit of ", message
            )
            assert f"raise {SETTING}" in message, message
            kinds.add("and what is held with it need at least" in message)
        # Nothing is kept by the run that failed: the next one has all of the memory.
        assert rows(hr.sql(query(name), tpch_small, ranks=ranks)) == expected
    assert kinds == {True, False}  # refused before the run, and during it


def test_an_operator_is_named_with_its_place(tpch_small: Path) -> None:
    text = "select l_orderkey, l_partkey, sum(l_quantity) as q from lineitem group by l_orderkey, l_partkey"
    place = r" of the limit of .*aggregate by l_orderkey, l_partkey"
    with pytest.raises(hr.HeadraceError, match=place) as error:
        hr.sql(text, tpch_small, memory=4 << 20)
    assert error.value.place


def test_every_state_has_an_estimate_and_a_reservation(tpch_small: Path) -> None:
    plan = hr.explain(query("18"), tpch_small, ranks=2, tasks=True)
    states = re.findall(r"^state \d+ '(\w+)' (\w+), rows of \d+ bytes, about ([\d,.]+)\b", plan, re.MULTILINE)
    assert states
    assert {"group_table", "join_table", "sort_buffer"} <= {kind for _, kind, _ in states}
    assert sum(expected != "0" for _, _, expected in states) > len(states) / 2
    for name, _, _ in states:
        assert f"reserve 'reserve_{name}'" in plan
        assert f"release 'release_{name}'" in plan


def test_tensors_are_given_back_after_their_last_use() -> None:
    x = np.random.default_rng(5).random((512, 512), dtype=np.float32) / 256  # 1 MiB each

    def power(x):
        y = x
        for _ in range(16):
            y = y @ x
        return y

    got = hr.jit(power, threads=1, memory=9 << 20)(x)
    np.testing.assert_allclose(got, power(x), rtol=1e-4)
    with pytest.raises(hr.HeadraceError, match="out of host memory.*--memory"):
        hr.jit(power, threads=1, memory=2 << 20)(x)


# Prints by how much the peak of resident memory rises while a query runs, in bytes. What is loaded and
# mapped once (the compiler, kernels, threads) is there before; kept pages and blocks are not.
RISE = """
import ctypes, json, sys
import headrace as hr

text, tables, memory, ranks = json.loads(sys.argv[1])

def resident(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))

def run():
    return hr.sql(text, tables, threads=2, memory=memory, ranks=ranks)

expected = run()
hr.sql("select 1 as a", {}, threads=2, memory=2 << 20)  # another session: what the first one kept goes
ctypes.CDLL(None).malloc_trim(0)
try:
    with open("/proc/self/clear_refs", "w") as references:
        references.write("5")
except OSError:
    sys.exit("the peak cannot be set back here")
before = resident("VmRSS")
assert run().equals(expected)
print(resident("VmHWM") - before)
"""
# Beside the limit: stacks of threads, the plan, small objects of malloc.
OVERHEAD = 6 << 20

WIDE = (
    "select count(*) as n, min(l_comment) as a, max(l_shipinstruct) as b, sum(l_orderkey) as c, "
    "max(l_tax) as d, max(l_shipdate) as e, sum(l_extendedprice) as f, max(l_receiptdate) as g, "
    "sum(l_suppkey) as h from lineitem"
)
LIKE = "select count(*) as n from lineitem where l_comment like '%carefully%sleep%'"


@pytest.fixture(scope="module")
def one_group(tpch_tenth: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """lineitem in one row group of 600,000 rows, with pages that do not line up."""
    path = tmp_path_factory.mktemp("one_group") / "lineitem.parquet"
    table = parquet.read_table(tpch_tenth / "lineitem.parquet")
    parquet.write_table(table, path, row_group_size=len(table), data_page_size=300_000)
    return path


@pytest.mark.parametrize(
    ("text", "memory", "ranks"),
    [
        (LIKE, 16 << 20, 1),
        (LIKE, 64 << 20, 2),
        (WIDE, 32 << 20, 1),
        (WIDE, 96 << 20, 2),
        ((QUERIES / "q01.sql").read_text(), 24 << 20, 1),
        ((QUERIES / "q06.sql").read_text(), 16 << 20, 1),
    ],
)
@pytest.mark.parametrize("layout", ["groups", "one_group"])
def test_resident_memory_stays_within_the_limit(
    text: str, memory: int, ranks: int, layout: str, tpch_tenth: Path, one_group: Path
) -> None:
    file = one_group if layout == "one_group" else tpch_tenth / "lineitem.parquet"
    arguments = json.dumps([text, {"lineitem": str(file)}, memory, ranks])
    ran = subprocess.run([sys.executable, "-c", RISE, arguments], capture_output=True, text=True, check=False)
    if "the peak cannot be set back here" in ran.stderr:
        pytest.skip("/proc/self/clear_refs is not writable")
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) <= memory + OVERHEAD


def test_workers_and_ranks_share_one_row_group(tpch_tenth: Path, one_group: Path) -> None:
    for text in (WIDE, LIKE, "select l_orderkey, l_linenumber, l_comment from lineitem where l_quantity < 2"):
        expected = hr.sql(text, {"lineitem": tpch_tenth / "lineitem.parquet"}, threads=2)
        for ranks in (1, 3, 4):
            actual = hr.sql(text, {"lineitem": one_group}, threads=2, ranks=ranks)
            assert sorted(rows(actual)) == sorted(rows(expected))


def test_a_scan_that_does_not_fit_is_named(tpch_tenth: Path) -> None:
    asked = r"scan of lineitem .*asked for .* of the limit of 2 MiB"
    with pytest.raises(hr.HeadraceError, match=asked) as error:
        hr.sql(LIKE, tpch_tenth, memory=2 << 20)
    assert error.value.kind == "memory"


#: What each query is promised to run in, with two workers.
LEAST = 96 << 20


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_states_run_in_rounds(name: str, ranks: int, tpch: Path) -> None:
    expected = hr.sql(LARGE[name], tpch, ranks=ranks)
    assert hr.sql(LARGE[name], tpch, ranks=ranks, threads=2, memory=LEAST * ranks).equals(expected)


def test_estimates_that_were_wrong_cost_a_second_run(tpch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan as if there were memory enough, then one in parts; the error is the first if none fits."""
    expected = hr.sql(LARGE["groups"], tpch)
    monkeypatch.setattr(Target, "within", lambda target, _memory: replace(target, memory=1 << 34))
    assert hr.sql(LARGE["groups"], tpch, threads=2, memory=LEAST).equals(expected)
    assert '"repeat"' in hr.last_profile().plan_json
    with pytest.raises(hr.HeadraceError, match="aggregate|table lineitem"):
        hr.sql(LARGE["groups"], tpch, threads=2, memory=4 << 20)


def test_explain_says_what_runs_in_rounds_and_what_it_took(tpch: Path) -> None:
    shown = hr.explain(LARGE["groups"], tpch, threads=2, memory=LEAST, analyze=True)
    told = re.search(
        r"^in rounds of 24 MiB: aggregate by l_orderkey, l_partkey; (\S+) MiB of rows wait, of them about"
        r" (\S+) MiB on disk; took (\d+) rounds$",
        shown,
        re.MULTILINE,
    )
    assert told, shown
    assert 110 < float(told[1]) < 120  # 20 bytes a row
    assert int(told[3]) > 4
    assert 0.6 < _waited(shown) / float(told[2]) < 1.4
    assert " of 96 MiB at most" in shown
    assert re.search(r"^aggregate l_orderkey.* 6,001,169 ", shown, re.MULTILINE), shown
    assert "in rounds" not in hr.explain(LARGE["groups"], tpch, memory="16GB")


def test_a_join_of_tables_in_a_row_is_called_by_its_keys(tpch: Path) -> None:
    text = (
        "select count(*) as n from lineitem, orders, customer"
        " where l_orderkey = o_orderkey and c_custkey = o_custkey"
    )
    shown = hr.explain(text, tpch, threads=2, memory="40MiB")
    assert "in rounds of 10 MiB: inner join l_orderkey = o_orderkey; " in shown, shown


def _waited(shown: str) -> float:
    """The MiB that an explanation says were on disk."""
    told = re.search(r"^measured .*, (\S+) MiB waited on disk$", shown, re.MULTILINE)
    assert told, shown
    return float(told[1])


def test_a_sort_larger_than_memory_waits_on_disk(tpch: Path) -> None:
    shown = hr.explain(LARGE["sort"], tpch, threads=2, memory=LEAST, analyze=True)
    assert _waited(shown) > 300  # 6 million rows with a text of 27 bytes
    assert "waited" not in hr.explain(LARGE["sort"], tpch, threads=2, memory="4GB", analyze=True)


def test_the_first_rows_need_no_disk(tpch: Path) -> None:
    text = (
        "select l_comment, l_orderkey from lineitem order by l_comment, l_orderkey, l_linenumber limit 1000"
    )
    assert "waited" not in hr.explain(text, tpch, threads=2, memory=LEAST, analyze=True)
    assert hr.sql(text, tpch, threads=2, memory=LEAST).equals(hr.sql(text, tpch))


@pytest.mark.parametrize("ranks", [1, 2])
def test_results_larger_than_memory_are_read_as_batches(ranks: int, tpch: Path) -> None:
    text = "select l_orderkey, l_linenumber, l_comment from lineitem order by l_orderkey desc, l_linenumber"
    held = hr.batches(text, tpch, threads=2, memory=LEAST * ranks, ranks=ranks)
    assert sum(hr.last_profile().run["spilled_bytes"]) > 250 << 20
    expected = hr.sql(text, tpch)
    at = 0
    for batch in held:
        assert pa.Table.from_batches([batch]).equals(expected.slice(at, batch.num_rows))
        at += batch.num_rows
    assert at == expected.num_rows


def test_batches_are_those_of_sql(tpch_small: Path) -> None:
    text = query("10")
    assert hr.batches(text, tpch_small, ranks=2).read_all().equals(hr.sql(text, tpch_small, ranks=2))
    assert hr.batches("show tables", tpch_small).read_all().equals(hr.sql("show tables", tpch_small))


def test_a_disk_without_room_is_an_error_that_says_so(tpch: Path) -> None:
    with pytest.raises(hr.HeadraceError, match="set spillDirectory to a directory on a disk") as error:
        hr.sql(LARGE["groups"], tpch, threads=2, memory=LEAST, settings={"spillDirectory": "/no/such"})
    assert error.value.kind == "io"
    with pytest.raises(hr.HeadraceError, match="exceed spillLimit, 1 MiB"):
        hr.sql(LARGE["groups"], tpch, threads=2, memory=LEAST, settings={"spillLimit": "1MiB"})


@pytest.mark.parametrize("ranks", [1, 4])
def test_parts_of_divided_states_are_united(ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What several tasks of a round write is one stream, in the order of these."""
    monkeypatch.setattr(Target, "within", lambda target, _memory: replace(target, memory=1))
    n = range(900)
    rows = pa.table({"k": [i % 7 for i in n], "i": [i * i % 31 for i in n], "n": n})
    for text in (
        "select k, i, max(n), count(*) from t group by cube(k, i)",
        "select k, i, max(n) from t group by rollup(k, i)",
        "select a.n, b.k from t a full join t b on a.n = b.i + 890",
    ):
        check(text, {"t": rows}, ranks=ranks)
