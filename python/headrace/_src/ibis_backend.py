"""The back end that Ibis finds by its entry point: expressions as SQL for a session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import ibis
import ibis.backends.sql.compilers as compilers
import ibis.expr.operations as ops
import ibis.expr.schema as schemas
import pyarrow as pa
from ibis.backends import NoUrl
from ibis.backends.sql import SQLBackend
from ibis.formats.pyarrow import PyArrowData, PyArrowSchema

from headrace._src.errors import UnsupportedError, UserError
from headrace._src.query.tables import TablesArgument
from headrace._src.session.relation import Relation, needed
from headrace._src.session.session import Session
from headrace._src.session.session import connect as session_of
from headrace._src.sql.tables import quoted

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pandas as pd


class Rows(PyArrowData):
    """Arrow data with the types that Ibis expects, but for decimals.

    Ibis takes the digits of operands for those of a result: means and products would lose some.
    """

    @classmethod
    def convert_scalar(cls, scalar: pa.Scalar, dtype: Any) -> pa.Scalar:
        return scalar if dtype.is_decimal() else super().convert_scalar(scalar, dtype)

    @classmethod
    def convert_column(cls, column: pa.ChunkedArray, dtype: Any) -> pa.ChunkedArray:
        return column if dtype.is_decimal() else super().convert_column(column, dtype)

    @classmethod
    def convert_table(cls, table: pa.Table, schema: schemas.Schema) -> pa.Table:
        columns = zip(table.columns, schema.items(), strict=True)
        return pa.table({name: cls.convert_column(column, dtype) for column, (name, dtype) in columns})


class Backend(SQLBackend, NoUrl):
    """A connection of Ibis to a session; made by `connect`.

    Tables are those of the session; `create_table` names rows that Ibis has, and changes no file.
    """

    name = "headrace"
    compiler = compilers.duckdb.compiler

    def do_connect(self, tables: TablesArgument | Session | None = None, **options: Any) -> None:
        """Connects; the arguments are those of `headrace.connect`, or a session."""
        if isinstance(tables, Session) and options:
            raise UserError(f"a session has its options already: {', '.join(options)}")
        self.con = tables if isinstance(tables, Session) else session_of(tables, **options)

    def disconnect(self) -> None:
        """Does nothing: a session holds no connection."""

    @property
    def version(self) -> str:
        import headrace

        return headrace.__version__

    # Names.

    def list_tables(self, *, like: str | None = None, database: object = None) -> list[str]:
        """The names of tables and views; like: a regular expression that they match."""
        _no_database(database)
        return self._filter_with_like(self.con.tables, like)

    def get_schema(self, name: str, *, catalog: str | None = None, database: object = None) -> schemas.Schema:
        """Names and types of a table's columns."""
        _no_database(catalog or database)
        if name.lower() not in map(str.lower, self.con.tables):
            raise ibis.common.exceptions.TableNotFound(name)
        return PyArrowSchema.to_ibis(self.con.table(name).schema)

    def create_table(
        self,
        name: str,
        /,
        obj: Any = None,
        *,
        schema: Any = None,
        database: object = None,
        temp: bool = False,
        overwrite: bool = False,
    ) -> ir.Table:
        """A table of rows, or of a schema without any, which `insert` and `truncate_table` change.

        obj: an expression, which is computed, or what `ibis.memtable` takes.
        """
        _no_database(database)
        self._want_free(name, overwrite)
        kind = "temp table" if temp else "table"
        if obj is None:
            columns = ibis.schema(schema).to_sqlglot_column_defs(self.dialect)
            made = ", ".join(column.sql(self.dialect) for column in columns)
            text = f"create {kind} {quoted(name)} ({made})"
        else:
            table = obj if isinstance(obj, ibis.expr.types.Table) else ibis.memtable(obj, schema=schema)
            if name.lower() in map(str.lower, self.con.tables):
                # Its rows may come from the table that it replaces.
                table = ibis.memtable(self.to_pyarrow(table))
            self._run_pre_execute_hooks(table)
            text = f"create {kind} {quoted(name)} as {self.compile(table)}"
        if name.lower() in map(str.lower, self.con.tables):
            self.con.unregister(name)
        self.con.sql(text)
        return self.table(name)

    def create_view(
        self, name: str, /, obj: ir.Table, *, database: object = None, overwrite: bool = False
    ) -> ir.Table:
        """Names an expression, which is computed as a part of those that read it."""
        _no_database(database)
        self._want_free(name, overwrite)
        self._run_pre_execute_hooks(obj)
        self.con.view(name, self.compile(obj))
        return self.table(name)

    def drop_view(self, name: str, /, *, database: object = None, force: bool = False) -> None:
        self._drop(name, database, force, self.con.views)

    def drop_table(self, name: str, /, *, database: object = None, force: bool = False) -> None:
        """Forgets a name; files stay."""
        views = set(self.con.views)
        self._drop(name, database, force, [each for each in self.con.tables if each not in views])

    def _want_free(self, name: str, overwrite: bool) -> None:
        if not overwrite and name.lower() in map(str.lower, self.con.tables):
            raise UserError(f"there is a table or view of this name: {name}; overwrite=True replaces it")

    def _drop(self, name: str, database: object, force: bool, names: list[str]) -> None:
        _no_database(database)
        if name.lower() in map(str.lower, names):
            self.con.unregister(name)
        elif not force:
            raise ibis.common.exceptions.TableNotFound(name)

    def read_parquet(self, paths: Any, /, *, table_name: str | None = None, **_: Any) -> ir.Table:
        """A table of Parquet files: a path, a pattern or a list of these."""
        return self._read(paths, table_name)

    def read_csv(self, paths: Any, /, *, table_name: str | None = None, **_: Any) -> ir.Table:
        """A table of CSV files, with types by their texts."""
        return self._read(paths, table_name)

    def _read(self, paths: Any, name: str | None) -> ir.Table:
        name = name or ibis.util.gen_name("headrace_read")
        self.con.register(name, paths)
        return self.table(name)

    # Rows.

    def to_pyarrow(
        self,
        expr: ir.Expr,
        /,
        *,
        params: Mapping[ir.Scalar, Any] | None = None,
        limit: int | str | None = None,
        **_: Any,
    ) -> pa.Table | pa.ChunkedArray | pa.Scalar:
        """The rows of an expression as a pyarrow.Table, a column's as an array, a scalar's as one."""
        table = expr.as_table()
        rows = self._relation(table, params, limit).arrow()
        return expr.__pyarrow_result__(Rows.convert_table(rows, table.schema()), data_mapper=Rows)

    def to_pyarrow_batches(
        self,
        expr: ir.Expr,
        /,
        *,
        params: Mapping[ir.Scalar, Any] | None = None,
        limit: int | str | None = None,
        chunk_size: int = 1_000_000,
        **_: Any,
    ) -> pa.RecordBatchReader:
        """The rows of an expression as record batches, for results that are larger than memory."""
        table = expr.as_table()
        batches = self._relation(table, params, limit).batches()
        wanted = Rows.convert_table(batches.schema.empty_table(), table.schema()).schema

        def cut() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for start in range(0, batch.num_rows, chunk_size):
                    part = batch.slice(start, chunk_size).rename_columns(wanted.names)
                    yield part.cast(wanted)

        return pa.RecordBatchReader.from_batches(wanted, cut())

    def execute(
        self,
        expr: ir.Expr,
        /,
        *,
        params: Mapping[ir.Scalar, Any] | None = None,
        limit: int | str | None = None,
        **_: Any,
    ) -> pd.DataFrame | pd.Series | Any:
        """The rows of an expression as pandas has them."""
        pandas = needed("pandas", "execute() needs pandas, to_pyarrow() does not: pip install pandas")
        from ibis.formats.pandas import PandasData

        table = expr.as_table()
        rows = self.to_pyarrow(table, params=params, limit=limit)
        # pandas would make doubles of integers beside NULL in lists and structs.
        columns = {
            name: column.to_pylist() if column.type.num_fields else column.to_pandas()
            for name, column in zip(rows.column_names, rows.columns, strict=True)
        }
        return expr.__pandas_result__(PandasData.convert_table(pandas.DataFrame(columns), table.schema()))

    def explain(self, expr: ir.Expr, /, **options: Any) -> str:
        """What was decided for an expression and why; options: those of `headrace.explain`."""
        return self._relation(expr.as_table(), None, None).explain(**options)

    def raw_sql(self, query: Any, **_: Any) -> Relation:
        """A text, or an expression of sqlglot, as a relation of the session."""
        text = query if isinstance(query, str) else query.sql(dialect=self.dialect)
        return self.con.sql(text)

    @contextlib.contextmanager
    def _safe_raw_sql(self, query: Any, **_: Any) -> Iterator[Relation]:
        """What Ibis changes tables by."""
        yield self.raw_sql(query)

    def _relation(
        self, table: ir.Table, params: Mapping[ir.Scalar, Any] | None, limit: int | str | None
    ) -> Relation:
        self._run_pre_execute_hooks(table)
        return self.con.sql(self.compile(table, params=params, limit=limit))

    def _get_schema_using_query(self, query: str) -> schemas.Schema:
        return PyArrowSchema.to_ibis(self.con.sql(query).schema)

    def _register_in_memory_table(self, op: ops.InMemoryTable) -> None:
        self.con.register(op.name, op.data.to_pyarrow(op.schema))

    def _make_memtable_finalizer(self, name: str) -> Any:
        def forget(session: Session = self.con) -> None:
            with contextlib.suppress(UserError):  # it was never read
                session.unregister(name)

        return forget

    def _register_udfs(self, expr: ir.Expr) -> None:
        for udf in expr.op().find(ops.ScalarUDF):
            if udf.__input_type__ is not ops.udf.InputType.BUILTIN:
                raise UnsupportedError(f"functions in Python are not supported: {udf.__func_name__}")


def connect(tables: TablesArgument | Session | None = None, **options: Any) -> Backend:
    """A connection of Ibis; the arguments are those of `headrace.connect`, or a session."""
    backend = Backend()
    backend.do_connect(tables, **options)
    return backend


def _no_database(database: object) -> None:
    if database:
        raise UnsupportedError(f"a session has no databases, got {database!r}")
