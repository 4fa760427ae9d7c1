"""Plans are code: only what is whole, and what nobody else could have written, is loaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from headrace._src import programs
from headrace._src.query.sql import compile_to
from headrace.errors import CorruptError

QUERY = "select k, sum(v) as s from t group by k order by k"
EXPECTED = {"k": [0, 1], "s": [6, 9]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("HEADRACE_HOME", str(folder))
    parquet.write_table(pa.table({"k": [0, 1, 0, 1], "v": [2, 4, 4, 5]}), tmp_path / "t.parquet")
    return folder


def _forget() -> None:
    """As a new process would find it."""
    programs._loaded.clear()


def _run(home: Path) -> bool:
    """Runs the query; whether its plan came from the cache."""
    _forget()
    assert hr.sql(QUERY, {"t": home.parent / "t.parquet"}, threads=1).to_pydict() == EXPECTED
    return hr.last_profile().plan_cached


def _damages(file: Path) -> list:
    data = file.read_bytes()
    return [
        lambda: file.write_bytes(data[: len(data) // 2]),
        lambda: file.write_bytes(b""),
        lambda: file.write_bytes(data[:-1] + bytes([data[-1] ^ 1])),
        lambda: file.write_bytes(data + b"more"),
        lambda: file.write_bytes(b"\0" * len(data)),
        file.unlink,
    ]


def test_a_damaged_plan_is_made_anew(home: Path) -> None:
    assert not _run(home)
    assert _run(home)
    (entry,) = (home / "plans").iterdir()
    for name in ("plan.json", "kernels.so", "manifest.json", "meta.json"):
        for damage in _damages(entry / name):
            damage()
            assert not _run(home), name
            assert _run(home), name


def test_a_damaged_object_is_made_anew(home: Path) -> None:
    _run(home)
    objects = sorted((home / "kernels").iterdir())
    assert objects
    for number in range(len(_damages(objects[0]))):
        for file in objects:
            _damages(file)[number]()
        shutil.rmtree(home / "plans")
        assert not _run(home)
        assert hr.last_profile().kernels_compiled == len(objects)
        shutil.rmtree(home / "plans")
        assert not _run(home)
        assert hr.last_profile().kernels_compiled == 0


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_caches_are_closed_to_others(home: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        _run(home)
    finally:
        os.umask(before)
    for folder in (home, home / "plans", home / "kernels"):
        assert folder.stat().st_mode & 0o777 == 0o700, folder
    (home / "plans").chmod(0o777)
    assert not _run(home), "what others could write to is not loaded"
    assert (home / "plans").stat().st_mode & 0o777 == 0o700
    assert _run(home)


def test_a_cache_of_others_is_not_used(home: Path) -> None:
    _run(home)
    elsewhere = home.parent / "elsewhere"
    (home / "plans").rename(elsewhere)
    (home / "plans").symlink_to(elsewhere)
    assert not _run(home)
    if os.geteuid() == 0:
        (home / "plans").unlink()
        shutil.copytree(elsewhere, home / "plans")
        os.chown(home / "plans", 12345, 12345)
        assert not _run(home)


@pytest.fixture
def plan(home: Path) -> Path:
    folder = home.parent / "q.plan"
    compile_to(folder, QUERY, {"t": home.parent / "t.parquet"})
    return folder


def _tool(plan: Path) -> subprocess.CompletedProcess:
    command = ["headrace-run", str(plan), "--tables", str(plan.parent)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_swapped_kernels_do_not_run(plan: Path) -> None:
    assert _tool(plan).returncode == 0, _tool(plan).stderr
    source = plan.parent / "evil.c"
    proof = plan.parent / "ran"
    source.write_text(
        "#include <stdio.h>\n"
        f'__attribute__((constructor)) static void start(void) {{ fclose(fopen("{proof}", "w")); }}\n'
    )
    subprocess.run(["clang-22", "-shared", "-fPIC", "-o", plan / "kernels.so", source], check=True)
    (plan / "kernels.so").chmod(0o644)
    found = _tool(plan)
    assert found.returncode == 1
    assert "kernels.so: not what meta.json says that the plan was compiled to; recompile" in found.stderr
    assert not proof.exists()


def test_truncated_kernels_are_an_error(plan: Path) -> None:
    data = (plan / "kernels.so").read_bytes()
    for kept in (0, 100, len(data) // 2, len(data) - 1):
        (plan / "kernels.so").write_bytes(data[:kept])
        found = _tool(plan)
        assert found.returncode == 1
        assert "kernels.so: not what meta.json says" in found.stderr


def test_a_plan_that_others_may_write_to_is_refused(plan: Path) -> None:
    for path in (plan / "kernels.so", plan / "plan.json", plan):
        mode = path.stat().st_mode
        path.chmod(mode | 0o020)
        found = _tool(plan)
        assert found.returncode != 0
        assert f"others may write to this one (chmod go-w if you trust it): {path}" in found.stderr
        path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(plan / "kernels.so", 12345, 12345)
        assert "belongs to another user" in _tool(plan).stderr


def test_every_file_is_checked(plan: Path) -> None:
    for name in ("plan.json", "manifest.json", "meta.json"):
        data = (plan / name).read_bytes()
        (plan / name).write_bytes(data.replace(b"}", b" }", 1))
        found = _tool(plan)
        assert (found.returncode == 0) == (name == "meta.json"), found.stderr
        (plan / name).write_bytes(b"{}")
        assert _tool(plan).returncode == 1
        (plan / name).write_bytes(data)
    (plan / "meta.json").unlink()
    assert _tool(plan).returncode == 1


def test_a_file_cut_short_is_an_error(tmp_path: Path) -> None:
    """In a process of its own, which would die."""
    rows = 400_000
    table = pa.table({"a": pa.array(range(rows), pa.int64()), "b": [str(n * 7919) for n in range(rows)]})
    for compression in ("none", "snappy"):
        file = tmp_path / f"{compression}.parquet"
        parquet.write_table(table, file, row_group_size=20_000, use_dictionary=False, compression=compression)
        program = f"""
import os, headrace as hr
tables = {{"t": {str(file)!r}}}
text = "select count(*) as n, min(b) as b, sum(a) as a from t"
hr.sql("select count(a) as n from t where a < 10", tables, threads=2)  # the file is open
size = os.path.getsize({str(file)!r})
stamp = os.stat({str(file)!r})
with open({str(file)!r}, "r+b") as f:
    f.truncate(size // 3)
    f.truncate(size)  # its end is zeros now: the mapping goes on to be good
    f.truncate(size // 3)
os.utime({str(file)!r}, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
try:
    print(hr.sql(text, tables, threads=2))
except hr.HeadraceError as error:
    print(error.kind, error)
"""
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        # Zeros that were read before the end was met do not decode.
        assert "the file was cut short while it was read: " in ran.stdout or ran.stdout.startswith("corrupt ")


@pytest.mark.parametrize("threads", [10**6, -1, 1025])
def test_numbers_of_threads_have_a_range(threads: int) -> None:
    with pytest.raises(hr.HeadraceError) as error:
        hr.sql("select 1 as a", {}, threads=threads)
    assert str(error.value) == f"threads must be within 0 to 1024 threads, got: {threads}"
    assert error.value.kind == "user"


def test_settings_have_a_range() -> None:
    with pytest.raises(hr.HeadraceError) as error:
        hr.sql("select 1 as a", {}, settings={"peerTimeout": -5})
    assert str(error.value) == "peerTimeout must be within 0 to 86400 seconds, got: -5"


def _lying_file(path: Path) -> None:
    """A file whose footer says that `a` has values up to 3 and no NULL, where it has 1000 and one."""
    honest, other = path.with_suffix(".honest"), path.with_suffix(".other")
    for file, values in ((honest, [1, 2, 3]), (other, [1, 2, 1000])):
        table = pa.table({"a": pa.array(values, pa.int64())})
        parquet.write_table(table, file, compression="none", use_dictionary=False, version="1.0")
    good, bad = honest.read_bytes(), other.read_bytes()
    assert len(good) == len(bad)
    footer = int.from_bytes(good[-8:-4], "little") + 8
    path.write_bytes(bad[:-footer] + good[-footer:])


def test_statistics_that_lie_are_found_by_verify(tmp_path: Path) -> None:
    _lying_file(tmp_path / "t.parquet")
    tables = {"t": tmp_path / "t.parquet"}
    with pytest.raises(
        hr.HeadraceError,
        match=r"column a: statistics that do not hold: values in \[1, 3\], found \[1, 1000\]",
    ):
        hr.sql("select count(*) as n from t where a > 100", tables, verify=True)
    # Without, what is read is checked, and what the statistics rule out is not read.
    with pytest.raises(hr.HeadraceError, match="the plan's statistics promise values in"):
        hr.sql("select sum(a) as s from t", tables)
    assert hr.sql("select count(*) as n from t where a > 100", tables).to_pydict() == {"n": [0]}
    (tmp_path / "t.honest").rename(tmp_path / "u.parquet")
    assert hr.sql("select sum(a) as s from u", {"u": tmp_path / "u.parquet"}, verify=True).to_pydict() == {
        "s": [6]
    }


def _with_footer_of(path: Path, content: pa.Table, footer: pa.Table) -> Path:
    """A file whose pages are those of one table, and whose footer is another's."""
    files = []
    for table in (content, footer):
        parquet.write_table(table, path, compression="none", use_dictionary=False, version="1.0")
        files.append(path.read_bytes())
    sizes = [int.from_bytes(file[-8:-4], "little") + 8 for file in files]
    path.write_bytes(files[0][: -sizes[0]] + files[1][-sizes[1] :])
    return path


def test_rows_that_a_footer_promises_are_counted(tmp_path: Path) -> None:
    """NULLs take no room, so that two rows look like three."""
    two, three = (pa.table({"a": pa.array([1] + [None] * more, pa.int64())}) for more in (1, 2))
    fewer = _with_footer_of(tmp_path / "fewer.parquet", two, three)
    more = _with_footer_of(tmp_path / "more.parquet", three, two)
    with pytest.raises(CorruptError, match="row group 0, column a: 3 rows promised, found 2"):
        hr.sql("select count(*) as n from t", {"t": fewer}, verify=True)
    with pytest.raises(CorruptError, match="the column chunk has fewer rows than its row group"):
        hr.sql("select a from t", {"t": fewer})
    with pytest.raises(CorruptError, match="the column chunk has more rows than its row group"):
        hr.sql("select a from t", {"t": more})


def test_pages_that_cannot_be_read_are_an_error_of_verify(tmp_path: Path) -> None:
    one, two = (pa.table({"s": texts}) for texts in (["aabbbbcc"], ["aa", "bb"]))
    file = _with_footer_of(tmp_path / "t.parquet", one, two)
    with pytest.raises(CorruptError, match="row group 0, column s: cannot be read: "):
        hr.sql("select count(*) as n from t", {"t": file}, verify=True)


def test_verify_takes_every_type(tmp_path: Path) -> None:
    import datetime
    import decimal

    table = pa.table(
        {
            "i": pa.array([1, None, -5], pa.int32()),
            "u": pa.array([1, 2, 2**64 - 1], pa.uint64()),
            "f": [1.5, float("nan"), -0.0],
            "d": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")], pa.decimal128(10, 2)),
            "day": [datetime.date(2020, 1, 1), None, datetime.date(1969, 12, 31)],
            "s": ["é" * 100, "", None],
            "b": [True, False, None],
            "n": pa.array([None, None, None], pa.int64()),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    found = hr.sql("select count(*) as n from t", {"t": tmp_path / "t.parquet"}, verify=True)
    assert found.to_pydict() == {"n": [3]}


def test_caches_are_of_this_user_alone_whatever_the_umask(home: Path) -> None:
    table = str(home.parent / "t.parquet")
    before = os.umask(0)
    try:
        _run(home)
        hr.tune(QUERY, {"t": table}, seconds=1)
    finally:
        os.umask(before)
    kinds = set()
    for path in home.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
        kinds.add(path.relative_to(home).parts[0])
    assert kinds == {"plans", "kernels", "tuning"}


def test_a_tuning_record_that_others_may_write_is_not_used(home: Path) -> None:
    table = str(home.parent / "t.parquet")
    hr.tune(QUERY, {"t": table}, seconds=1)
    (home / "tuning").chmod(0o777)
    _forget()
    with pytest.warns(RuntimeWarning, match="tuning records that others may write are ignored: chmod go-w "):
        hr.explain(QUERY, {"t": table})
