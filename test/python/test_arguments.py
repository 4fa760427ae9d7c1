"""Arguments of the wrong kind are UserErrors that name them, by the annotations of public calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from headrace._src.arguments import check_options, checked
from headrace._src.stop import Cancel

_T = pa.table({"a": [1, 2, 3]})
_SQL = "select a from t"


@checked
def _call(
    count: int = 1,
    share: float = 0.5,
    flag: bool = False,
    path: str | Path | None = None,
    names: Mapping[str, Any] | None = None,
    call: Callable[[int], str] | None = None,
    cancel: Cancel | None = None,
    *rest: int,
    only: int = 0,
) -> tuple[Any, ...]:
    return count, share, flag, path, names, call, cancel, rest, only


def test_what_fits_goes_through() -> None:
    assert _call(np.int64(3), np.float32(1), np.bool_(True), Path("x"))[:4] == (3, 1, True, Path("x"))
    assert _call(share=2, names={"a": 1}, call=str, cancel=hr.Cancel(), only=7)[-1] == 7
    assert _call(1, 0.5, False, None, None, None, None, 8, 9)[-2] == (8, 9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"count": 1.5}, "count must be an int, got 1.5"),
        ({"count": True}, "count must be an int, got True"),
        ({"count": 2**70}, f"count is beyond the range of 64 bits: {2**70}"),
        ({"share": "x"}, "share must be a number, got 'x'"),
        ({"flag": 1}, "flag must be a bool, got 1"),
        ({"path": b"x"}, "path must be a str, a path or None, got b'x'"),
        ({"path": object()}, "path must be a str, a path or None, got a value of type object"),
        ({"names": {1: 2}}, "names must be a dict whose keys are str or None, got a value of type dict"),
        ({"call": "x" * 50}, "call must be a function or None, got a value of type str"),
        ({"cancel": 1}, "cancel must be a Cancel or None, got 1"),
        ({"onyl": 1}, "_call has no argument onyl; did you mean only?"),
    ],
)
def test_what_does_not_fit_is_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(hr.errors.UserError) as caught:
        _call(**arguments)
    assert str(caught.value) == words


def test_options_are_those_of_a_call() -> None:
    check_options({"only": 3}, _call)
    with pytest.raises(hr.errors.UserError, match="no such option: count"):
        check_options({"count": 3}, _call)
    with pytest.raises(hr.errors.UserError, match="only must be an int, got 'x'"):
        check_options({"only": "x"}, _call)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hr.sql(_SQL, {"t": _T}, threads=1.5), "threads must be an int or None, got 1.5"),
        (lambda: hr.sql(_SQL, {"t": _T}, memory=1.5), "memory must be an int, a str or None, got 1.5"),
        (lambda: hr.sql(_SQL, {"t": _T}, mesh=3), "mesh is a str or a dict of axes and their sizes, got 3"),
        (lambda: hr.sql(_SQL, {"t": _T}, ranks=2**40), "ranks must be between 1 and 1024, got 1099511627776"),
        (lambda: hr.sql(_SQL, {"t": _T}, ranks=0), "ranks must be between 1 and 1024, got 0"),
        (lambda: hr.sql(_SQL, {"t": _T}, ranks=1025), "ranks must be between 1 and 1024, got 1025"),
        (
            lambda: hr.explain(_SQL, {"t": _T}, ranks=1025, analyze=True),
            "ranks must be between 1 and 1024, got 1025",
        ),
        (lambda: hr.explain(_SQL, {"t": _T}, ranks=0), "ranks must be between 1 and 2147483647, got 0"),
        (lambda: hr.sql(_SQL, {"t": _T}, topology=0), "topology must be a str, a path or None, got 0"),
        (
            lambda: hr.sql(_SQL, {"t": _T}, statistics={"t": _T}),
            "the statistics of t are no document, got a value",
        ),
        (lambda: hr.batches(_SQL, {"t": _T}, bogus=1), "no such option: bogus"),
        (lambda: hr.mlir(None), "must be a str, got None"),
        (lambda: hr.jit(5), "function must be a function or None, got 5"),
        (lambda: hr.jit(int), "jit takes functions whose parameters Python knows"),
        (lambda: hr.jit(lambda x: x, threads=1.5), "threads must be an int or None, got 1.5"),
        (lambda: hr.tune(5), "tune takes a query or a compiled program, got 5"),
        (lambda: hr.query(_SQL, {"t": _T}).to_tensor([]), "a tensor needs the name of a column, or several"),
        (lambda: hr.query(_SQL, {"t": _T}).to_tensors(["a"], [1]), "the name of a column is a str, got 1"),
        (lambda: hr.connect({"t": _T}).sql(5), "text must be a str, got 5"),
        (lambda: hr.connect({"t": _T}).sql("select ?", 5), "parameters are a list of values or a dict"),
        (lambda: hr.connect({"t": _T}).sql("select $1", {1: 2}), "the names of parameters are str"),
        (lambda: hr.connect({"t": _T}).sql("select ?", [object()]), "the parameter ?: no value of SQL"),
        (lambda: hr.connect({"t": _T}).unregister(5), "name must be a str, got 5"),
        (
            lambda: hr.connect({"t": _T}).table("t").write_parquet(None),
            "path must be a str or a path, got None",
        ),
        (
            lambda: hr.connect({"t": _T}).table("t").write_parquet("x.parquet", row_group_size=-1),
            "row_group_size is a number of rows, got -1",
        ),
        (
            lambda: hr.connect({"t": _T}).table("t").write_csv("x.csv", partition_by=5),
            "partition_by is a column or several, got 5",
        ),
        (lambda: hr.from_arrow(_T).head("x"), "n must be an int, got 'x'"),
    ],
)
def test_public_calls(call: Callable[[], Any], words: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(hr.errors.UserError) as caught:
        call()
    assert words in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_topology_of_too_long_a_name() -> None:
    with pytest.raises(hr.errors.InputOutputError, match="cannot read the topology file"):
        hr.sql(_SQL, {"t": _T}, topology="a" * 300)


def test_lists_are_values_of_parameters() -> None:
    session = hr.connect()
    assert session.sql("select ? as x", [[1, None, 2]]).arrow().to_pylist() == [{"x": [1, None, 2]}]
    assert session.sql("select $a as x", {"a": np.arange(3)}).arrow().to_pylist() == [{"x": [0, 1, 2]}]


def test_dbapi_raises_its_own() -> None:
    cursor = hr.dbapi.connect({"t": _T}).cursor()
    with pytest.raises(
        hr.dbapi.ProgrammingError, match="executemany takes several sets of parameters, got 5"
    ):
        cursor.executemany("select ?", 5)  # type: ignore[arg-type]
    cursor.execute(_SQL)
    with pytest.raises(hr.dbapi.ProgrammingError, match="a number of rows is an int, got 'x'"):
        cursor.fetchmany("x")  # type: ignore[arg-type]


def test_columns_that_no_name_tells_apart(tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    twins = pa.Table.from_arrays([pa.array([1, 2]), pa.array([2, 1])], names=["a", "a"])
    parquet.write_table(twins, tmp_path / "twins.parquet")
    for tables in ({"t": twins}, {"t": tmp_path / "twins.parquet"}):
        with pytest.raises(hr.errors.UnsupportedError, match="whose columns have one name cannot be read"):
            hr.sql("select * from t", tables)
    nameless = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["", "b"])
    with pytest.raises(hr.errors.UnsupportedError, match="SQL has no name for a column, got ''"):
        hr.sql("select b from t", {"t": nameless})


def test_columns_of_nulls_and_of_a_negative_scale() -> None:
    table = pa.table({"n": [None, None], "d": pa.array([100, None], pa.decimal128(10, -2)), "x": [1, 2]})
    found = hr.sql("select n, x from t where n is null", {"t": table})
    assert found.to_pylist() == [{"n": None, "x": 1}, {"n": None, "x": 2}]
    with pytest.raises(hr.errors.UnsupportedError, match="decimals with a scale below 0 are not supported"):
        hr.sql("select d from t", {"t": table})
