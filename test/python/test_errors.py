"""What users get wrong, and what data can hold: an error of the right kind that names its place."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("select 1 // (l_linenumber - 3) from lineitem", "data", "division by zero (at (1 / "),
        ("select l_orderkey * 9223372036854775807 from lineitem", "data", "out of range (at (l_orderkey *"),
        ("select sum(l_orderkey % 0) from lineitem", "data", "division by zero"),
        (
            "select (select n_nationkey from nation)",
            "data",
            "More than one row returned by a subquery used as an expression - scalar subqueries can only "
            "return a single row. (at aggregate)",
        ),
        (
            "select case when n_nationkey > 3 then error('it is bad') end from nation",
            "data",
            "it is bad (at 1:39)",
        ),
        (
            "select chr(-n_nationkey::int) from nation",
            "data",
            "invalid code point in chr (at CHR(-CAST(n_nationkey)), 1:8)",
        ),
        (
            "select factorial(40 + n_nationkey::int) from nation",
            "data",
            "factorial of a number that is not 0 to 33 (at 1:8)",
        ),
        (
            "select repeat(n_name, 1000000000000) from nation",
            "data",
            "a string of more than 4 GiB (at REPEAT(n_name, 1000000000000), 1:8)",
        ),
        (
            "select bar(n_nationkey, 0, 9, -1) from nation",
            "data",
            "a bar must be 1 to 1000 wide, and of finite numbers (at BAR(",
        ),
        ("select l_nope from lineitem", "user", "l_nope"),
        ("select * from nope", "user", "nope"),
        ("selec", "user", "(at 1:1)"),
        ("select l_comment + 1 from lineitem", "user", "+(VARCHAR, INTEGER_LITERAL)"),
        ("select bitstring_agg(n_nationkey) from nation", "unsupported", "aggregate function: bitstring_agg"),
        ("select hash(n_name) from nation", "unsupported", "unsupported function: hash"),
        ("select n_name, current_time from nation", "unsupported", "unsupported type: TIME WITH TIME ZONE"),
    ],
)
@pytest.mark.parametrize("ranks", [1, 3])
def test_queries(text: str, kind: str, words: str, ranks: int, tpch_small: Path) -> None:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(text, tpch_small, ranks=ranks)
    assert words in str(caught.value)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("text", "kind", "marked"),
    [
        (
            "create view v as select hash(n_name) r from nation; select r from v",
            "unsupported",
            "hash(n_name)",
        ),
        ("create view v as select n_nam from nation; select * from v", "user", "n_nam"),
        ("create view v as select n_name from nation;\n select n_nam from v", "user", "n_nam"),
        ("create macro m(a) as hash(a); select m(n_name) from nation", "unsupported", "m(n_name)"),
        ("create macro m(a) as a + nope; select m(n_nationkey) from nation", "user", "nope"),
        ("create macro t(a) as table select hash(a) x; select * from t('é')", "unsupported", "hash(a)"),
        ("create view v as select 'ä' e;\nselect hash(e) from v", "unsupported", "hash(e)"),
    ],
)
def test_places_in_views_and_macros(text: str, kind: str, marked: str, tpch_tiny: Path) -> None:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(text, tpch_tiny)
    error = caught.value
    assert error.kind == kind
    assert error.line is not None and error.column is not None
    line = text.splitlines()[error.line - 1]
    assert line[error.column - 1 :].startswith(marked)
    assert str(error).splitlines()[-1].strip() == "^" * len(marked)


_READS_ITS_INDEX = """func.func @main(%x: tensor<4xi64>) -> tensor<4xi64> {
  %y = linalg.map { arith.addi } ins(%x, %x : tensor<4xi64>, tensor<4xi64>) outs(%x : tensor<4xi64>)
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%y : tensor<4xi64>) {
  ^bb0(%out: i64):
    %index = linalg.index 0 : index
    %number = arith.index_cast %index : index to i64
    linalg.yield %number : i64
  } -> tensor<4xi64>
  return %z : tensor<4xi64>
}"""


@pytest.mark.parametrize(
    ("program", "error", "words"),
    [
        ("not MLIR", hr.errors.UserError, "is unknown"),
        ("module {}", hr.errors.UserError, "the program has no function: main"),
        (_READS_ITS_INDEX, hr.errors.UnsupportedError, "uses linalg.index, which no kernel has yet"),
    ],
)
def test_programs_that_do_not_compile(program: str, error: type[hr.HeadraceError], words: str) -> None:
    with pytest.raises(error, match=words):
        hr.mlir(program)


def test_what_phases_behind_the_import_refuse_has_its_kind(tpch_tiny: Path) -> None:
    with pytest.raises(hr.errors.UnsupportedError, match="rounds away more than 38 digits"):
        hr.sql("select round(l_extendedprice, -45) from lineitem", tpch_tiny)
    with pytest.raises(hr.errors.UserError, match="needs 80 ranks, but topology dgx-h100 has only 32"):
        hr.explain("select count(*) from nation", tpch_tiny, ranks=80, topology="dgx-h100")


def test_a_rank_that_fails_leaves_the_next_query_alone(tpch_small: Path) -> None:
    with pytest.raises(hr.HeadraceError):
        hr.sql("select sum(1 // (l_linenumber - 3)) from lineitem", tpch_small, ranks=4)
    assert hr.sql("select count(*) as n from nation", tpch_small, ranks=4).to_pylist() == [{"n": 25}]


def test_truncated_file(tpch_small: Path, tmp_path: Path) -> None:
    whole = (tpch_small / "orders.parquet").read_bytes()
    (tmp_path / "orders.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(hr.HeadraceError, match="orders.parquet"):
        hr.sql("select count(*) from orders", tmp_path)


def test_missing_directory_and_file(tmp_path: Path) -> None:
    with pytest.raises(hr.HeadraceError, match="no such directory of tables"):
        hr.sql("select 1", tmp_path / "none")
    with pytest.raises(hr.HeadraceError, match=r"no such file: .*none\.parquet"):
        hr.sql("select * from t", {"t": tmp_path / "none.parquet"})


@pytest.mark.parametrize("text", ["", "{", '{"schema": "topology/1"}', "[" * 100_000])
def test_malformed_topology(text: str, tpch_small: Path, tmp_path: Path) -> None:
    file = tmp_path / "topology.json"
    file.write_text(text or " ")
    with pytest.raises(hr.HeadraceError):
        hr.sql("select count(*) from nation", tpch_small, ranks=2, topology=file)


def test_unknown_topology(tpch_small: Path) -> None:
    with pytest.raises(hr.HeadraceError, match="nowhere"):
        hr.sql("select count(*) from nation", tpch_small, ranks=2, topology="nowhere")


def test_decimal_sum_that_overflows() -> None:
    huge = pa.array([10**37, 9 * 10**37], pa.decimal128(38, 0))
    with pytest.raises(hr.HeadraceError, match="out of range|overflow"):
        hr.sql("select sum(x) * 10 as s from t", {"t": pa.table({"x": huge})})


def test_wrong_sql_exits_with_two_and_says_why(tpch_small: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "headrace",
        "sql",
        "select nope from nation",
        "--tables",
        str(tpch_small),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "nope" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_reader_that_has_seen_enough_is_no_error(tpch_small: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    query = ["sql", "select n_name from nation", "--tables", str(tpch_small)]
    command = [sys.executable, "-m", "headrace", *query]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


def test_every_kind_is_a_class() -> None:
    kinds = ["user", "data", "memory", "unsupported", "io", "corrupt", "mismatch", "cancelled", "internal"]
    classes = {type(hr.HeadraceError("what", kind)) for kind in kinds}
    assert len(classes) == len(kinds) and hr.HeadraceError not in classes
    for kind in kinds:
        error = pickle.loads(pickle.dumps(hr.HeadraceError("what", kind, "there")))
        assert isinstance(error, hr.HeadraceError)
        assert (error.kind, error.place, str(error)) == (kind, "there", "what (at there)")
        assert type(error).__name__ in hr.errors.__all__
    assert isinstance(hr.HeadraceError("what", "no such kind"), hr.errors.InternalError)


def test_kinds_are_those_of_the_runtime() -> None:
    names = (ROOT / "runtime" / "base" / "status.cpp").read_text()
    for kind in hr.errors.HeadraceError._classes:
        assert f'return "{kind}";' in names
    assert names.count("case ErrorKind::") == len(hr.errors.HeadraceError._classes) + 1  # and kOk


_T = pa.table({"a": [1, 2, 3], "s": ["x", "y", None]})


def _tensor(column: str, dtype: str) -> Any:
    query = hr.query("select a::decimal(5, 2) as a, s from t", {"t": _T})
    return hr.jit(lambda x: x)(query.to_tensor(column, dtype))


def _kept() -> Any:
    kept: list[Any] = []
    hr.jit(lambda x: (kept.append(x), x)[1])(np.ones(3))
    return hr.jit(lambda x: x + kept[0])(np.ones(3))


def _placed(axis: str) -> Any:
    return hr.jit(lambda x: hr.place(x, (axis, None)), ranks=2)(np.ones((2, 3)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hr.sql(None), "text must be a str, got None"),  # type: ignore[arg-type]
        (lambda: hr.sql(b"select 1"), "text must be a str, got b'select 1'"),  # type: ignore[arg-type]
        (lambda: hr.sql("select 1", 5), "tables: neither a path, a list of paths nor a dict of names: int"),  # type: ignore[arg-type]
        (lambda: hr.sql("select 1", None), "a dict of names: NoneType"),  # type: ignore[arg-type]
        (lambda: hr.sql("select 1", {5: _T}), "the name of a table is a text that is not empty, got 5"),  # type: ignore[dict-item]
        (lambda: hr.sql("select 1", {"t": 5}), "table t: not a path, a list of paths or an Arrow table: int"),
        (lambda: hr.sql("select 1", timeout="a"), "timeout must be a number or None, got 'a'"),  # type: ignore[arg-type]
        (lambda: hr.connect().register("", _T), "the name of a table is a text that is not empty, got ''"),
        (lambda: hr.from_arrow(_T).head(-1), "a number of rows is at least 0, got -1"),
        (lambda: hr.jit(lambda x: x)(), "takes 1 arrays: got 0"),
        (
            lambda: hr.jit(lambda x: x)(np.ones(3, np.int32)),
            "argument 'x' needs elements of f32, f64 or i64: got int32",
        ),
        (_kept, "an array of another function, or of an earlier call: x"),
        (lambda: _placed("zz"), "the mesh has no axis zz; it has ranks"),
        (
            lambda: _tensor("a", "i64"),
            "a tensor of i64 needs whole numbers; cast the column: a is decimal<5, 2>",
        ),
        (lambda: _tensor("s", "f64"), "a tensor needs columns of numbers: s is string"),
    ],
)
def test_arguments_of_the_wrong_kind(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(hr.errors.UserError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("before", ["", "ä" * 10, "ä" * 300, "a𝄞" * 1000])
@pytest.mark.parametrize("line", ["", "\n"])
def test_places_count_characters(before: str, line: str) -> None:
    with pytest.raises(hr.errors.UnsupportedError) as error:
        hr.sql(f"select '{before}',{line} x::bit from range(3) t(x)")
    assert error.value.place == (f"1:{len(before) + 13}" if not line else "2:3")


def test_settings_of_duckdb_are_not_proposed() -> None:
    with pytest.raises(hr.errors.SqlError, match=r"^Max expression depth limit of 1000 exceeded\.$"):
        hr.sql("select " + " + ".join(["1"] * 1200))


def test_the_page_of_errors_has_every_class_with_its_kind() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text()
    for name in hr.errors.__all__:
        assert f"`{name}`" in page or f"headrace.{name}`" in page, name
        error = getattr(hr.errors, name)
        if error.__base__ is hr.HeadraceError:
            assert f"| `{error.kind}` | `{name}` |" in page, name
