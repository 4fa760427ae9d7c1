"""Random programs of `frame`: scans, and a few relations on top, each valid by construction."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from random_expressions import Region, Term
from random_tables import Column, TableData, literal, random_table, random_value

#: No relation may get more rows than this.
_ROWS_MAX = 4000


@dataclass
class Relation:
    value: str
    columns: list[Column]
    rows_max: int

    @property
    def mlir(self) -> str:
        return "!frame.table<" + ", ".join(f'"{column.name}": {column.mlir}' for column in self.columns) + ">"


@dataclass
class Program:
    text: str
    tables: list[TableData] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)


def _names(columns: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in columns) + "]"


class _Builder:
    def __init__(self, random: Random, prefix: str) -> None:
        self._random = random
        self._lines: list[str] = []
        self._next = 0
        self._outer: list[Term] = []
        self.tables = [random_table(random, f"{prefix}t{index}") for index in range(random.randrange(1, 4))]

    def build(self) -> Program:
        random = self._random
        pool = [self._scan(table) for table in self.tables]
        for _ in range(random.randrange(1, 6)):
            source = random.choice(pool[-2:])
            steps = [self._filter, self._project, self._join, self._aggregate] * 2
            others = [self._distinct, self._union, self._subquery, self._values, self._correlated]
            step = random.choice([*steps, *others])
            made = step(source, pool)
            if made is not None:
                pool.append(made)
        result = self._ordered(pool[-1]) if random.random() < 0.4 else pool[-1]
        body = "\n".join(f"  {line}" for line in self._lines)
        text = f"func.func @main() -> {result.mlir} {{\n{body}\n  return {result.value} : {result.mlir}\n}}\n"
        return Program(text, self.tables, result.columns)

    def _fresh(self, stem: str) -> str:
        self._next += 1
        return f"{stem}_{self._next}"

    def _emit(self, text: str, columns: list[Column], rows_max: int) -> Relation:
        self._next += 1
        value = f"%r{self._next}"
        self._lines.append(f"{value} = {text}")
        return Relation(value, columns, rows_max)

    def _scan(self, table: TableData) -> Relation:
        columns = [Column(self._fresh(column.name), column.kind, column.nullable) for column in table.columns]
        relation = Relation("", columns, len(table.rows))
        files = _names([column.name for column in table.columns])
        text = f'frame.scan "{table.name}" {files}{table.statistics(self._random)} : {relation.mlir}'
        return self._emit(text, columns, len(table.rows))

    def _region(self, columns: list[Column]) -> Region:
        return Region(self._random, columns, self._outer)

    def _filter(self, source: Relation, pool: list[Relation]) -> Relation:
        region = self._region(source.columns)
        text = region.text([region.term("i1", 3)])
        return self._emit(
            f"frame.filter {source.value} columns {text} : {source.mlir}", source.columns, source.rows_max
        )

    def _project(self, source: Relation, pool: list[Relation]) -> Relation:
        random = self._random
        kept = [column for column in source.columns if random.random() < 0.6]
        region = self._region(source.columns)
        computed, terms = [], []
        for _ in range(random.randrange(0 if kept else 1, 3)):
            term = region.term(random.choice([*region.kinds(), "i64", "decimal<12, 3>"]), 3)
            terms.append(term)
            computed.append(Column(self._fresh("p"), term.kind, term.nullable))
        columns = [*kept, *computed]
        random.shuffle(columns)
        result = Relation("", columns, source.rows_max)
        text = (
            f"frame.project {source.value} keep {_names([c.name for c in kept])} compute "
            f"{_names([c.name for c in computed])} columns {region.text(terms)} : "
            f"{source.mlir} -> {result.mlir}"
        )
        return self._emit(text, columns, source.rows_max)

    def _renamed(self, source: Relation) -> Relation:
        columns = [Column(self._fresh("n"), column.kind, column.nullable) for column in source.columns]
        result = Relation("", columns, source.rows_max)
        return self._emit(
            f"frame.rename {source.value} : {source.mlir} -> {result.mlir}", columns, source.rows_max
        )

    def _join(self, left: Relation, pool: list[Relation]) -> Relation | None:
        random = self._random
        right = random.choice(pool)
        if left.rows_max * right.rows_max > _ROWS_MAX:
            return None
        if {column.name for column in left.columns} & {column.name for column in right.columns}:
            right = self._renamed(right)
        pairs = [(a, b) for a in left.columns for b in right.columns if a.kind == b.kind]
        random.shuffle(pairs)
        keys: list[tuple[Column, Column]] = []
        repeat = random.random() < 0.3  # one column in two keys
        for a, b in pairs[: random.choice([0, 1, 1, 1, 2, 3])]:
            if repeat or all(a != other and b != another for other, another in keys):
                keys.append((a, b))
        kinds = ["inner", "left", "semi", "anti", "mark", "right", "full", "inner", "left", "single", "mark"]
        kind = random.choice(kinds)
        residual = ""
        both = [*left.columns, *right.columns]
        if kind != "single" and random.random() < 0.25:
            region = self._region(both)
            text = region.text([region.term("i1", 2)])
            if not text.startswith("[]"):
                residual = f" residual {text}"
        aware = kind in ("anti", "mark") and bool(keys or residual) and random.random() < 0.5
        columns = self._joined_columns(kind, left.columns, right.columns, aware)
        rows = left.rows_max * right.rows_max + left.rows_max + right.rows_max
        if kind in ("semi", "anti", "mark"):
            rows = left.rows_max
        result = Relation("", columns, rows)
        on = f"{_names([a.name for a, _ in keys])} = {_names([b.name for _, b in keys])}"
        safe = [random.random() < 0.3 and not (aware and pair == keys[-1]) for pair in keys]
        flags = f" null_safe [{', '.join(str(flag).lower() for flag in safe)}]" if any(safe) else ""
        text = (
            f"frame.join {kind} {left.value}, {right.value}{' null_aware' if aware else ''} on {on}{flags}"
            f"{residual} : {left.mlir}, {right.mlir} -> {result.mlir}"
        )
        return self._emit(text, columns, rows)

    def _correlated(self, source: Relation, pool: list[Relation]) -> Relation | None:
        """A subquery on a column of the source, as plans have it: on its distinct values, joined back."""
        random = self._random
        inner = self._renamed(random.choice(pool))
        if source.rows_max * inner.rows_max > _ROWS_MAX:
            return None
        pairs = [(a, b) for a in source.columns for b in inner.columns if a.kind == b.kind]
        if not pairs:
            return None
        outer_key, inner_key = random.choice(pairs)
        one = Relation("", [outer_key], source.rows_max)
        keep = f"frame.project {source.value} keep {_names([outer_key.name])} compute [] columns []"
        kept = self._emit(
            f"{keep} {{\n^bb0:\n  frame.yield\n}} : {source.mlir} -> {one.mlir}", one.columns, one.rows_max
        )
        domain = self._renamed(self._distinct(kept, pool))
        equal = f"on {_names([inner_key.name])} = {_names([domain.columns[0].name])}"
        asked = self._emit(
            f"frame.join semi {inner.value}, {domain.value} {equal} : "
            f"{inner.mlir}, {domain.mlir} -> {inner.mlir}",
            inner.columns,
            inner.rows_max,
        )
        kind = random.choice(["inner", "left", "single", "mark"])
        if kind in ("inner", "left", "single"):
            count = Column(self._fresh("m"), "i64", False)
            groups = Relation("", [inner_key, count], asked.rows_max)
            asked = self._emit(
                f"frame.aggregate {asked.value} keys {_names([inner_key.name])} "
                f'measures [#frame.measure<count_star -> "{count.name}">] : {asked.mlir} -> {groups.mlir}',
                groups.columns,
                asked.rows_max,
            )
        columns = self._joined_columns(kind, source.columns, asked.columns, False)
        result = Relation("", columns, source.rows_max)
        equal = f"on {_names([outer_key.name])} = {_names([inner_key.name])} null_safe [true]"
        return self._emit(
            f"frame.join {kind} {source.value}, {asked.value} {equal} : "
            f"{source.mlir}, {asked.mlir} -> {result.mlir}",
            columns,
            result.rows_max,
        )

    def _joined_columns(
        self, kind: str, left: list[Column], right: list[Column], aware: bool
    ) -> list[Column]:
        def maybe(columns: list[Column], optional: bool) -> list[Column]:
            return [Column(c.name, c.kind, c.nullable or optional) for c in columns]

        if kind in ("semi", "anti"):
            return left
        if kind == "mark":
            return [*left, Column(self._fresh("mark"), "i1", aware)]
        return [*maybe(left, kind in ("right", "full")), *maybe(right, kind in ("left", "full", "single"))]

    def _aggregate(self, source: Relation, pool: list[Relation]) -> Relation:
        random = self._random
        keys = random.sample(source.columns, random.choice([0, 1, 1, min(2, len(source.columns))]))
        columns, measures = list(keys), []
        for _ in range(random.randrange(1, 4)):
            measured = self._measure(source, grouped=bool(keys))
            if measured:
                measures.append(measured[0])
                columns.append(measured[1])
        if not measures:
            columns.append(Column(self._fresh("m"), "i64", False))
            measures.append(f'#frame.measure<count_star -> "{columns[-1].name}">')
        result = Relation("", columns, source.rows_max)
        text = (
            f"frame.aggregate {source.value} keys {_names([key.name for key in keys])} "
            f"measures [{', '.join(measures)}] : {source.mlir} -> {result.mlir}"
        )
        return self._emit(text, columns, max(1, source.rows_max) if keys else 1)

    def _measure(self, source: Relation, grouped: bool) -> tuple[str, Column] | None:
        random = self._random
        column = random.choice(source.columns)
        name = self._fresh("m")
        functions = ["count", "count_distinct", "min", "max"]  # several distinct columns, too
        numeric = column.kind in ("i32", "i64", "f64") or column.kind.startswith("decimal")
        if column.kind == "i1":
            functions = ["count", "min", "max"]
        if numeric:
            functions += ["sum", "sum", "avg", "sum_distinct", "avg_distinct"]
        if column.kind in ("i32", "i64"):
            functions += ["bit_and", "bit_or", "bit_xor"]
        function = random.choice(functions)
        nullable = column.nullable or not grouped
        kind = column.kind
        if function.startswith("count"):
            kind, nullable = "i64", False
        elif function in ("sum", "sum_distinct", "avg", "avg_distinct"):
            folded = function.removesuffix("_distinct")
            if random.random() < 0.5:  # as DuckDB has it
                scale = column.scale if kind.startswith("decimal") else 0
                kind = "f64" if folded == "avg" or kind == "f64" else f"decimal<38, {scale}>"
            elif kind.startswith("decimal"):
                more = (4, 4) if folded == "avg" else (10, 0)
                if column.precision + more[0] > 38 or column.scale + more[1] > column.precision + more[0]:
                    return None
                kind = f"decimal<{min(column.precision + more[0], 38)}, {column.scale + more[1]}>"
            else:
                kind = "f64" if folded == "avg" or kind == "f64" else "i64"
        return f'#frame.measure<{function}("{column.name}") -> "{name}">', Column(name, kind, nullable)

    def _distinct(self, source: Relation, pool: list[Relation]) -> Relation:
        return self._emit(f"frame.distinct {source.value} : {source.mlir}", source.columns, source.rows_max)

    def _union(self, source: Relation, pool: list[Relation]) -> Relation:
        kinds = [column.kind for column in source.columns]
        others = [other for other in pool if [column.kind for column in other.columns] == kinds]
        other = self._random.choice(others)
        columns = [
            Column(self._fresh("u"), a.kind, a.nullable or b.nullable)
            for a, b in zip(source.columns, other.columns, strict=True)
        ]
        result = Relation("", columns, source.rows_max + other.rows_max)
        text = f"frame.union {source.value}, {other.value} : {source.mlir}, {other.mlir} -> {result.mlir}"
        return self._emit(text, columns, result.rows_max)

    def _values(self, source: Relation, pool: list[Relation]) -> Relation:
        """Literal rows with the column types of the source, so that they can be united and joined with it."""
        random = self._random
        columns = [Column(self._fresh("v"), column.kind, column.nullable) for column in source.columns]
        rows = []
        for _ in range(random.randrange(4)):
            cells = [
                "null"
                if column.nullable and random.random() < 0.2
                else literal(random_value(random, column.kind), column.kind)
                for column in columns
            ]
            rows.append(f"[{', '.join(cells)}]")
        result = Relation("", columns, len(rows))
        return self._emit(f"frame.values [{', '.join(rows)}] : {result.mlir}", columns, len(rows))

    def _subquery(self, source: Relation, pool: list[Relation]) -> None:
        """Makes a scalar that later expressions may use."""
        measured = self._measure(source, grouped=False)
        if not measured:
            return
        text, column = measured
        one = Relation("", [column], 1)
        made = self._emit(
            f"frame.aggregate {source.value} keys [] measures [{text}] : {source.mlir} -> {one.mlir}",
            [column],
            1,
        )
        scalar = Term(f"%q{self._next}", column.kind, True)
        self._lines.append(
            f"{scalar.name} = frame.scalar_subquery {made.value} : {made.mlir} -> {scalar.mlir}"
        )
        self._outer.append(scalar)

    def _ordered(self, source: Relation) -> Relation:
        """Ordered by all columns, so that a limit has one answer only."""
        random = self._random
        keys = ", ".join(
            f'#frame.sort_key<"{column.name}" {random.choice(["asc", "desc"])} '
            f"{random.choice(['nulls_first', 'nulls_last'])}>"
            for column in random.sample(source.columns, len(source.columns))
        )
        offset, count = random.choice([0, 0, 2]), random.randrange(12)
        skip = f"offset {offset} " if offset else ""
        choice = random.randrange(4)
        if choice == 0:
            return self._emit(
                f"frame.topk {source.value} by [{keys}] {skip}count {count} : {source.mlir}",
                source.columns,
                count,
            )
        made = self._emit(
            f"frame.sort {source.value} by [{keys}] : {source.mlir}", source.columns, source.rows_max
        )
        if choice == 1:
            return made
        if choice == 2:
            return self._emit(
                f"frame.limit {made.value} offset 2 : {made.mlir}", source.columns, source.rows_max
            )
        return self._emit(
            f"frame.limit {made.value} {skip}count {count} : {source.mlir}", source.columns, count
        )


def random_program(seed: int) -> Program:
    """The program that a seed stands for; its tables are named after it."""
    return _Builder(Random(seed), f"p{seed}").build()
