"""The first rows of a relation or frame as text and HTML, and columns as NumPy arrays."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from headrace._src.sql.literals import value_text

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

#: That are shown.
ROWS = 10
#: Characters of a cell.
_WIDTH = 40


def as_text(table: pa.Table) -> str:
    """Names, types and the first rows, aligned; a last line says if there are more."""
    lines = [table.column_names, _types(table), *_cells(table)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(2, ["-" * width for width in widths])
    shown = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([*shown, *(["…"] if table.num_rows > ROWS else [])])


def as_html(table: pa.Table) -> str:
    """The same as a table of HTML."""
    head = "".join(
        f"<th>{escape(name)}<br><small>{escape(kind)}</small></th>"
        for name, kind in zip(table.column_names, _types(table), strict=True)
    )
    rows = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in _cells(table)]
    if table.num_rows > ROWS:
        rows.append(f'<td colspan="{table.num_columns}">…</td>')
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def arrays(table: pa.Table) -> dict[str, np.ndarray]:
    """The columns by name; of several with one name the last."""
    return {name: column.to_numpy() for name, column in zip(table.column_names, table.columns, strict=True)}


def _types(table: pa.Table) -> list[str]:
    return [str(field.type) for field in table.schema]


def _cells(table: pa.Table) -> list[list[str]]:
    columns = [[_cell(value) for value in column.to_pylist()] for column in table.slice(0, ROWS).columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _cell(value: Any) -> str:
    text = value_text(value).replace("\n", "\\n")
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
