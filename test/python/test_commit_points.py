"""Commit points: queries that are cut give the same answers, and go on after a loss from what is kept."""

from __future__ import annotations

import os
import signal
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import headrace as hr
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from headrace._src.engines.driver import Driver, RemoteRanks
from headrace._src.engines.places import rank_settings
from headrace._src.programs import setting_texts
from headrace._src.query import commit_points, sql
from headrace._src.query.commit_points import CommitPoints
from headrace._src.query.statistics import table_statistics
from launched_ranks import Ended, started_program
from random_sql import random_query
from rank_processes import Processes
from tpch_queries import QUERIES

#: Losses of a rank in a second, for queries that are thought to take minutes.
OFTEN = 1e-2


def as_if_larger(tables: Any, factor: float = 1e5) -> dict[str, Any]:
    """Statistics of so many times the rows, so that the queries are worth cutting."""
    documents = table_statistics(tables)
    for document in documents.values():
        document["rows"] = int(document["rows"] * factor)
        for column in document["columns"].values():
            column.pop("min", None)
            column.pop("max", None)
            if column.get("distinct"):
                column["distinct"] = int(column["distinct"] * factor)
    return documents


@pytest.fixture
def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Queries on ranks of this process have commit points, in this folder; none is left behind."""
    folder = tmp_path / "commits"
    folder.mkdir()

    @contextmanager
    def points(stop: Callable[[], None] | None) -> Iterator[CommitPoints]:
        commits = CommitPoints(str(folder), OFTEN, stop)
        try:
            yield commits
        finally:
            commits.end()

    monkeypatch.setattr(sql, "_commit_points", points)
    monkeypatch.setattr(commit_points, "_GAIN_MIN", 0)
    yield folder
    assert list(folder.iterdir()) == []


def rows(table: pa.Table) -> list[str]:
    """In some order."""
    return sorted(map(str, zip(*(column.to_pylist() for column in table.columns), strict=True)))


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", ["q03", "q05", "q09", "q13", "q18"])
def test_a_query_that_is_cut_gives_the_same(
    name: str, ranks: int, cut: Path, tpch_small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (QUERIES / f"{name}.sql").read_text()
    found = hr.sql(text, tpch_small, ranks=ranks, statistics=as_if_larger(tpch_small))
    assert hr.last_profile().commit_points >= (2 if name == "q18" else ranks == 3)
    monkeypatch.undo()
    wanted = hr.sql(text, tpch_small, ranks=ranks)
    assert found.schema.types == wanted.schema.types
    assert found.column_names == wanted.column_names
    assert rows(found) == rows(wanted)


def test_what_is_written_kept_and_read_in_batches_is_the_same(
    cut: Path, tmp_path: Path, tpch_small: Path
) -> None:
    text = (QUERIES / "q13.sql").read_text()
    options = {"ranks": 2, "statistics": as_if_larger(tpch_small)}
    wanted = rows(hr.sql(text, tpch_small, **options))
    assert hr.last_profile().commit_points == 1
    assert rows(hr.batches(text, tpch_small, **options).read_all()) == wanted
    target = tmp_path / "result"
    query = text.rstrip().rstrip(";")
    hr.sql(f"copy ({query}) to '{target}' (format parquet, per_thread_output)", tpch_small, **options)
    assert hr.last_profile().commit_points == 1
    assert rows(parquet.read_table(target)) == wanted
    kept = hr.persist(text, tpch_small, **options)
    assert hr.last_profile().commit_points == 1
    assert kept is not None
    assert rows(kept.collect()) == wanted


def test_numbers_at_random_are_drawn_once(cut: Path, tpch_small: Path) -> None:
    """Such a query is not cut: its parts would draw others."""
    text = "select count(*) as n from (select l_suppkey, max(random()) from lineitem group by 1)"
    hr.sql(text, tpch_small, ranks=3, statistics=as_if_larger(tpch_small))
    assert hr.last_profile().commit_points == 0


def test_a_short_query_is_not_cut(tmp_path: Path, tpch_small: Path, cut: Path) -> None:
    text = (QUERIES / "q18.sql").read_text()
    hr.sql(text, tpch_small, ranks=3)
    assert hr.last_profile().commit_points == 0


def test_rows_that_files_do_not_keep_are_not_cut(cut: Path) -> None:
    """Those of intervals come out in other types, and files without columns do not say how many they are."""
    table = {"t": pa.table({"x": list(range(1000))})}
    documents = as_if_larger(table, 1e9)
    for text in (
        "select count(d) as n from (select x, max(to_days(x::int)) as d from t group by x) join t using (x)",
        "select count(*) as n from t, (select min(x) as m from t having min(x) = 0)",
    ):
        found = hr.sql(text, table, ranks=3, statistics=documents)
        assert found.to_pylist() == hr.sql(text, table).to_pylist()


@pytest.mark.parametrize("part", range(4))
def test_random_queries_that_are_cut(part: int, cut: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cuts = 0
    for seed in range(part * 25, part * 25 + 25):
        tables, query = random_query(seed)
        options = {"ranks": 1 + seed % 3, "statistics": as_if_larger(tables, 1e9)}
        try:
            found = hr.sql(query.text(), tables, **options)
        except hr.HeadraceError as error:
            found = error
        cuts += hr.last_profile().commit_points > 0
        with monkeypatch.context() as uncut:
            uncut.setattr(commit_points, "_GAIN_MIN", float("inf"))
            try:
                wanted = hr.sql(query.text(), tables, **options)
            except hr.HeadraceError as error:
                wanted = error
        if isinstance(wanted, hr.HeadraceError) or isinstance(found, hr.HeadraceError):
            assert type(found) is type(wanted), query.text()
            continue
        assert found.schema.types == wanted.schema.types, query.text()
        assert rows(found) == rows(wanted), query.text()
    assert cuts > 2


HEAD = """
import os, signal, threading, time
import headrace as hr, pyarrow.feather as feather
folder, tables, text = os.environ["FOLDER"], os.environ["TABLES"], os.environ["QUERY"]
place = int(os.environ["HEADRACE_RANK"])
commits = folder + "/commits"
hours = 100 / 3600
"""


def outcome(body: str, folder: Path, tables: Path, size: int, text: str) -> list[Ended]:
    (folder / "commits").mkdir()
    modules = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
    program = HEAD + textwrap.dedent(body)
    with started_program(program, folder, size, TABLES=str(tables), QUERY=text, PYTHONPATH=modules) as ranks:
        return ranks.ended()


@pytest.mark.waits
def test_a_call_goes_on_from_what_is_kept(tpch_small: Path, tmp_path: Path) -> None:
    """Rank 2 is killed when the first part is there: that part is not run again."""
    text = (QUERIES / "q13.sql").read_text()
    found = outcome(
        """
        from test_commit_points import as_if_larger
        runs = []

        def is_kept():
            folders = [name for _, names, _ in os.walk(commits) for name in names]
            return any("commit-" in name and not name.endswith(".tmp") for name in folders)

        def killed_once_kept():
            while not is_kept():
                time.sleep(0.0005)
            os.kill(os.getpid(), signal.SIGKILL)

        with hr.cluster(commits=commits, rank_hours=hours) as group:
            statistics = as_if_larger(tables)
            if place == 0:
                run = group.run
                group.run = lambda *arguments: (runs.append(group.size), run(*arguments))[1]
            if place == 2:
                threading.Thread(target=killed_once_kept, daemon=True).start()
            answer = hr.sql(text, tables, statistics=statistics)
            if place == 0:
                feather.write_feather(answer, folder + "/answer.arrow")
                print(hr.last_profile().commit_points, runs, os.listdir(commits))
        """,
        tmp_path,
        tpch_small,
        4,
        text,
    )
    assert found[2].status == -signal.SIGKILL, found
    assert [each.status for each in found if each is not found[2]] == [0, 0, 0], found
    assert found[0].output in ("1 [4, 3] []\n", "1 [4, 4, 3] []\n"), found
    answer = feather.read_table(tmp_path / "answer.arrow", memory_map=False)
    assert rows(answer) == rows(hr.sql(text, tpch_small))


@pytest.mark.waits
def test_ranks_of_an_engine(engine: Processes, tpch_small: Path, tmp_path: Path) -> None:
    text = (QUERIES / "q18.sql").read_text()
    ranks = RemoteRanks(engine, rank_settings(setting_texts({})))
    with Driver(ranks, "shrink", str(tmp_path), 100 / 3600):
        found = hr.sql(text, tpch_small, statistics=as_if_larger(tpch_small))
        assert hr.last_profile().commit_points == 2
    assert list(tmp_path.iterdir()) == []
    assert rows(found) == rows(hr.sql(text, tpch_small))


def test_what_cluster_is_told(tmp_path: Path) -> None:
    none = f"commits is a folder that all ranks see, and there is none: {tmp_path}/no"
    with pytest.raises(hr.HeadraceError, match=none):
        hr.cluster(commits=tmp_path / "no")
    with pytest.raises(hr.HeadraceError, match="rank_hours is a number above 0, got 0"):
        hr.cluster(commits=tmp_path, rank_hours=0)


def test_a_folder_that_goes_away(tpch_small: Path, cut: Path) -> None:
    text = (QUERIES / "q18.sql").read_text()
    cut.rmdir()
    cut.write_text("")
    with pytest.raises(hr.HeadraceError, match=f"cannot write into the folder of commit points: {cut}: "):
        hr.sql(text, tpch_small, ranks=3, statistics=as_if_larger(tpch_small))
    cut.unlink()
    cut.mkdir()
