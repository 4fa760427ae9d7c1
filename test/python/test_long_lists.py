"""`x IN (…)` of very many literals against DuckDB: as a condition, denied, as a value, of NULLs, by type."""

from __future__ import annotations

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import check

_ROWS = range(600)
TABLES = {
    "t": pa.table(
        {
            "i": [None if k % 7 == 0 else k * 3 % 501 for k in _ROWS],
            "n": pa.array([k % 256 for k in _ROWS], pa.uint8()),
            "s": [None if k % 11 == 0 else f"x{k * 5 % 403}" for k in _ROWS],
            "d": pa.array([k * 1000 % 70_000 for k in _ROWS], pa.date32()),
            "f": [k / 4 for k in _ROWS],
            "k": list(_ROWS),
        }
    )
}


def _list(pattern: str) -> str:
    return ", ".join(pattern.format(k) for k in range(0, 400, 2))


_LISTS = {
    "i": _list("{}"),
    "n": _list("{}"),
    "s": _list("'x{}'"),
    "d": ", ".join(f"date '1970-01-01' + {k * 500}" for k in range(150)),
    "f": _list("{}.5"),
}
_FORMS = [
    "select k from t where {c} in ({l})",
    "select k from t where {c} not in ({l})",
    "select k from t where {c} in ({l}) and k > 20 and 100 // k < 4",
    "select k from t where {c} in ({l}) or k < 20",
    "select k, {c} in ({l}) as a, case when {c} not in ({l}) then 1 when k > 5 then 2 end as b from t",
    "select {c}, count(*) from t where {c} in ({l}) group by {c} having {c} not in ({l}) or count(*) > 1",
    "select a.k from t a join t b on a.k = b.k and b.{c} in ({l})",
    "select a.k, b.k from t a left join t b on a.k = b.k and b.{c} in ({l}) where a.{c} in ({l})",
    "select k from t where {c} in ({l}, null)",
    "select k from t where {c} in ({l}) limit 7",
]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("column", _LISTS)
def test_answers_are_duckdbs(column: str, ranks: int) -> None:
    for form in _FORMS:
        check(form.format(c=column, l=_LISTS[column]), TABLES, ranks=ranks)


def test_rows_stay_in_their_order() -> None:
    rows = pa.table({"k": range(300_000), "m": [k % 1000 for k in range(300_000)]})
    text = f"select k from rows where m not in ({_list('{}')}) and m in ({_list('{}')}, 1, 3)"
    expected = [k for k in range(300_000) if k % 1000 in (1, 3)]  # DuckDB joins: any order
    assert hr.sql(text, {"rows": rows}, threads=2)["k"].to_pylist() == expected
