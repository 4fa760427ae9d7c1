"""lag and lead with IGNORE NULLS and an order of their own, as a walk over each frame and DuckDB say."""

from __future__ import annotations

import random

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check


def _table(rows: int = 150) -> pa.Table:
    chance = random.Random(23)

    def some(values: list[object]) -> list[object]:
        return [None if chance.random() < 0.3 else chance.choice(values) for _ in range(rows)]

    return pa.table(
        {
            "id": pa.array(chance.sample(range(1000), rows), pa.int32()),
            "g": some([1, 2, 3]),
            "y": pa.array(some([1, 2, 3, -(2**31), 2**31 - 1]), pa.int32()),
            "x": pa.array(some([5, 0, -(2**63), 2**63 - 1]), pa.int64()),
            "s": some(["", "a", "a text of more than twelve bytes"]),
            "none": pa.array([None] * rows, pa.int64()),
        }
    )


_TABLES = {"t": _table()}
_FRAMES = [
    "partition by g order by id",
    "order by id",
    "partition by g order by id rows between unbounded preceding and unbounded following",
    "partition by g order by id desc rows between 9 preceding and 4 following",
    "order by id rows between 12 preceding and 7 following",
    "partition by g order by id rows between 8 preceding and 2 preceding",
    "order by id range between 60 preceding and 40 following",
    "partition by g order by id groups between 5 preceding and 3 following",
    "partition by g order by y, id",
]


def _walked(frame: list[dict], own: dict, column: str, steps: int, otherwise: object = None) -> object:
    """The value that many steps away in the order of (y, id), y last where it is NULL."""

    def place(row: dict) -> tuple[bool, int, int]:
        return row["y"] is None, row["y"] or 0, row["id"]

    known = sorted((row for row in frame if row[column] is not None), key=place)
    before = [row for row in known if place(row) < place(own)]
    behind = [row for row in known if place(row) > place(own)]
    side = before[::-1] if steps < 0 else behind
    return side[abs(steps) - 1][column] if abs(steps) <= len(side) else otherwise


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("frame", _FRAMES)
def test_steps_over_values_that_are_there(frame: str, ranks: int) -> None:
    own = "order by y, id ignore nulls"
    found = hr.sql(
        f"""select id, lag(x {own}) over w as a, lead(x {own}) over w as b, lag(s, 3 {own}) over w as c,
            lead(s, 2, 'none' {own}) over w as d, lead(x, -2 {own}) over w as e, lag(x, 0 {own}) over w as f,
            lead(none {own}) over w as g, lag(x, null {own}) over w as h from t window w as ({frame})""",
        _TABLES,
        ranks=ranks,
    )
    rows = answer(
        f"""select id, y, x, s, list({{'id': id, 'y': y, 'x': x, 's': s}}) over w as f
            from t window w as ({frame})""",
        _TABLES,
    )
    wanted = {}
    for row in rows.to_pylist():
        seen = row["f"] or []
        wanted[row["id"]] = {
            "id": row["id"],
            "a": _walked(seen, row, "x", -1),
            "b": _walked(seen, row, "x", 1),
            "c": _walked(seen, row, "s", -3),
            "d": _walked(seen, row, "s", 2, "none"),
            "e": _walked(seen, row, "x", -2),
            "f": row["x"],
            "g": None,
            "h": None,
        }
    assert found.num_rows == len(wanted)
    for row in found.to_pylist():
        assert row == wanted[row["id"]]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("frame", _FRAMES)
def test_as_duckdb_where_null_is_last(frame: str, ranks: int) -> None:
    """DuckDB counts places among all rows and looks them up among those that are not NULL."""
    calls = [
        f"{function}(x{more} order by x is null, y {order}, id ignore nulls) over w"
        for function in ("lag", "lead")
        for more in ("", ", 2", ", id % 4")
        for order in ("nulls first", "desc")
    ]
    listed = ", ".join(f"{call} as c{place}" for place, call in enumerate(calls))
    check(
        f"select * from (select id, x, {listed} from t window w as ({frame})) where x is not null",
        _TABLES,
        ranks=ranks,
    )


@pytest.mark.parametrize("ranks", [1, 3])
def test_no_null(ranks: int) -> None:
    """The order of the window, too, is one of its own."""
    table = {"t": pa.table({"id": range(200), "x": [(7 * row) % 31 for row in range(200)]})}
    own = [
        f"{function}(id order by x, id{nulls})"
        for function in ("lag", "lead")
        for nulls in ("", " ignore nulls")
    ]
    for frame in ("order by x, id", "order by id rows between 5 preceding and 9 following"):
        found = hr.sql(
            f"select {', '.join(f'{call} over ({frame}) as c{at}' for at, call in enumerate(own))} from t",
            table,
            ranks=ranks,
        )
        assert found["c0"].to_pylist() == found["c1"].to_pylist()
        assert found["c2"].to_pylist() == found["c3"].to_pylist()
