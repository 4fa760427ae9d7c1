"""Wherever a path or a size is taken: home directories, patterns, lists, 1GB; in Python and in every tool."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from headrace._src.command_line import main
from headrace._src.query.tables import resolve

BIN = Path(hr.__file__).parents[2] / "bin"


@pytest.fixture()
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory: t.parquet, folder u of two files, other/t.parquet, notes.txt."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "cache"))
    for name, value in {"t": 1, "u/0": 10, "u/1": 100, "other/t": 1000}.items():
        file = tmp_path / "data" / f"{name}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"k": pa.array([value])}), file)
    (tmp_path / "data" / "notes.txt").write_text("no table")
    return tmp_path


def names(tables: object) -> dict[str, list[str]]:
    """Tables by name: their files below ~/data."""
    return {
        name: [path.partition("/data/")[2] for path in table.paths]  # type: ignore[union-attr]
        for name, table in resolve(tables).items()  # type: ignore[arg-type]
    }


DIRECTORY = {"t": ["t.parquet"], "u": ["u/0.parquet", "u/1.parquet"], "other": ["other/t.parquet"]}


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ("~/data", DIRECTORY),
        (Path("~/data"), DIRECTORY),
        ("~/data/*", DIRECTORY),
        ("~/data/t.parquet", {"t": ["t.parquet"]}),
        ("~/data/*.parquet", {"t": ["t.parquet"]}),
        (
            ["~/data/t.parquet", Path("~/data/u")],
            {"t": ["t.parquet"], "0": ["u/0.parquet"], "1": ["u/1.parquet"]},
        ),
        (["x=~/data/t.parquet", "x=~/data/other"], {"x": ["t.parquet", "other/t.parquet"]}),
        ({"x": "~/data/u"}, {"x": ["u/0.parquet", "u/1.parquet"]}),
        ({"x": "~/data/u/?.parquet"}, {"x": ["u/0.parquet", "u/1.parquet"]}),
        ({"x": [Path("~/data/u/1.parquet"), "~/data/*.parquet"]}, {"x": ["u/1.parquet", "t.parquet"]}),
    ],
)
def test_tables(tables: object, expected: dict[str, list[str]], home: Path) -> None:
    assert names(tables) == expected


@pytest.mark.parametrize(
    ("tables", "kind", "message"),
    [
        ("~/none", hr.errors.InputOutputError, "no such directory of tables: "),
        ("~/data/*.csv", hr.errors.InputOutputError, "no file matches: ~/data/*.csv"),
        ("~/data/*.txt", hr.errors.InputOutputError, "no Parquet files in: ~/data/*.txt"),
        (["~/data", "~/data/other"], hr.errors.UserError, "two tables of the same name ("),
        ({"x": "~/none.parquet"}, hr.errors.InputOutputError, "no such file: "),
        ({"x": "~"}, hr.errors.InputOutputError, "no Parquet files in: ~"),
        ({"x": 7}, hr.errors.UserError, "table x: not a path, a list of paths or an Arrow table: int"),
        (["=x"], hr.errors.UserError, "tables are DIR, FILE or NAME=PATH, got =x"),
    ],
)
def test_tables_that_are_none(tables: object, kind: type, message: str, home: Path) -> None:
    with pytest.raises(hr.HeadraceError) as caught:
        resolve(tables)  # type: ignore[arg-type]
    assert type(caught.value) is kind
    assert message in str(caught.value)


def test_a_folder_with_an_equals_sign(home: Path) -> None:
    folder = home / "year=2024"
    folder.mkdir()
    parquet.write_table(pa.table({"k": [5]}), folder / "v.parquet")
    assert list(resolve(str(folder))) == ["v"]
    os.chdir(home)
    assert list(resolve("year=2024")) == ["v"]


def test_the_command_line_and_headrace_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "select sum(t.k) + sum(u.k) as s from t, u"
    (home / "q.sql").write_text(text)
    tables = ["--tables", "~/data/t.parquet", "--tables", "u=~/data/u/*"]
    assert (
        main(["sql", "@~/q.sql", *tables, "--output", "~/r.csv", "--memory", "1GB", "--timeout", "60"]) == 0
    )
    assert (home / "r.csv").read_text().split() == ["s", "112"]
    assert main(["compile", "@~/q.sql", *tables, "--output", "~/q.plan"]) == 0
    command = [
        BIN / "headrace-run",
        "~/q.plan",
        "--tables=~/data/t.parquet",
        "--tables",
        "u=~/data/u/*.parquet",
    ]
    done = subprocess.run(
        [*command, "--output", "~/s.csv", "--format", "csv", "--memory", "1GB"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (home / "s.csv").read_text().split() == ["s", "112"]
    done = subprocess.run(
        [BIN / "headrace-tune", "cost", "~/q.plan", "--topology", "machine", "--memory", "1GB"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("output", "message", "status"),
    [
        ("r.orc", "the output must end in one of .parquet, .arrow, .csv, .json, got r.orc", 2),
        ("r", "got r", 2),
        ("none/r.csv", "none/r.csv: No such file or directory", 1),
        ("/proc/r.csv", "cannot write into the folder of the output: /proc/r.csv: No such file", 1),
        ("d.csv", "the output is a folder: ", 1),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_query(
    output: str, message: str, status: int, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("d.csv").mkdir(exist_ok=True)
    # The query itself fails: it is never looked at.
    assert main(["sql", "select 1 / 0 fro", "--tables", "~/data", "--output", output]) == status
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("memory", ["1GB", "512 MiB", "1e9", 10**9, "1e6kB", "1 g", "512mib"])
def test_memory(memory: object, home: Path) -> None:
    assert hr.sql("select k from t", "~/data", memory=memory).to_pylist() == [{"k": 1}]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("memory", "message"), [("1 X", "bytes such as 512MiB or 4GB, got: 1 X"), ("0", "at least 1")]
)
def test_memory_that_is_none(memory: str, message: str, home: Path) -> None:
    with pytest.raises(hr.errors.UserError, match=message):
        hr.sql("select k from t", "~/data", memory=memory)


def test_memory_decides(home: Path) -> None:
    tables = {"t": pa.table({"k": pa.array(range(1_000_000))})}
    with pytest.raises(hr.errors.MemoryLimitError):
        hr.sql("select k, count(*) from t group by k", tables, memory="1MiB")


def test_wrong_sql_exits_with_two_everywhere(home: Path) -> None:
    wrong = [
        ["sql", "select nope from t", "--tables", "~/data"],
        ["explain", "select nope from t", "--tables", "~/data"],
        ["cost", "selec", "--tables", "~/data"],
        ["compile", "select * from nope", "--tables", "~/data", "--output", "~/x.plan"],
        ["tune", "select nope from t", "--tables", "~/data", "--seconds", "1"],
        ["sql", "select hash(cast(k as varchar)) from t", "--tables", "~/data"],
    ]
    script = f"import sys; from headrace._src.command_line import main\nfor w in {wrong!r}: print(main(w))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["2"] * len(wrong), done.stderr
