"""A query of a session, which runs when it is asked for rows."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._src.arguments import checked_methods
from headrace._src.errors import HeadraceError, UserError
from headrace._src.part_files import output_of
from headrace._src.query import sql as queries
from headrace._src.query.copy_to import Copy
from headrace._src.query.profile import Profile
from headrace._src.session import display
from headrace._src.session.transactions import within
from headrace._src.sql.arrow_types import arrow_type
from headrace._src.sql.composed import Composed, Part
from headrace._src.sql.script import query_alone, script_of
from headrace._src.sql.zones import checked_zone, schema_in_zone

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow as pa

    from headrace._src.session.effects import Answer
    from headrace._src.session.names import Bound
    from headrace._src.session.session import Session


@checked_methods
class Relation:
    """A query that runs when it is asked for rows, anew each time. Print it for its first rows.

    Whatever takes Arrow data takes it too (`polars.DataFrame(relation)`), and so does `Session.register`.
    """

    def __init__(
        self,
        session: Session,
        text: str,
        bound: Bound,
        options: dict[str, Any],
        answer: Answer | None = None,
    ) -> None:
        """answer: of a statement that was done; there is nothing left to run."""
        self.session = session
        #: The query, with the values of its parameters.
        self.text = text
        self._bound = bound
        self._options = options
        self._answer = answer
        self._transaction = session._transactions.running

    @property
    def is_answer(self) -> bool:
        """Whether it is what a statement says that has changed a table or view."""
        return self._answer is not None

    @property
    def changed(self) -> int:
        """How many rows of a table the statement has changed; -1 of a query, and of what is about none."""
        return self._answer.count if self._answer else -1

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the columns, as SQL writes them; none of what is no query over the tables."""
        if self._answer:
            return self._answer.types
        return self._bound.plan.types if self._bound.plan else ()

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns, without running the query."""
        import pyarrow as pa

        plan = self._bound.plan
        if plan is None:  # EXPLAIN, DESCRIBE or SHOW
            return self.arrow().schema
        schema = pa.schema(list(zip(plan.names, map(arrow_type, plan.types), strict=True)))
        zone = self._options.get("time_zone")
        return schema_in_zone(schema, zone and checked_zone(zone))

    def arrow(self) -> pa.Table:
        """The rows as a pyarrow.Table."""
        if self._answer:
            return self._answer.rows
        return self._ask(queries.sql, self._bound.composed)

    def batches(self) -> pa.RecordBatchReader:
        """The rows as record batches, for results that are larger than memory; see `headrace.batches`."""
        if self._answer:
            return self._answer.rows.to_reader()
        return self._ask(queries.batches, self._bound.composed)

    def df(self) -> pandas.DataFrame:
        """The rows as a pandas.DataFrame; UserError if pandas is not installed."""
        needed("pandas", "df() needs pandas: pip install pandas")
        return self._rows(lambda table: table.to_pandas())

    def pl(self) -> polars.DataFrame:
        """The rows as a polars.DataFrame; UserError if Polars is not installed."""
        polars = needed("polars", "pl() needs Polars: pip install polars")
        return self._rows(polars.from_arrow)

    def numpy(self) -> dict[str, np.ndarray]:
        """The columns as NumPy arrays, by name; with NULLs, numbers become floats with NaN."""
        return self._rows(display.arrays)

    def write_parquet(self, path: str | Path, **options: Any) -> None:
        """Writes the rows to a Parquet file, which is there whole or not at all.

        options: compression ("snappy", "zstd", …), compression_level, row_group_size in rows. Or those of a
            folder of files, which all ranks write at once: per_thread_output=True, or partition_by (a column
            or several), and overwrite=True, to replace one that is there.
        """
        self._write(path, ".parquet", options)

    def write_csv(self, path: str | Path, **options: Any) -> None:
        """The same as CSV; options: header, delim, quote, escape, nullstr, force_quote (a column, several or
        "*"), compression ("gzip", "zstd"), and those of a folder."""
        self._write(path, ".csv", options)

    def _write(self, path: str | Path, suffix: str, options: dict[str, Any]) -> None:
        output = output_of(str(path), suffix, **options)
        self._ask(queries.written, self._bound.composed, output=output)

    def copy(self, copy: Copy) -> int | None:
        """What COPY asks for, of these rows: their number, or None on ranks beside rank 0."""
        text = self._bound.composed.text
        given = {name: value for name, value in self._options.items() if name != "settings"}
        given["settings"] = self.session._options_of_run(text, self._options).get("settings")
        try:
            rows = queries.copied(replace(copy, query=text), self._bound.tables, given)
        except HeadraceError as error:
            raise self._bound.composed.retold(error) from None
        return None if rows is None else rows["Count"][0].as_py()

    def explain(self, **options: Any) -> str:
        """What was decided for the query and why; options: those of `headrace.explain`."""
        return self._ask(queries.explain, self._bound.composed, **options)

    def profile(self) -> Profile:
        """Runs the query for what it takes."""
        return self._ask(queries.profiled, self._bound.composed)

    def _rows(self, take: Callable[[pa.Table], Any]) -> Any:
        """What `take` makes of the rows; None on the ranks of a cluster that have none."""
        table = self.arrow()
        return None if table is None else take(table)

    def _ask(self, call: Callable[..., Any], composed: Composed, **options: Any) -> Any:
        """A call of `sql` and its like, with the session's options that it takes."""
        if self._answer:
            raise UserError("the statement has been done: it is no query that runs again")
        taken = call.__annotations__
        given = self._options
        if call is not queries.explain:
            given = self.session._options_of_run(composed.text, given)
        known = {name: value for name, value in given.items() if name in taken or "options" in taken}
        with within(self._transaction):
            try:
                return call(composed.text, self._bound.tables, **{**known, **options})
            except HeadraceError as error:
                raise composed.retold(error) from None

    def _first_rows(self) -> pa.Table:
        if self._bound.plan is None:
            return self.arrow()
        *views, own = self._bound.composed.parts
        script = script_of(own.text)
        around = Part("".join(script.definitions) + "select * from (", "its first rows")
        # The query keeps its lines: what stands before it is blank.
        parts = (*views, around, Part(query_alone(script.query)), Part(f") limit {display.ROWS + 1}"))
        return self._ask(queries.sql, Composed(parts))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        table = self._first_rows()
        return "a relation, whose rows are on rank 0" if table is None else display.as_text(table)

    def _repr_html_(self) -> str:
        table = self._first_rows()
        return "" if table is None else display.as_html(table)


def needed(module: str, message: str) -> Any:
    """A package that headrace does without."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise UserError(message) from None
