"""Random scalar expressions of `frame` over some columns, as the lines of a region."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from dev import text_functions
from dev.math_functions import table
from dev.text_functions import TextFunction
from random_tables import Column, literal, random_value, type_text

#: Of which a small error in the argument stays one in the value.
_MATH = [
    function
    for function in table()
    if function.name in ("atan", "degrees", "isnan", "radians", "sin", "tanh")
]
#: Those of texts, not of other bytes, that have a value for all arguments.
_TEXT = [
    function
    for function in text_functions.table()
    if not function.error
    and all(
        argument.kind not in ("Binary", "Interval", "Unsigned128", "Uuid", "Enum")
        for argument in function.arguments
    )
]


@dataclass(frozen=True)
class Term:
    """A value in a region: its name, type and nullability."""

    name: str
    kind: str
    nullable: bool

    @property
    def mlir(self) -> str:
        return type_text(self.kind, self.nullable)


class Region:
    """Builds one expression region. Outer terms (results of scalar subqueries) may be used too."""

    def __init__(self, random: Random, columns: list[Column], outer: list[Term]) -> None:
        self._random = random
        self._columns = {
            column.name: Term(f"%{column.name}", column.kind, column.nullable) for column in columns
        }
        self._outer = outer
        self._used: list[str] = []
        self._lines: list[str] = []
        self._next = 0

    def text(self, yielded: list[Term]) -> str:
        """`columns [...] { ... }` with these values yielded."""
        names = ", ".join(f'"{name}"' for name in self._used)
        terms = [self._columns[name] for name in self._used]
        header = f"\n  ^bb0({', '.join(f'{term.name}: {term.mlir}' for term in terms)}):" if terms else ""
        values = ", ".join(term.name for term in yielded)
        kinds = ", ".join(term.mlir for term in yielded)
        end = f"    frame.yield {values} : {kinds}" if yielded else "    frame.yield"
        body = "".join(f"\n    {line}" for line in self._lines)
        return f"[{names}] {{{header}{body}\n{end}\n  }}"

    def kinds(self) -> list[str]:
        return sorted({term.kind for term in self._columns.values()})

    def column(self, name: str) -> Term:
        if name not in self._used:
            self._used.append(name)
        return self._columns[name]

    def term(self, kind: str, depth: int) -> Term:
        """A random expression of the kind."""
        random = self._random
        if depth <= 0 or random.random() < 0.25:
            return self._leaf(kind)
        if random.random() < 0.15:
            return self._case(kind, depth)
        if kind == "i1":
            return self._condition(depth)
        if kind == "i64" or kind == "i32":
            return self._integer(kind, depth)
        if kind.startswith("decimal"):
            return self._decimal(kind, depth)
        if kind == "f64" and random.random() < 0.2:
            return self._number(kind, random.choice(["abs", "floor", "ceiling", "truncate", "round"]), depth)
        if kind == "f64" and random.random() < 0.2:
            return self._math(depth)
        if kind == "date" and random.random() < 0.6:
            operand = self.term("date", depth - 1)
            months, days = random.choice([-1, 0, 1, 13]), random.choice([-3, 0, 40])
            text = f"frame.shift_date {operand.name} months {months} days {days} : {operand.mlir}"
            return self._emit(text, "date", operand.nullable)
        if kind == "f64":
            op = random.choice(["add", "subtract", "multiply"])
            return self._strict(op, self.term("f64", depth - 1), self.term("f64", depth - 1), "f64")
        if kind == "string" and random.random() < 0.6:
            return self._text(depth)
        if kind == "string":
            operand = self.term("string", depth - 1)
            positions = [self.constant(random.randrange(-1, 4), "i64")]
            if random.random() < 0.7:
                positions.append(self.term("i64", depth - 1))
            length = f" for {positions[1].name}" if positions[1:] else ""
            nullable = any(term.nullable for term in (operand, *positions))
            types = ", ".join(term.mlir for term in (operand, *positions))
            return self._emit(
                f"frame.substring {operand.name} from {positions[0].name}{length}"
                f" : ({types}) -> {type_text('string', nullable)}",
                "string",
                nullable,
            )
        return self._leaf(kind)

    def _leaf(self, kind: str) -> Term:
        names = [name for name, term in self._columns.items() if term.kind == kind]
        outer = [term for term in self._outer if term.kind == kind]
        if outer and self._random.random() < 0.4:
            return self._random.choice(outer)
        if names and self._random.random() < 0.8:
            return self.column(self._random.choice(names))
        if self._random.random() < 0.05:
            return self._emit(f"frame.constant null : {type_text(kind, True)}", kind, True)
        return self.constant(random_value(self._random, kind), kind)

    def constant(self, value: object, kind: str) -> Term:
        return self._emit(f"frame.constant {literal(value, kind)} : {type_text(kind, False)}", kind, False)

    def _emit(self, text: str, kind: str, nullable: bool) -> Term:
        name = f"%e{self._next}"
        self._next += 1
        self._lines.append(f"{name} = {text}")
        return Term(name, kind, nullable)

    def _strict(self, op: str, a: Term, b: Term, kind: str) -> Term:
        nullable = a.nullable or b.nullable
        result = type_text(kind, nullable)
        return self._emit(f"frame.{op} {a.name}, {b.name} : ({a.mlir}, {b.mlir}) -> {result}", kind, nullable)

    def _number(self, kind: str, function: str, depth: int) -> Term:
        operand = self.term(kind, depth - 1)
        digits = f" digits {self._random.choice([-1, 0, 1])}" if function == "round" else ""
        result = type_text(kind, operand.nullable)
        text = f"frame.number {function} {operand.name}{digits} : ({operand.mlir}) -> {result}"
        return self._emit(text, kind, operand.nullable)

    def _math(self, depth: int) -> Term:
        function = self._random.choice(_MATH)
        operands = [self.term("f64", depth - 1) for _ in range(function.arguments)]
        nullable = any(term.nullable for term in operands)
        names, kinds = (", ".join(getattr(term, part) for term in operands) for part in ("name", "mlir"))
        text = f'frame.math "{function.name}" {names} : ({kinds}) -> {type_text("f64", nullable)}'
        return self._emit(text, "f64", nullable)

    def _text(self, depth: int) -> Term:
        random = self._random
        choice = random.randrange(8)
        if choice == 0:
            kind = random.choice(["i32", "i64", "date", "i1", "decimal<8, 2>"])
            operand = self.term(kind, depth - 1)
            result = type_text("string", operand.nullable)
            text = f"frame.cast {operand.name} : {operand.mlir} -> {result}"
            return self._emit(text, "string", operand.nullable)
        return self._call(random.choice([each for each in _TEXT if each.frame_type == "string"]), depth)

    def _call(self, function: TextFunction, depth: int) -> Term:
        """Of texts, of which the second and third are short."""
        random = self._random
        operands = [self._argument(function.arguments[0].kind, depth)]
        for argument in function.arguments[1:]:
            if argument.kind == "Integer":
                operands.append(self.constant(random.randrange(-2, 6), "i64"))
            elif random.random() < 0.8:
                operands.append(self.constant(random.choice(["a", "", "ab", " ", "ůa"]), "string"))
            else:
                operands.append(self._leaf("string"))
        if function.arguments[-1].kind in ("Texts", "AllBytes"):
            operands.append(self.term("string", depth - 1))
        nullable = any(term.nullable for term in operands)
        names, kinds = (", ".join(getattr(term, part) for term in operands) for part in ("name", "mlir"))
        result = type_text(function.frame_type, nullable)
        text = f'frame.text "{function.name}"({names}) : ({kinds}) -> {result}'
        return self._emit(text, function.frame_type, nullable)

    def _argument(self, kind: str, depth: int) -> Term:
        return self.term("i64" if kind == "Integer" else "string", depth - 1)

    def _case(self, kind: str, depth: int) -> Term:
        random = self._random
        conditions = [self.term("i1", depth - 1) for _ in range(random.choice([1, 1, 2]))]
        values = [self.term(kind, depth - 1) for _ in conditions]
        otherwise = self.term(kind, depth - 1) if random.random() < 0.7 else None
        nullable = any(term.nullable for term in values) or otherwise is None or otherwise.nullable
        if random.random() < 0.3:
            terms = [*values, *([otherwise] if otherwise else [])]
            nullable = all(term.nullable for term in terms)
            names, kinds = (", ".join(getattr(term, part) for term in terms) for part in ("name", "mlir"))
            return self._emit(
                f"frame.coalesce {names} : ({kinds}) -> {type_text(kind, nullable)}", kind, nullable
            )

        def joined(terms: list[Term], part: str) -> str:
            return ", ".join(getattr(term, part) for term in terms)

        text = f"frame.case when {joined(conditions, 'name')} then {joined(values, 'name')}"
        types = f"({joined(conditions, 'mlir')}), ({joined(values, 'mlir')})"
        if otherwise:
            text += f" else {otherwise.name}"
            types += f", {otherwise.mlir}"
        return self._emit(f"{text} : {types} -> {type_text(kind, nullable)}", kind, nullable)

    def _condition(self, depth: int) -> Term:
        random = self._random
        choice = random.randrange(10)
        if choice < 2:
            op = random.choice(["and", "or"])
            terms = [self.term("i1", depth - 1) for _ in range(random.choice([2, 2, 3]))]
            nullable = any(term.nullable for term in terms)
            names, kinds = (", ".join(getattr(term, part) for term in terms) for part in ("name", "mlir"))
            return self._emit(
                f"frame.{op} {names} : ({kinds}) -> {type_text('i1', nullable)}", "i1", nullable
            )
        if choice == 2:
            operand = self.term("i1", depth - 1)
            return self._emit(f"frame.not {operand.name} : {operand.mlir}", "i1", operand.nullable)
        kind = random.choice([kind for kind in self.kinds() if kind != "i1"] or ["i64"])
        operand = self.term(kind, depth - 1)
        if choice == 3:
            return self._emit(f"frame.is_null {operand.name} : {operand.mlir}", "i1", False)
        boolean = type_text("i1", operand.nullable)
        if choice == 4:
            values = {literal(random_value(random, kind), kind) for _ in range(random.randrange(1, 5))}
            listed = ", ".join(sorted(values))
            return self._emit(
                f"frame.in {operand.name} [{listed}] : ({operand.mlir}) -> {boolean}", "i1", operand.nullable
            )
        if choice == 5 and kind == "string":
            pattern = random.choice(["a%", "%b", "%special%requests%", "_", "%", "", "a_", "%ů%", "%0!%"])
            escape = ' escape "!"' if "!" in pattern else ""
            return self._emit(
                f'frame.like {operand.name} "{pattern}"{escape} : ({operand.mlir}) -> {boolean}',
                "i1",
                operand.nullable,
            )
        comparison = random.choice(["eq", "ne", "lt", "le", "gt", "ge", "is_not_distinct_from"])
        other = self.term(kind, depth - 1)
        nullable = (operand.nullable or other.nullable) and comparison != "is_not_distinct_from"
        return self._emit(
            f"frame.compare {comparison} {operand.name}, {other.name} : ({operand.mlir}, {other.mlir}) -> "
            f"{type_text('i1', nullable)}",
            "i1",
            nullable,
        )

    def _integer(self, kind: str, depth: int) -> Term:
        random = self._random
        choice = random.randrange(8)
        if choice == 6:
            return self._number(kind, random.choice(["abs", "round"]), depth)
        if choice == 7 and kind == "i64":
            return self._call(random.choice([each for each in _TEXT if each.frame_type == "i64"]), depth)
        if choice == 0 and kind == "i32":
            date = self.term("date", depth - 1)
            field = random.choice(["year", "month", "day"])
            return self._emit(
                f"frame.extract {field} {date.name} : ({date.mlir}) -> {type_text('i32', date.nullable)}",
                "i32",
                date.nullable,
            )
        if choice == 1 and kind == "i64":
            operand = self.term("i32", depth - 1)
            target = type_text("i64", operand.nullable)
            return self._emit(
                f"frame.cast {operand.name} : {operand.mlir} -> {target}", "i64", operand.nullable
            )
        if choice == 2:
            operand = self.term(kind, depth - 1)
            return self._emit(f"frame.negate {operand.name} : {operand.mlir}", kind, operand.nullable)
        if choice == 3:
            divisor = self.constant(random.choice([-3, -1, 2, 7]), kind)
            return self._strict(
                random.choice(["divide", "modulus"]), self.term(kind, depth - 1), divisor, kind
            )
        if choice == 4 and kind == "i64":  # may overflow, rarely
            return self._strict("multiply", self.term(kind, depth - 1), self.term(kind, depth - 1), kind)
        return self._strict(
            random.choice(["add", "subtract"]), self.term(kind, depth - 1), self.term(kind, depth - 1), kind
        )

    def _decimal(self, kind: str, depth: int) -> Term:
        # A sum or product in its natural type, cast to the one that is wanted.
        random = self._random
        if random.random() < 0.2:
            return self._number(kind, random.choice(["abs", "floor", "ceiling", "round", "truncate"]), depth)
        a, b = (
            self.term(random.choice(["decimal<8, 2>", "decimal<4, 0>", kind]), depth - 1) for _ in range(2)
        )
        left, right = (Column("", term.kind, False) for term in (a, b))
        op = random.choice(["add", "subtract", "multiply"])
        if op == "multiply":
            scale, precision = left.scale + right.scale, left.precision + right.precision
        else:
            scale = max(left.scale, right.scale)
            precision = max(left.precision - left.scale, right.precision - right.scale) + scale + 1
        if precision > 38:
            return self._leaf(kind)
        natural = f"decimal<{precision}, {scale}>"
        result = self._strict(op, a, b, natural)
        if natural == kind:
            return result
        target = type_text(kind, result.nullable)
        return self._emit(f"frame.cast {result.name} : {result.mlir} -> {target}", kind, result.nullable)
