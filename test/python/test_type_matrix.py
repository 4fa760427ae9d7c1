"""Every function, operator, cast, aggregate and kind of key over every type and its extremes, against DuckDB.

What differs knowingly stands in one table of docs/semantics.md, which is read here: a difference that is not
listed fails, and so does one that is listed and gone. Each type runs on one number of ranks, with
HEADRACE_MATRIX=all on 1, 2 and 3, and with all cases.
"""

from __future__ import annotations

import fnmatch
import os
import re
from pathlib import Path

import pyarrow as pa
import pytest
import type_matrix as matrix
from sql_oracle import Oracle, difference, rows_of

_SEMANTICS = Path(__file__).parents[2] / "docs" / "semantics.md"
_ALL = os.environ.get("HEADRACE_MATRIX") == "all"
_BATCH = 24
_RANKS = (1, 2, 3)


def _documented() -> list[str]:
    """The patterns `TYPE: expression` of the table of differences."""
    text = _SEMANTICS.read_text()
    table = re.search(r"<!-- differences -->\n(.*?)<!-- end -->", text, re.DOTALL)
    rows = table.group(1).splitlines() if table else []
    return [
        pattern
        for row in rows
        for pattern in re.findall(r"`([A-Z*][^`]*: [^`]+)`", row.split("|")[1] if "|" in row else "")
    ]


def _cases(kinds: tuple[matrix.Kind, ...]) -> list[object]:
    return [
        pytest.param(kind, ranks, id=f"{kind.name}-{ranks}")
        for position, kind in enumerate(kinds)
        for ranks in (_RANKS if _ALL else (_RANKS[position % 3],))
    ]


class Findings:
    """Differences by `TYPE: expression`, held against those that are documented."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.tried: list[str] = []

    def add(self, name: str, difference: str | None) -> None:
        self.tried.append(name)
        if difference and name not in self.found:
            self.found[name] = difference

    def check(self) -> None:
        patterns = _documented()
        new = {n: d for n, d in self.found.items() if not any(fnmatch.fnmatchcase(n, p) for p in patterns)}
        gone = [
            p
            for p in patterns
            if (tried := fnmatch.filter(self.tried, p)) and not any(name in self.found for name in tried)
        ]
        text = "\n".join(f"{name}  {difference}" for name, difference in new.items())
        assert not new, f"{len(new)} of {len(self.tried)} differ from DuckDB:\n{text}"
        assert not gone, f"documented in semantics.md, but no difference any more: {gone}"


def _good_rows(oracle: Oracle, expression: str) -> list[int]:
    """The rows for which DuckDB computes the expression."""
    tried = oracle.duckdb(f"select i, try({expression}) is null as failed from t").table
    if tried is None:
        return _computed(oracle, expression, list(range(oracle.tables["t"].num_rows)))
    rows = list(zip(tried.column("i").to_pylist(), tried.column("failed").to_pylist(), strict=True))
    # NULL may be an error, or the value.
    nulls = _computed(oracle, expression, [row for row, failed in rows if failed])
    return sorted([row for row, failed in rows if not failed] + nulls)


def _computed(oracle: Oracle, expression: str, rows: list[int]) -> list[int]:
    """Those of the rows for which DuckDB does not fail."""
    if not rows:
        return []
    listed = ", ".join(map(str, rows))
    if oracle.duckdb(f"select {expression} as x from t where i in ({listed})").table is not None:
        return rows
    middle = len(rows) // 2
    if middle == 0:
        return []
    return _computed(oracle, expression, rows[:middle]) + _computed(oracle, expression, rows[middle:])


def _check_expressions(
    findings: Findings, label: str, table: pa.Table, expressions: list[str], ranks: int
) -> None:
    oracle = Oracle({"t": table})
    total: list[str] = []
    for expression in expressions:
        answer = oracle.duckdb(f"select {expression} as x from t")
        if answer.table is not None:
            total.append(expression)
        elif answer.kind not in ("BinderException", "CatalogException", "ParserException"):
            _check_partial(findings, f"{label}: {expression}", oracle, expression, ranks)
    for start in range(0, len(total), _BATCH):
        batch = total[start : start + _BATCH]
        columns = ", ".join(f"{expression} as c{number}" for number, expression in enumerate(batch))
        if oracle.difference(f"select i, {columns} from t", ranks) is None:
            for expression in batch:
                findings.add(f"{label}: {expression}", None)
            continue
        for expression in batch:
            query = f"select i, {expression} as x from t"
            findings.add(f"{label}: {expression}", oracle.difference(query, ranks))


def _check_partial(findings: Findings, name: str, oracle: Oracle, expression: str, ranks: int) -> None:
    """An expression that fails for some rows: right for the others, and an error for one of those.

    What fails for every row that is not NULL may be refused.
    """
    good = _good_rows(oracle, expression)
    bad = next(i for i in range(oracle.tables["t"].num_rows) if i not in set(good))
    failing = oracle.headrace(f"select i, {expression} as x from t where i = {bad}", ranks)
    if good:
        chosen = f"select i, {expression} as x from t where i in ({', '.join(map(str, good))})"
        wanted = oracle.duckdb(chosen)
        values = wanted.table.column("x").null_count != len(good) if wanted.table is not None else True
        if not values and failing.kind == "unsupported":
            findings.add(name, None)
            return
        findings.add(name, difference(oracle.headrace(chosen, ranks), wanted))
    if failing.table is not None:
        findings.add(name, f"answers {rows_of(failing.table)} where DuckDB fails")
    elif failing.kind not in ("data", "user"):
        findings.add(name, f"fails with kind {failing.kind}: {failing.error}")


@pytest.mark.parametrize(("kind", "ranks"), _cases(matrix.KINDS))
def test_scalars(kind: matrix.Kind, ranks: int) -> None:
    findings = Findings()
    _check_expressions(findings, kind.sql, matrix.pairs(kind), matrix.scalars(kind), ranks)
    findings.check()


@pytest.mark.parametrize("target", (*matrix.CASTS, "BLOB", "UUID"))
def test_casts_of_text(target: str) -> None:
    findings = Findings()
    texts = matrix.TEXTS
    oracle = Oracle({"t": pa.table({"i": pa.array(range(len(texts)), pa.int32()), "a": list(texts)})})
    cast = f"cast(a as {target}) as x"
    good = oracle.duckdb(f"select i from t where try_cast(a as {target}) is not null").table
    valid = set(good.column("i").to_pylist())
    chosen = f"select i, {cast} from t where i in ({', '.join(map(str, sorted(valid)))})"
    agree = oracle.difference(chosen) is None
    quoted = [text.replace("'", "''") for text in texts]
    literals = [f"cast('{quoted[i]}' as {target}) as c{i}" for i in sorted(valid)]
    agree = agree and oracle.difference("select " + ", ".join(literals)) is None
    agree = agree and oracle.difference(f"select i, try_{cast} from t") is None
    seldom = 1 if _ALL else 6
    for i, text in enumerate(texts):
        name = f"VARCHAR: cast({text!r} as {target})"
        if i in valid:
            literal = f"select cast('{quoted[i]}' as {target})"
            problem = None
            if not agree:
                problem = (
                    oracle.difference(f"select {cast} from t where i = {i}")
                    or oracle.difference(f"select try_{cast} from t where i = {i}")
                    or oracle.difference(literal)
                )
            findings.add(name, problem)
        elif i % seldom == len(target) % seldom:
            findings.add(name, oracle.difference(f"select {cast} from t where i = {i}"))
            if not agree:
                findings.add(name, oracle.difference(f"select try_{cast} from t where i = {i}"))
    findings.check()


def test_mixed_numbers() -> None:
    findings = Findings()
    for position, (a, b, expressions) in enumerate(matrix.mixed()):
        if _ALL or position % 5 == 0:
            label = f"{a.sql} and {b.sql}"
            _check_expressions(findings, label, matrix.pairs(a, b), list(expressions), 1)
    findings.check()


@pytest.mark.parametrize(("kind", "ranks"), _cases(matrix.KINDS))
def test_aggregates(kind: matrix.Kind, ranks: int) -> None:
    findings = Findings()
    for shape in ("extremes", "plain", "empty", "null", "one"):
        oracle = Oracle({"t": matrix.grouped(kind, shape)})
        for query in ("select {} from t", "select g, {} from t group by g"):
            _check_aggregates(findings, oracle, kind, query, ranks)
    findings.check()


def _check_aggregates(findings: Findings, oracle: Oracle, kind: matrix.Kind, query: str, ranks: int) -> None:
    chosen = [each for each in matrix.aggregates(kind) if oracle.duckdb(query.format(each)).table is not None]
    columns = ", ".join(f"{each} as c{number}" for number, each in enumerate(chosen))
    agree = oracle.difference(query.format(columns), ranks) is None
    for each in matrix.aggregates(kind):
        if agree and each in chosen:
            findings.add(f"{kind.sql}: {each}", None)
        else:
            findings.add(f"{kind.sql}: {each}", oracle.difference(query.format(each), ranks))


@pytest.mark.parametrize(("kind", "ranks"), _cases(matrix.KINDS))
def test_keys(kind: matrix.Kind, ranks: int) -> None:
    findings = Findings()
    shapes = [
        ("extremes", "extremes"),
        ("extremes", "null"),
        ("null", "extremes"),
        ("plain", "empty"),
        ("empty", "plain"),
    ]
    for position, (left, right) in enumerate(shapes):
        oracle = Oracle({"l": matrix.grouped(kind, left), "r": matrix.grouped(kind, right)})
        for number, query in enumerate(matrix.KEYS):
            if _ALL or left == right == "extremes" or number % 4 == position % 4:
                findings.add(f"{kind.sql}: {query}", oracle.difference(query, ranks))
    findings.check()


@pytest.mark.parametrize(("kind", "ranks"), _cases(matrix.KINDS))
def test_orders(kind: matrix.Kind, ranks: int) -> None:
    findings = Findings()
    oracle = Oracle({"l": matrix.grouped(kind, "extremes")})
    for query in matrix.ORDERS:
        findings.add(f"{kind.sql}: {query}", oracle.difference(query, ranks, ordered=True))
    findings.check()
