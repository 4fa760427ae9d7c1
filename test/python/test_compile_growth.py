"""Compiling takes time in proportion to the size of a program: n against 2n."""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import headrace as hr
import pyarrow as pa
import pytest
from headrace._src.query.sql import lower

pytestmark = pytest.mark.alone

#: What n log n, caches and noise allow of twice the program; quadratic is 4.
_RATIO = 3.2
_NOISE_SECONDS = 0.25


def _names(columns: list[str]) -> str:
    return "[" + ", ".join(f'"{column}"' for column in columns) + "]"


def _table(columns: list[str], kind: str) -> str:
    return "!frame.table<" + ", ".join(f'"{column}": {kind}' for column in columns) + ">"


def _sum(n: int) -> str:
    """c0 + c1 + … of columns that may be NULL."""
    columns, kind = [f"c{i}" for i in range(n)], "!frame.nullable<i64>"
    lines = [f"%s0 = frame.add %c0, %c0 : ({kind}, {kind}) -> {kind}"]
    lines += [f"%s{i} = frame.add %s{i - 1}, %c{i} : ({kind}, {kind}) -> {kind}" for i in range(1, n)]
    arguments = ", ".join(f"%{column}: {kind}" for column in columns)
    return _projected(columns, kind, arguments, [*lines, f"frame.yield %s{n - 1} : {kind}"], kind)


def _projected(columns: list[str], kind: str, arguments: str, lines: list[str], result: str) -> str:
    body = "\n    ".join(lines)
    return f"""!t = {_table(columns, kind)}
func.func @main() -> !frame.table<"r": {result}> {{
  %0 = frame.scan "t" {_names(columns)} : !t
  %1 = frame.project %0 keep [] compute ["r"] columns {_names(columns)} {{
  ^bb0({arguments}):
    {body}
  }} : !t -> !frame.table<"r": {result}>
  return %1 : !frame.table<"r": {result}>
}}
"""


def _shared(n: int) -> str:
    """x + x of x + x of …: each value is used twice."""
    lines = ["%s0 = frame.add %a, %a : (f64, f64) -> f64"]
    lines += [f"%s{i} = frame.add %s{i - 1}, %s{i - 1} : (f64, f64) -> f64" for i in range(1, n)]
    return _projected(["a"], "f64", "%a: f64", [*lines, f"frame.yield %s{n - 1} : f64"], "f64")


def _case(n: int) -> str:
    lines = []
    for i in range(n):
        lines.append(f"%k{i} = frame.constant {3 * i} : i64")
        lines.append(f"%p{i} = frame.compare eq %a, %k{i} : (i64, i64) -> i1")
        lines.append(f"%v{i} = frame.constant {i} : i64")
    conditions = ", ".join(f"%p{i}" for i in range(n))
    values = ", ".join(f"%v{i}" for i in range(n))
    types = f"({', '.join(['i1'] * n)}), ({', '.join(['i64'] * n)})"
    lines.append(f"%r = frame.case when {conditions} then {values} : {types} -> !frame.nullable<i64>")
    lines.append("frame.yield %r : !frame.nullable<i64>")
    return _projected(["a"], "i64", "%a: i64", lines, "!frame.nullable<i64>")


def _all_columns(n: int) -> str:
    """select * where …"""
    columns = [f"c{i}" for i in range(n)]
    return f"""!t = {_table(columns, "i64")}
func.func @main() -> !t {{
  %0 = frame.scan "t" {_names(columns)} : !t
  %1 = frame.filter %0 columns ["c0"] {{
  ^bb0(%c0: i64):
    %k = frame.constant 1 : i64
    %p = frame.compare eq %c0, %k : (i64, i64) -> i1
    frame.yield %p : i1
  }} : !t
  return %1 : !t
}}
"""


def _union(n: int) -> str:
    scans = "\n".join(f'  %{i} = frame.scan "t" ["a"] : !frame.table<"a{i}": i64>' for i in range(n))
    inputs = ", ".join(f"%{i}" for i in range(n))
    types = ", ".join(f'!frame.table<"a{i}": i64>' for i in range(n))
    return f"""func.func @main() -> !frame.table<"u": i64> {{
{scans}
  %u = frame.union {inputs} : {types} -> !frame.table<"u": i64>
  return %u : !frame.table<"u": i64>
}}
"""


def _chained(query: str) -> Callable[[int], str]:
    """Common table expressions, each over the one before; imported: that is up to DuckDB, too."""

    def program(n: int) -> str:
        chain = "".join(f", c{i} as ({query.format(before=f'c{i - 1}', i=i)})" for i in range(1, n + 1))
        text = f"with c0 as (select * from t){chain} select sum(a) from c{n}"
        return lower(text, {"t": pa.table({"a": [1, 2], "b": [3, 4]})}, "import")

    return program


_filters = _chained("select * from {before} where a <> {i}")
_computed_filters = _chained("select distinct a, b % 7 as b from {before} where b <> {i}")
_joins = _chained("select x.a, x.b from {before} x join t on x.a = t.a where x.a <> {i}")


def _aggregate_joins(n: int) -> str:
    """Each row with an aggregate of the rows before."""
    sums = "(select a, sum(b) as s from {before} group by a)"
    return _chained(f"select x.a, s as b from {{before}} x join {sums} y on x.a = y.a")(n)


def _aggregate_union(n: int) -> str:
    query = " union all ".join(f"select sum(a) + {i} as a from t where b > {i}" for i in range(n))
    return lower(query, {"t": pa.table({"a": [1, 2], "b": [3, 4]})}, "import")


def _left_joins(n: int) -> str:
    """Each has the columns of those before."""
    columns = ", ".join(f"x{i}.c as c{i}" for i in range(n))
    joins = " ".join(f"left join u x{i} on t.a = x{i}.a + {i}" for i in range(n))
    tables = {"t": pa.table({"a": [1, 2]}), "u": pa.table({"a": [1, 2], "c": [5, 6]})}
    return lower(f"select t.a, {columns} from t {joins}", tables, "import")


def _medians(n: int) -> str:
    columns = [f"c{i}" for i in range(n)]
    query = "select " + ", ".join(f"median({column})" for column in columns) + " from t"
    return lower(query, {"t": pa.table({column: [1, 2] for column in columns})}, "import")


def _grouping_sets(n: int) -> str:
    columns = [f"c{i}" for i in range(17)]
    sets = ", ".join(
        f"({', '.join(keys)})" for keys in itertools.islice(itertools.combinations(columns, 4), n)
    )
    query = f"select count(*) as n from t group by grouping sets ({sets})"
    return lower(query, {"t": pa.table({column: [1, 2] for column in columns})}, "import")


def _windows(n: int) -> str:
    """Each an aggregate of a partition of its own, joined to the rows that have those before."""
    windows = ", ".join(f"sum(a) over (partition by a % {i + 2}) as s{i}" for i in range(n))
    return lower(f"select {windows} from t", {"t": pa.table({"a": [1, 2]})}, "import")


def _seconds(text: str, folder: Path) -> float:
    """Processor time, so that what else runs does not count; the least of two, since it does a little."""
    file = folder / "program.mlir"
    file.write_text(text)
    environment = dict(os.environ)
    if build := environment.get("HEADRACE_BUILD"):
        environment["PATH"] = f"{build}/bin{os.pathsep}{environment['PATH']}"
    command = ["headrace-opt", "--stop-after=schedule", str(file), "-o", "/dev/null"]
    seconds = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr[:2000]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


@pytest.mark.parametrize(
    ("program", "n"),
    [
        (_sum, 250),
        (_shared, 400),
        (_case, 500),
        (_all_columns, 500),
        (_union, 250),
        (_filters, 400),
        (_computed_filters, 200),
        (_joins, 150),
        (_aggregate_joins, 150),
        (_aggregate_union, 250),
        (_grouping_sets, 1000),
    ],
    ids=[
        "sum",
        "shared",
        "case",
        "all_columns",
        "union",
        "filters",
        "computed_filters",
        "joins",
        "aggregate_joins",
        "aggregate_union",
        "grouping_sets",
    ],
)
def test_twice_the_program_takes_about_twice_the_time(
    program: Callable[[int], str], n: int, tmp_path: Path
) -> None:
    nothing = _seconds(program(2), tmp_path)
    once = _seconds(program(n), tmp_path) - nothing
    twice = _seconds(program(2 * n), tmp_path) - nothing
    assert twice < _RATIO * once + _NOISE_SECONDS


@pytest.mark.parametrize(
    ("program", "n"),
    [(_windows, 100), (_left_joins, 120), (_medians, 120)],
    ids=["windows", "left_joins", "medians"],
)
def test_rows_that_grow_with_the_program_take_as_much_as_its_text(
    program: Callable[[int], str], n: int, tmp_path: Path
) -> None:
    short, long = program(n), program(2 * n)
    nothing = _seconds(program(2), tmp_path)
    once = _seconds(short, tmp_path) - nothing
    twice = _seconds(long, tmp_path) - nothing
    print(f"{len(long) / len(short):.2f} times the text: {once:.3f} s, then {twice:.3f} s")
    assert twice < _RATIO / 2 * len(long) / len(short) * once + _NOISE_SECONDS


# A query over one row of a table with n columns, with nothing in any cache: nearly all of it is compiling.
# Prints its processor seconds, without those in which Python starts and the first query makes what all share.
_WIDE = """
import sys
import time
import pyarrow
import headrace as hr
def run(n):
    columns = [f"c{i}" for i in range(n)]
    table = pyarrow.table({c: [i] for i, c in enumerate(columns)})
    items = ", ".join(sys.argv[1].format(c=c, i=i) for i, c in enumerate(columns))
    before = time.process_time()
    hr.sql("select " + items + " from t", {"t": table}, threads=1)
    return time.process_time() - before
run(2)
print(run(int(sys.argv[2])))
"""


def _wide_seconds(column: str, n: int, home: Path, **settings: str) -> float:
    """The least of three: other work on the machine makes processor time longer too, never shorter."""
    seconds = []
    for attempt in range(3):
        environment = {**os.environ, "HEADRACE_HOME": str(home / f"home{n}.{attempt}"), **settings}
        command = [sys.executable, "-c", _WIDE, column, str(n)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        seconds.append(float(done.stdout))
    return min(seconds)


@pytest.mark.parametrize(
    "column", ["{c}", "{c} + {i} as d{i}", "sum({c})"], ids=["columns", "computed", "sums"]
)
def test_kernels_of_wide_tables_grow_with_their_columns(column: str, tmp_path: Path) -> None:
    once = _wide_seconds(column, 300, tmp_path)
    twice = _wide_seconds(column, 600, tmp_path)
    print(f"{once:.3f} s, then {twice:.3f} s: {twice / once:.2f} times")
    assert twice < _RATIO * once + _NOISE_SECONDS


def test_fast_code_of_large_kernels_grows_with_their_columns(tmp_path: Path) -> None:
    column = "upper(cast({c} as varchar)) as d{i}"
    once = _wide_seconds(column, 300, tmp_path, HEADRACE_QUICK_ROWS="0")
    twice = _wide_seconds(column, 600, tmp_path, HEADRACE_QUICK_ROWS="0")
    print(f"{once:.3f} s, then {twice:.3f} s: {twice / once:.2f} times")
    assert twice < _RATIO * once + _NOISE_SECONDS


def _import_seconds(terms: int) -> float:
    """Of a text in one line; the least of three different ones."""
    seconds = []
    table = pa.table({"x": [1, 2, 3]})
    for first in range(3):
        values = ", ".join(map(str, range(first, first + terms)))
        hr.sql(f"select count(*) from t where x in ({values})", {"t": table}, threads=1)
        profile = hr.last_profile()
        assert profile is not None
        seconds.append(dict(profile.phases)["import"])
    return min(seconds)


def test_long_lines_are_imported_in_proportion() -> None:
    # Four times the terms: places in a line were once counted from its beginning, in 12 times the time.
    once, more = _import_seconds(20_000), _import_seconds(80_000)
    assert more < 2 * _RATIO * once + _NOISE_SECONDS, (once, more)
