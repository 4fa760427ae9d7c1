"""`headrace.polars_engine`: runs of a Polars program what headrace knows, and leaves the rest to Polars."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace._src.arguments import check_options, checked
from headrace._src.errors import HeadraceError, UserError
from headrace._src.frame.lazy_frame import LazyFrame
from headrace._src.polars.plan import Built, built
from headrace._src.query.sql import sql
from headrace._src.query.temporary_files import current_settings

if TYPE_CHECKING:
    import polars

#: Of the plans that Polars shows, as far as they are known here.
_VERSION = (16, 0)


@dataclass
class Report:
    """What became of a query of Polars; print it."""

    #: The parts that headrace runs, by their outermost operation.
    ran: list[str] = field(default_factory=list)
    #: What is left to Polars, and why.
    left: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [*(f"headrace: {each}" for each in self.ran), *(f"Polars:   {each}" for each in self.left)]
        return "\n".join(lines) or "nothing has run"


class PolarsEngine:
    """What `collect` of Polars calls with its optimised plan. Made by `polars_engine`.

    report: what became of the last query.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self.report = Report()

    def __call__(self, nt: Any, _seconds: float | None = None) -> None:
        self.report = Report()
        if nt.version() != _VERSION:
            self.report.left.append(f"all: plans of version {nt.version()}, known is {_VERSION}")
        else:
            root = nt.get_node()
            _Parts(nt, self.report, self._options).place(root)
            nt.set_node(root)
        _log(str(self.report))


@checked
def polars_engine(**options: Any) -> PolarsEngine:
    """For Polars' `lf.collect(post_opt_callback=hr.polars_engine())`: runs what headrace knows of the query.

    The largest parts of Polars' optimised plan whose operations, expressions and types headrace knows are
    compiled and run as frames are; Polars runs what is left. The result is that of Polars, in its types and
    its order, but for what semantics.md lists of frames. Print `engine.report` for what was left and why; the
    log has it as well (HEADRACE_LOG=info).

    options: those of `sql`: ranks, threads, memory.
    """
    check_options(options, sql)
    return PolarsEngine(options)


class _Parts:
    """Finds the parts of a plan that become frames, and puts these in their places."""

    def __init__(self, nt: Any, report: Report, options: dict[str, Any]) -> None:
        self._nt = nt
        self._report = report
        self._options = options
        self._built: dict[int, Built | None] = {}
        self._why: dict[int, str] = {}
        self._placed: set[int] = set()

    def place(self, node: int) -> None:
        """Puts frames in the place of this node, or of nodes below it."""
        if node in self._placed:
            return
        self._placed.add(node)
        found = self._frame(node)
        self._nt.set_node(node)
        name, inputs = _name(self._nt), self._nt.get_inputs()
        why = self._why.get(node, "")
        if found is not None:
            why = self._run(node, name, found)
            if not why:
                return
        if why:
            self._report.left.append(f"{name}: {why}")
        for each in inputs:
            self.place(each)

    def _frame(self, node: int) -> Built | None:
        """A node as a frame, if all that is below it is one."""
        if node not in self._built:
            self._built[node] = None
            self._nt.set_node(node)
            below = [self._frame(each) for each in self._nt.get_inputs()]
            self._nt.set_node(node)
            if all(below):
                try:
                    self._built[node] = built(self._nt, [each for each in below if each])
                except Exception as error:  # Polars cannot show all that it plans
                    self._why[node] = str(error).partition(" (at ")[0]
        return self._built[node]

    def _run(self, node: int, name: str, found: Built) -> str:
        """Puts a frame in the place of its node; else why not."""
        if not found.computes:
            return "a source alone"
        if found.shared:
            return "values for the selection above, which are not of as many rows"
        try:
            found.frame.explain(**_compile_options(self._options))
        except HeadraceError as error:
            return str(error).splitlines()[0]
        self._nt.set_node(node)
        schema = dict(self._nt.get_schema())
        frame, options = found.frame, self._options

        def rows(columns: Any, predicate: Any, n_rows: Any, should_time: bool = False) -> polars.DataFrame:
            if columns is not None or predicate is not None or n_rows is not None:
                raise UserError(
                    "Polars asks a part of the plan for less than it was made for"
                )  # no test: it does not
            return _in_types(frame, schema, options)

        self._nt.set_udf(rows)
        self._report.ran.append(f"{name} of {', '.join(schema)}")
        return ""


def _name(nt: Any) -> str:
    """Of the operation that is being viewed."""
    try:
        return type(nt.view_current_node()).__name__
    except Exception:  # one that Polars does not show
        return "an operation"


def _in_types(frame: LazyFrame, schema: dict[str, Any], options: dict[str, Any]) -> polars.DataFrame:
    rows = frame.to_polars(**options)
    if "" not in schema:
        return rows.cast(schema)
    # A column without a name is given one when a frame is made of it, and is not cast by it.
    columns = zip(rows.get_columns(), schema.values(), strict=True)
    rows = type(rows)([column.cast(dtype) for column, dtype in columns])
    rows.columns = list(schema)
    return rows


def _compile_options(options: dict[str, Any]) -> dict[str, Any]:
    from headrace._src.query.sql import explain

    return {name: value for name, value in options.items() if name in explain.__annotations__}


def _log(text: str) -> None:
    from headrace import _runtime
    from headrace._src.errors import translated

    translated(lambda: _runtime.apply_log(current_settings()))
    for line in text.splitlines():
        _runtime.log("info", line)
