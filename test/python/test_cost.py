"""What a query is thought to cost with other rows than its tables have, and on unequal ranks."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import headrace as hr
import numpy as np
import pytest
from headrace._src.command_line import main
from tuned_programs import JOIN


def cost(tables: Path, **options: object) -> float:
    return hr.cost(JOIN, tables, ranks=4, topology="ethernet-slow", **options).seconds  # type: ignore[arg-type]


def test_more_rows_cost_more(tpch_small: Path) -> None:
    usual = cost(tpch_small)
    assert cost(tpch_small, rows={}) == usual
    assert cost(tpch_small, rows={"lineitem": 1e9}) > 10 * usual
    assert cost(tpch_small, rows={"lineitem": 1}) < usual


def test_unequal_ranks_share_a_scan(tpch_small: Path) -> None:
    text = "select l_returnflag, sum(l_quantity) as quantity from lineitem group by l_returnflag"

    def seconds(*skew: str) -> float:
        options = {"topology": "ethernet-fast", "rows": {"lineitem": 1e8}}
        return hr.cost(text, tpch_small, ranks=4, skew=skew, **options).seconds  # type: ignore[arg-type]

    # The others take morsels of a rank that is slow or has more.
    assert 4 / 3.1 * seconds() < seconds("3:1:speed=0.1") < 2 * seconds()
    assert seconds("3:1:rows=3") == pytest.approx(seconds(), rel=0.05)
    assert seconds("0:2:speed=0.5") == seconds("0:1:speed=0.5", "1:1:speed=0.5")


def test_an_array_program(tpch_small: Path) -> None:
    x = np.ones((256, 256), np.float32)
    program = hr.jit(ranks=4, topology="ethernet-slow")(lambda x: x @ x).compile(x)
    assert program.cost(skew="0:1:speed=0.01").seconds > program.cost().seconds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": {"lineitems": 5}}, "rows are of the plan's slots and streams ("),
        ({"rows": {"lineitem": -1}}, "rows of lineitem need a number from 0 to 1e+18, got -1"),
        ({"rows": {"lineitem": float("nan")}}, "rows of lineitem need a number from 0 to 1e+18, got nan"),
        ({"rows": {"lineitem": "many"}}, "rows of lineitem need a number, got 'many'"),
        ({"skew": "3"}, "expected a skew such as 3:1:speed=0.5, got 3"),
        ({"skew": "3:1:"}, "expected a skew such as 3:1:speed=0.5, got 3:1:"),
        ({"skew": "a:1:speed=2"}, "a skew's first rank needs a number from 0 to 1e+18, got a"),
        ({"skew": "0:1.5:speed=2"}, "a skew's count of ranks needs a whole number, got 1.5"),
        ({"skew": "0:1:size=2"}, "a skew has speed, rows and keys, got size=2"),
        ({"skew": "0:1:speed=x"}, "a skew's speed needs a number from 0 to 1e+18, got x"),
        ({"skew": "0:1:speed=0"}, "a skew needs a positive speed"),
        ({"skew": "4:1:speed=2"}, "skewed ranks must not overlap and be from 0 to 3, got 1 from 4"),
    ],
)
def test_rows_and_skews_that_make_no_sense(
    options: dict[str, object], message: str, tpch_small: Path
) -> None:
    with pytest.raises(hr.HeadraceError) as error:
        cost(tpch_small, **options)
    assert str(error.value).startswith(message) and error.value.kind == "user"


def printed(*options: str, tables: Path) -> tuple[int, str, str]:
    """Exit status, output and errors of headrace cost."""
    out, errors = io.StringIO(), io.StringIO()
    words = ["cost", JOIN, "--tables", str(tables), "--ranks", "4", "--topology", "ethernet-slow", *options]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main(words)
    return status, out.getvalue(), errors.getvalue()


def test_the_command_takes_both(tpch_small: Path) -> None:
    options = {"rows": {"lineitem": 1e9, "orders": 1e8}, "skew": ["3:1:speed=0.5"]}
    words = ("--rows", "lineitem=1e9", "--rows=orders=1e8", "--skew", "3:1:speed=0.5")
    status, text, _ = printed(*words, tables=tpch_small)
    expected = str(hr.cost(JOIN, tpch_small, ranks=4, topology="ethernet-slow", **options))  # type: ignore[arg-type]
    assert status == 0 and text == expected + "\n"
    status, text, errors = printed("--rows", "lineitem", tables=tpch_small)
    assert (status, text) == (2, "")
    assert errors == "headrace: user error: expected rows such as lineitem=1e9, got lineitem\n"
