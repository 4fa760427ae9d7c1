"""What a program says cannot end the process, and the compiler's time does not explode with its size."""

from __future__ import annotations

import decimal
import time
from collections.abc import Callable

import headrace as hr
import pyarrow as pa
import pytest
from headrace import _compiler

pytestmark = pytest.mark.alone


def _answer(session: _compiler.Session, text: str) -> _compiler.Answer:
    request = _compiler.Request()
    request.mlir = text
    return session.compile_mlir(request)


def test_a_session_that_died_goes_on() -> None:
    session = _compiler.Session()
    depth = 4_000_000
    nested = _answer(session, "func.func @main(%x: " + "tuple<" * depth + "i1" + ">" * depth + ") { return }")
    assert nested.died
    assert nested.error == "the compiler failed: the program is nested too deeply (in phase import)"
    good = """
      func.func @main() -> !frame.table<"x": i32> {
        %0 = frame.values [[1]] : !frame.table<"x": i32>
        return %0 : !frame.table<"x": i32>
      }"""
    answer = _answer(session, good)
    assert answer.ok, answer.error


def test_more_tasks_than_a_plan_has() -> None:
    parts = ", ".join(f"(select max(x) from t where x % {i + 2} = 1) as m{i}" for i in range(900))
    with pytest.raises(
        hr.errors.UnsupportedError,
        match="^a program of more than 4096 tasks is not supported; divide it into several, which keep",
    ):
        hr.sql(f"select {parts}", {"t": pa.table({"x": [1, 2, 3]})})


def test_large_kernels_say_which_of_their_columns_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    # Fast code of more than 8,192 instructions, whose status goes through memory.
    monkeypatch.setenv("HEADRACE_QUICK_ROWS", "0")
    columns = 150
    items = ", ".join(f"upper(cast(cast(c{i} as int) + 1 as varchar)) as d{i}" for i in range(columns))
    table = {f"c{i}": [str(i), "-7", None] for i in range(columns)}
    found = hr.sql(f"select {items} from t", {"t": pa.table(table)})
    assert found.to_pydict() == {f"d{i}": [str(i + 1), "-6", None] for i in range(columns)}
    for wrong in (0, columns - 1):
        with pytest.raises(hr.errors.DataError, match=rf"^value cannot be cast \(at CAST\(c{wrong}\), "):
            hr.sql(f"select {items} from t", {"t": pa.table(table | {f"c{wrong}": ["1", "2", "x"]})})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sum(a + 1) filter (where a > 1)", 7),
        ("sum(case when a > 1 then a * 2 end)", 10),
        ("sum(case when a > 1 then a * 2 else b end)", 11),
        ("min(a + b) filter (where a < 3 and b is not null)", 2),
        ("max(coalesce(a, b) * 2) filter (where b > 0)", 6),
        ("count(case when a + b > 2 then 1 end)", 2),
    ],
)
def test_guarded_aggregates_compile(expression: str, expected: int) -> None:
    # LLVM's instcombine once checked here that it had come to its fixpoint, and ended the process.
    table = pa.table({"a": [1, 2, 3, None], "b": [1, 2, 3, None]})
    assert hr.sql(f"select {expression} as x from s", {"s": table}).column("x").to_pylist() == [expected]


@pytest.mark.parametrize("digits", [9, 18, 19, 38])
def test_joins_on_decimals_without_a_value(digits: int) -> None:
    # A narrow dense side is indexed by its keys; keys of the other side that need 128 bits were cut to 64.
    kind = pa.decimal128(digits, 2)
    empty = pa.table({"k": pa.array([None, None], kind), "v": [1, 2]})
    wide = pa.table(
        {"k": pa.array([decimal.Decimal("1.50"), decimal.Decimal(10 ** (digits - 3))], kind), "v": [1, 2]}
    )
    dense = pa.table({"k": pa.array([decimal.Decimal("1.50")], kind), "w": [1]})
    for left, matches in ((empty, []), (wide, [{"v": 1, "w": 1}])):
        tables = {"a": left, "b": dense}
        assert hr.sql("select v, w from a join b on a.k = b.k", tables).to_pylist() == matches
        assert hr.sql("select v, w from b join a on a.k = b.k", tables).to_pylist() == matches
        found = hr.sql("select v from a where k in (select k from b)", tables).to_pylist()
        assert found == [{"v": row["v"]} for row in matches]


def test_a_query_in_a_hundred_thousand_others_ends_no_process() -> None:
    text = "select * from (" * 100_000 + "select 1 as x" + ")" * 100_000
    with pytest.raises(hr.errors.SqlError, match="more than 20,000 brackets in each other"):
        hr.sql(text)


def _sum(terms: int) -> str:
    adds = "\n".join(f"%s{n} = frame.add %s{n - 1}, %a : (f64, f64) -> f64" for n in range(1, terms))
    return f"""
      func.func @main() -> !frame.table<"s": f64> {{
        %t = frame.scan "t" ["a"] : !frame.table<"a": f64>
        %p = frame.project %t keep [] compute ["s"] columns ["a"] {{
        ^bb0(%a: f64):
          %s0 = frame.add %a, %a : (f64, f64) -> f64
          {adds}
          frame.yield %s{terms - 1} : f64
        }} : !frame.table<"a": f64> -> !frame.table<"s": f64>
        return %p : !frame.table<"s": f64>
      }}"""


def _case(arms: int) -> str:
    made = "\n".join(
        f"%k{n} = frame.constant {n} : i64\n%c{n} = frame.compare eq %a, %k{n} : (i64, i64) -> i1"
        for n in range(arms)
    )
    conditions, values = (", ".join(f"%{letter}{n}" for n in range(arms)) for letter in "ck")
    types = f"({', '.join(['i1'] * arms)}), ({', '.join(['i64'] * arms)}), i64 -> i64"
    return f"""
      func.func @main() -> !frame.table<"s": i64> {{
        %t = frame.scan "t" ["a"] : !frame.table<"a": i64>
        %p = frame.project %t keep [] compute ["s"] columns ["a"] {{
        ^bb0(%a: i64):
          {made}
          %r = frame.case when {conditions} then {values} else %a : {types}
          frame.yield %r : i64
        }} : !frame.table<"a": i64> -> !frame.table<"s": i64>
        return %p : !frame.table<"s": i64>
      }}"""


@pytest.mark.parametrize(("program", "size"), [(_sum, 5_000), (_case, 1_000)])
def test_time_does_not_explode(program: Callable[[int], str], size: int) -> None:
    session = _compiler.Session()

    def seconds(of: int) -> float:
        begin = time.process_time()
        answer = _answer(session, program(of))
        assert answer.ok, answer.error
        return time.process_time() - begin

    seconds(10)  # what a first compilation takes besides
    small, large = (min(seconds(of) for _ in range(2)) for of in (size, 2 * size))
    assert large < 3.2 * small + 0.2, f"{size}: {small:.2f} s, {2 * size}: {large:.2f} s"


MANY = {
    "chain": lambda n: (
        f"select u0.i, u{n - 1}.i as z from u u0 "
        + " ".join(f"join u u{k} on u{k}.i = u{k - 1}.j" for k in range(1, n))
    ),
    "comma": lambda n: (
        f"select u0.i, u{n - 1}.i as z from {', '.join(f'u u{k}' for k in range(n))} where "
        + " and ".join(f"u{k}.i = u{k - 1}.j" for k in range(1, n))
    ),
    "cross": lambda n: (
        f"select u0.i, u{n - 1}.i as z from u u0 "
        + " ".join(f"cross join (select max(i) + {k} as i from u) u{k}" for k in range(1, n))
    ),
    "subqueries": lambda n: (
        "select " + ", ".join(f"(select sum(i) + {k} from u where i <> {k}) as c{k}" for k in range(n))
    ),
}


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("n", [65, 100, 200])
@pytest.mark.parametrize("shape", MANY)
def test_joins_of_many_relations(shape: str, n: int, ranks: int) -> None:
    # More than the join order is searched for at once.
    rows = hr.sql(MANY[shape](n), {"u": pa.table({"i": [0, 1, 2], "j": [1, 2, 0]})}, ranks=ranks).to_pylist()
    if shape == "subqueries":
        assert [list(row.values()) for row in rows] == [[3 + k - (k if k < 3 else 0) for k in range(n)]]
    else:
        ends = [n + 1] * 3 if shape == "cross" else [(i + n - 1) % 3 for i in range(3)]
        assert sorted((row["i"], row["z"]) for row in rows) == list(enumerate(ends))


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("n", [10, 15, 20])
def test_estimates_squared_again_and_again(n: int, ranks: int) -> None:
    # Each join has the square of the rows before, by estimate: more than any number holds after ten.
    tables = ", ".join(
        f"x{k} as (select a.i + {k} as i from x{k - 1} a join x{k - 1} b on a.i = b.i)"
        for k in range(1, n + 1)
    )
    text = f"with x0 as (select i from u), {tables} select count(*) as n, sum(i) as s from x{n}"
    table = pa.table({"i": pa.array([0, 1, None], pa.int64())})
    assert hr.sql(text, {"u": table}, ranks=ranks).to_pylist() == [{"n": 2, "s": 1 + n * (n + 1)}]
