"""Copies of files that are read in another form: where they lie, what they count, and that they go.

Sources: python/bindings/temporary_files.cpp
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import headrace as hr
import pytest
from headrace.errors import MemoryLimitError

ROWS = 50_000
CSV = "select count(*) as n, sum(a) as s from read_csv('x.csv', comment = '#')"
JSON = "select count(*) as n, sum(a) as s from 'x.json'"
EXPECTED = [{"n": ROWS, "s": ROWS * (ROWS - 1) // 2}]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.csv").write_text("a,t\n" + "".join(f"{i},text of {i}\n" for i in range(ROWS)) + "# end\n")
    (tmp_path / "x.json").write_text("".join(f'{{"a":{i},"t":"text of {i}"}}\n' for i in range(ROWS)))
    (tmp_path / "spill").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("query", [CSV, JSON])
def test_lie_in_the_spill_directory(folder: Path, query: str) -> None:
    """A place that is not there is an error, also in a session; in one that is there they have no name."""
    wrong = {"spillDirectory": str(folder / "none")}
    with pytest.raises(hr.HeadraceError, match="cannot keep a copy of .*set spillDirectory to") as error:
        hr.sql(query, settings=wrong)
    assert error.value.kind == "io"
    with pytest.raises(hr.HeadraceError, match="cannot keep a copy of"):
        hr.connect(settings=wrong).sql(query)
    right = {"spillDirectory": str(folder / "spill")}
    for ranks in (1, 3):
        assert hr.sql(query, ranks=ranks, settings=right).to_pylist() == EXPECTED
    assert list((folder / "spill").iterdir()) == []


@pytest.mark.parametrize("query", [CSV, JSON])
def test_count_against_the_limit(folder: Path, query: str) -> None:
    with pytest.raises(MemoryLimitError, match="copies of files .* exceed spillLimit, 64 KiB; raise it"):
        hr.sql(query, settings={"spillLimit": "64KiB"})
    for _ in range(5):  # those of files that nobody reads any more give way
        assert hr.sql(query, settings={"spillLimit": "4MB"}).to_pylist() == EXPECTED
        os.utime("x.csv")
        os.utime("x.json")


def test_give_way_to_each_other(folder: Path) -> None:
    """Plain forms of several files fit one behind the other where they do not together."""
    text = (folder / "x.csv").read_text()
    for number in range(4):
        (folder / f"{number}.csv").write_text(text)
        query = CSV.replace("x.csv", f"{number}.csv")
        assert hr.sql(query, settings={"spillLimit": "2MB"}).to_pylist() == EXPECTED
    union = " union all ".join(f"from read_csv('{number}.csv', comment = '#')" for number in range(4))
    with pytest.raises(MemoryLimitError, match="copies of files"):
        hr.sql(f"select count(*) from ({union})", settings={"spillLimit": "2MB"})


@pytest.mark.parametrize("query", [CSV, JSON])
def test_a_full_disk(folder: Path, query: str) -> None:
    """As a limit of the size of files shows it."""
    code = f"""
import resource, headrace as hr
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    hr.sql({query!r})
except hr.HeadraceError as error:
    print(error.kind, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("io cannot keep a copy of"), done.stdout + done.stderr
    assert "File too large; set spillDirectory to a directory on a disk with room" in done.stdout


def test_nothing_is_lost_when_a_process_ends(folder: Path) -> None:
    """Somebody may have a relation then."""
    code = f"import headrace as hr; r = hr.connect().sql({JSON!r}); print(r.arrow().num_rows)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_json_larger_than_memory(folder: Path) -> None:
    """Rows of JSON lie on disk: a process needs little memory of its own for them."""
    with Path("large.json").open("w") as file:
        line = f'"t":"{"x" * 16000}"}}\n'
        file.writelines(f'{{"a":{i},{line}' for i in range(ROWS))
    query = JSON.replace("x.json", "large.json").replace("sum(a)", "sum(a)::bigint, sum(length(t))::bigint")
    code = f"""
import headrace as hr, pathlib, threading
assert hr.sql({JSON!r}, memory="64MB", threads=2).num_rows == 1
def held():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon"))
before = most = held()
ended = threading.Event()
def watch():
    global most
    while not ended.wait(0.005):
        most = max(most, held())
watcher = threading.Thread(target=watch)
watcher.start()
rows = hr.sql({query!r}, memory="64MB", threads=2).to_pylist()
ended.set()
watcher.join()
print(list(rows[0].values()), most - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows, _, grown = done.stdout.rpartition(" ")
    assert rows == f"[{ROWS}, {ROWS * (ROWS - 1) // 2}, {ROWS * 16000}]"
    assert int(grown) < 500, f"{grown} MiB, of 800 and more"
