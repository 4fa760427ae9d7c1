"""Folders of files that all ranks write at once: in one process, in several, and with ranks that are lost."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, same
from headrace._src import part_files
from headrace._src.engines import driver
from launched_ranks import Ranks
from rank_processes import Processes

_ROWS = 5000
_WHOLE = pa.table(
    {
        "k": list(range(_ROWS)),
        "v": [None if i % 11 == 0 else i * 7919 % 1000 / 4 for i in range(_ROWS)],
        "p": [None if i % 13 == 0 else f"a/b {i % 3}" for i in range(_ROWS)],
        "q": [i % 2 == 0 for i in range(_ROWS)],
    }
)
#: In batches, which ranks can share.
T = pa.concat_tables([_WHOLE.slice(at, 100) for at in range(0, _ROWS, 100)])
QUERIES = [
    "select * from t",
    "select p, q, count(*) as n, sum(v) as v from t group by p, q",
    "select t.k, t.v, u.p from t join t u on t.k = u.k + 1 where u.q",
    "select k, v from t where k < 0",
    "select count(*) as n from t",
]


def files(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("query", QUERIES)
def test_rows(tmp_path: Path, query: str, ranks: int) -> None:
    wanted = answer(query, {"t": T})
    for format in ("parquet", "csv"):
        folder = tmp_path / format
        found = hr.sql(
            f"copy ({query}) to '{folder}' (format {format}, per_thread_output)", {"t": T}, ranks=ranks
        )
        assert found.to_pylist() == [{"Count": wanted.num_rows}]
        pattern = f"{folder}/*.{format}"
        if wanted.num_rows or format == "parquet":
            same(duckdb.sql(f"from '{pattern}'").to_arrow_table(), wanted)
            same(hr.sql(f"from '{pattern}'", ranks=ranks), wanted)
        written = files(folder)
        assert set(written) <= {f"part-{rank:05}-00000.{format}" for rank in range(ranks)}
        if query == QUERIES[0]:
            assert len(written) == ranks
        if wanted.num_rows < 2:
            assert len(written) == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["csv", "parquet"]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_names_have_the_order_of_the_rows(tmp_path: Path, ranks: int) -> None:
    """Also where a rank writes several files: each sorts a range of the order."""
    rows = 1_000_000
    table = pa.table({"k": np.arange(rows) * 7919 % rows})
    options = "(format parquet, per_thread_output)"
    query = f"copy (select k from t order by k desc) to '{tmp_path}/d' {options}"
    hr.sql(query, {"t": table}, ranks=ranks, threads=2 * ranks)
    names = files(tmp_path / "d")
    assert len(names) >= 2
    assert {name.split("-")[1] for name in names} == {f"{rank:05}" for rank in range(ranks)}
    parts = [parquet.read_table(tmp_path / "d" / name) for name in names]
    assert pa.concat_tables(parts).column("k").to_numpy().tolist() == list(range(rows - 1, -1, -1))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("keys", ["p", "(p, q)", "(q)"])
def test_partitions(tmp_path: Path, keys: str, ranks: int) -> None:
    options = f"(format parquet, partition_by {keys})"
    found = hr.sql(f"copy t to '{tmp_path}/h' {options}", {"t": T}, ranks=ranks)
    assert found.to_pylist() == [{"Count": _ROWS}]
    with duckdb.connect() as connection:
        connection.register("t", T)
        connection.sql(f"copy t to '{tmp_path}/d' {options}")
        assert {os.path.dirname(name) for name in files(tmp_path / "h")} == {
            os.path.dirname(name) for name in files(tmp_path / "d")
        }
        written = f"read_parquet('{tmp_path}/h/**/*.parquet', hive_partitioning = true)"
        query = f"select k, v, p, q::boolean as q from {written}"
        same(connection.sql(query).to_arrow_table(), T)
    assert all("/part-0000" in name for name in files(tmp_path / "h"))


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("format", ["parquet", "csv", "arrow"])
def test_many_partitions(tmp_path: Path, format: str, ranks: int) -> None:
    """Far more than threads; a folder has a file of a thread, in which the query's order stays."""
    rows = 400_000
    table = pa.table({"k": np.arange(rows) * 7919 % rows, "p": np.arange(rows) % 1500})
    query = f"copy (from t order by k desc) to '{tmp_path}/d' (format {format}, partition_by p)"
    assert hr.sql(query, {"t": table}, ranks=ranks, threads=3).to_pylist() == [{"Count": rows}]
    names = files(tmp_path / "d")
    assert len({name.split("/")[0] for name in names}) == 1500
    assert len(names) <= 1500 + 3
    read = {
        "parquet": parquet.read_table,
        "csv": pa.csv.read_csv,
        "arrow": lambda path: pa.ipc.open_file(path).read_all(),
    }[format]
    found = [read(tmp_path / "d" / name) for name in names]
    assert all(each.column_names == ["k"] for each in found)
    for name, each in list(zip(names, found, strict=True))[::100]:
        keys = each["k"].to_pylist()
        assert keys == sorted(keys, reverse=True), name
    every = pa.concat_tables(found)["k"].to_numpy()
    assert np.array_equal(np.sort(every), np.arange(rows))


def test_options_of_partitions(tmp_path: Path) -> None:
    hr.sql(f"copy t to '{tmp_path}/a' (format csv, partition_by p, header false, delim '|')", {"t": T})
    first = next(iter((tmp_path / "a").rglob("*.csv"))).read_text().splitlines()[0]
    assert "|" in first and "k" not in first
    hr.sql(f"copy t to '{tmp_path}/b' (format parquet, partition_by p, row_group_size 100)", {"t": T})
    file = next(iter((tmp_path / "b").rglob("*.parquet")))
    assert parquet.read_metadata(file).row_group(0).num_rows == 100


def test_other_ways_to_ask(tmp_path: Path) -> None:
    relation = hr.connect({"t": T}, ranks=2).sql("select k, p from t")
    relation.write_parquet(tmp_path / "a", per_thread_output=True, compression="zstd")
    relation.write_csv(tmp_path / "b", partition_by="p")
    frame = hr.from_arrow(T).select("k", "p")
    frame.sink_parquet(tmp_path / "c", folder={"partition_by": ["p"]}, ranks=2)
    frame.sink_csv(tmp_path / "d", folder={"per_thread_output": True}, ranks=2)
    frame.sink_ipc(tmp_path / "e", folder={"per_thread_output": True}, ranks=2)
    first = parquet.ParquetFile(tmp_path / "a" / "part-00000-00000.parquet").metadata
    assert first.row_group(0).column(0).compression == "ZSTD"
    parts = [pa.ipc.open_file(tmp_path / "e" / name).read_all() for name in files(tmp_path / "e")]
    read = {
        "a": "from '{}/*.parquet'",
        "b": "from read_csv('{}/**/*.csv', hive_partitioning = true)",
        "c": "from read_parquet('{}/**/*.parquet', hive_partitioning = true)",
        "d": "from '{}/*.csv'",
    }
    wanted = T.select(["k", "p"])
    same(pa.concat_tables(parts), wanted)
    for name, text in read.items():
        same(duckdb.sql(f"select k, p {text.format(tmp_path / name)}").to_arrow_table(), wanted)


def test_what_gives_no_rows(tmp_path: Path) -> None:
    relation = hr.connect({"t": T}).sql("describe t")
    with pytest.raises(hr.errors.UserError, match="a folder of files takes a query that gives rows"):
        relation.write_parquet(tmp_path / "d", per_thread_output=True)
    assert list(tmp_path.iterdir()) == []


def test_overwrite(tmp_path: Path) -> None:
    """Of the old files none stays; they do if the new ones are not written."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "old.parquet").write_text("old")
    options = "(format parquet, per_thread_output, overwrite)"
    with pytest.raises(hr.HeadraceError):
        hr.sql(f"copy (select cast(p as integer) as q from t) to '{tmp_path}/d' {options}", {"t": T})
    assert files(tmp_path) == ["d/old.parquet"]
    hr.sql(f"copy t to '{tmp_path}/d' {options}", {"t": T}, ranks=2)
    assert files(tmp_path) == ["d/part-00000-00000.parquet", "d/part-00001-00000.parquet"]
    hr.sql(f"copy (select 1 as x from '{tmp_path}/d/*.parquet') to '{tmp_path}/d' {options}")
    assert hr.sql(f"select count(*) as n from '{tmp_path}/d/*.parquet'").to_pylist() == [{"n": _ROWS}]


MISTAKES = {
    "copy t to '{}/d' (format csv, per_thread_output 7)": "per_thread_output is true or false, got 7",
    "copy t to '{}/d.csv' (overwrite)": "overwrite is for folders: add per_thread_output or partition_by",
    "copy t to '{}/d.csv' (append)": "no such option of .csv files: append; there are header, delim",
    "copy t to '{}' (format csv, per_thread_output)": "the folder of the output is there already",
    "copy t to '{}/none/d' (format csv, per_thread_output)": "cannot write into the folder of the output",
    "copy (select p::integer as q from t) to '{}/d' (format csv, per_thread_output)": "value cannot be cast",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes(tmp_path: Path, text: str) -> None:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(text.format(tmp_path), {"t": T}, ranks=2)
    assert MISTAKES[text] in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", ["parquet", "csv", "arrow"])
def test_one_part_that_fails_ends_them_all(
    tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = part_files.write_file
    query = f"copy t to '{tmp_path}/d' (format {format}, per_thread_output)"

    def full(target: Any, *arguments: Any) -> None:
        if "part-00001" in target:
            raise OSError(28, "No space left on device")
        write(target, *arguments)

    monkeypatch.setattr(part_files, "write_file", full)
    with pytest.raises(hr.errors.InputOutputError, match="cannot write the result: .*/d: No space left"):
        hr.sql(query, {"t": T}, ranks=3)
    assert list(tmp_path.iterdir()) == []

    cancel = hr.Cancel()

    def cancelled(target: Any, *arguments: Any) -> None:
        cancel.cancel()
        write(target, *arguments)

    monkeypatch.setattr(part_files, "write_file", cancelled)
    with pytest.raises(hr.errors.CancelledError, match="the query was cancelled"):
        hr.sql(query, {"t": T}, ranks=3, cancel=cancel)
    assert list(tmp_path.iterdir()) == []


def test_another_part_is_told(tmp_path: Path) -> None:
    halted: list[BaseException] = []

    def write(number: int, halt: Any) -> int:
        if number == 0:
            raise OSError("the reason")
        try:
            while True:
                halt()
        except hr.errors.CancelledError as error:
            halted.append(error)
            raise

    with pytest.raises(OSError, match="the reason"):
        part_files._all_of(write, 2, None)
    assert str(halted[0]) == "another part of the result was not written"


def test_a_rank_that_does_not_see_the_folder(tmp_path: Path) -> None:
    output = part_files.output_of(str(tmp_path / "d"), ".parquet", per_thread_output=True)
    assert isinstance(output, part_files.ResultFolder)
    told = output.begin()
    output.abandon()
    message = "rank 3 does not see the folder that all ranks write into: .*/d"
    with pytest.raises(hr.errors.InputOutputError, match=message):
        part_files.write_part(told, 3, None, None)
    assert list(tmp_path.iterdir()) == []


HEAD = """
import os, resource, signal
import headrace as hr, pyarrow as pa
from headrace._src import part_files
place = int(os.environ["HEADRACE_RANK"])
whole = pa.table({"k": list(range(5000)), "p": [i % 3 for i in range(5000)]})
table = pa.concat_tables([whole.slice(at, 100) for at in range(0, 5000, 100)])
write = part_files.write_file

def killed(*arguments):
    write(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

def copied(options):
    found = hr.sql(f"copy (select * from t where k < 4000) to 'd' (format parquet, {options})", {"t": table})
    return found and found.to_pylist()
"""


def ended(body: str, folder: Path) -> list[tuple[int, str, str]]:
    """Of three ranks with a program, in this folder: how each ended."""
    (folder / "program.py").write_text(HEAD + textwrap.dedent(body))
    (folder / "out").mkdir()
    command = ["env", "-C", folder / "out", sys.executable, folder / "program.py"]
    with Ranks(command, 3, folder / "meeting") as ranks:
        return [(each.status, each.output, each.errors) for each in ranks.ended()]


@pytest.mark.waits
def test_ranks_in_processes(tmp_path: Path) -> None:
    found = ended(
        """
        with hr.cluster() as group:
            print(copied("per_thread_output"))
            print(copied("partition_by p, overwrite"))
        """,
        tmp_path,
    )
    assert [each[:2] for each in found] == [
        (0, "[{'Count': 4000}]\n" * 2),
        (0, "None\n" * 2),
        (0, "None\n" * 2),
    ], found
    names = files(tmp_path / "out")
    assert {name.split("/")[1] for name in names} == {"p=0", "p=1", "p=2"}
    assert {name.split("/")[2][:10] for name in names} <= {"part-00000", "part-00001", "part-00002"}
    read = duckdb.sql(f"select count(*), sum(k), sum(p) from '{tmp_path}/out/d/*/*.parquet'").fetchall()
    assert read == [(4000, sum(range(4000)), sum(i % 3 for i in range(4000)))]


@pytest.mark.waits
@pytest.mark.parametrize("on_loss", ["shrink", "fail"])
def test_a_rank_is_killed_while_it_writes(tmp_path: Path, on_loss: str) -> None:
    """The ranks that are left write all of it; or nothing is left."""
    found = ended(
        f"""
        with hr.cluster(on_loss="{on_loss}") as group:
            if place == 2:
                part_files.write_file = killed
            try:
                print(copied("per_thread_output"))
            except hr.errors.InputOutputError as error:
                print(error)
        """,
        tmp_path,
    )
    assert [each[0] for each in found] == [0, 0, -signal.SIGKILL], found
    if on_loss == "fail":
        assert "rank 2" in found[0][1]
        assert files(tmp_path / "out") == []
        return
    assert found[0][1] == "[{'Count': 4000}]\n", found
    assert files(tmp_path / "out") == ["d/part-00000-00000.parquet", "d/part-00001-00000.parquet"]
    read = duckdb.sql(f"select count(*), sum(k) from '{tmp_path}/out/d/*.parquet'").fetchall()
    assert read == [(4000, sum(range(4000)))]


@pytest.mark.waits
def test_a_rank_may_take_its_time(tmp_path: Path) -> None:
    """Longer than its peers wait for one that is silent."""
    found = ended(
        """
        import time

        def slow(*arguments):
            time.sleep(5)
            write(*arguments)

        with hr.cluster(on_loss="fail", settings={"peerTimeout": 2}) as group:
            if place == 1:
                part_files.write_file = slow
            print(copied("per_thread_output"))
        """,
        tmp_path,
    )
    assert [each[0] for each in found] == [0, 0, 0], found
    assert found[0][1] == "[{'Count': 4000}]\n"


@pytest.mark.waits
def test_the_disk_of_a_rank_is_full(tmp_path: Path) -> None:
    found = ended(
        """
        with hr.cluster() as group:
            before = resource.getrlimit(resource.RLIMIT_FSIZE)
            copied("per_thread_output")  # what is compiled is there
            if place == 1:
                resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
            try:
                copied("per_thread_output, overwrite")
            except hr.errors.InputOutputError as error:
                print(error)
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            print(os.listdir("."))
            print(copied("per_thread_output, overwrite"))
        """,
        tmp_path,
    )
    assert [each[0] for each in found] == [0, 0, 0], found
    for _, output, _ in found:
        assert output.startswith("rank 1 on host ")
        assert "cannot write the result: " in output
        assert "File too large" in output
    assert found[0][1].splitlines()[1:] == ["['d']", "[{'Count': 4000}]"]
    assert len(files(tmp_path / "out" / "d")) == 3


SETTINGS = {"threads": "1", "memory": str(200 << 20)}


@pytest.mark.waits
def test_ranks_of_an_engine(engine: Processes, tmp_path: Path) -> None:
    """The driver names the folder that they have written; one that is killed before leaves nothing."""
    with driver.Driver(driver.RemoteRanks(engine, SETTINGS), "shrink") as group:
        text = f"copy t to '{tmp_path}/d' (format parquet, per_thread_output, overwrite)"
        assert hr.sql(text, {"t": T}).to_pylist() == [{"Count": _ROWS}]
        assert files(tmp_path) == [f"d/part-0000{rank}-00000.parquet" for rank in range(3)]
        same(hr.sql(f"from '{tmp_path}/d/*.parquet'"), T)
        engine.kill(group._handle._ranks[1].process)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert hr.sql(text, {"t": T}).to_pylist() == [{"Count": _ROWS}]
        assert files(tmp_path) == [f"d/part-0000{rank}-00000.parquet" for rank in range(2)]
        same(hr.sql(f"from '{tmp_path}/d/*.parquet'"), T)
