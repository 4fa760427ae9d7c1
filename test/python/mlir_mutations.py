"""Programs in MLIR's generic form with one thing changed: an enum, name, number, flag, attribute or operand.

Only ops and attributes of headrace's own dialects are changed. A name gives way to one that stands in the
same place of another op or program (`Vocabulary`), and to none that exists.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_TOKEN = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*")
      | (?P<value>%[\w.$-]+(?:\#\d+)?)
      | (?P<symbol>@(?:"(?:\\.|[^"\\])*"|[\w.$]+))
      | (?P<attribute>\#[A-Za-z][\w.$]*)
      | (?P<type>![A-Za-z][\w.$]*)
      | (?P<number>-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?))
      | (?P<name>[A-Za-z_$][\w.$]*)
      | (?P<mark>->|[^\s])""",
    re.VERBOSE,
)
_OWN = ("frame", "dist", "pipe", "sched", "topo", "headrace")
_OPENING, _CLOSING = "([{<", ")]}>"
_SCALAR_TYPES = ("i1", "i32", "i64", "i128", "f64")
_WRONG_SPELLING = "_misspelt"
_CASES = re.compile(r"(?:I32|I64)EnumAttrCase<\"\w+\", \d+, \"(\w+)\">")


@dataclass(frozen=True)
class Mutant:
    """One change: the text between `begin` and `end` becomes `replacement`."""

    operation: str
    attribute: str
    kind: str
    before: str
    replacement: str
    begin: int
    end: int

    @property
    def key(self) -> str:
        """What mutants of one kind have in common, whatever the program."""
        return f"{self.operation} {self.attribute} {self.kind}"

    def apply(self, text: str) -> str:
        return text[: self.begin] + self.replacement + text[self.end :]

    def __str__(self) -> str:
        return f"{self.key}: {self.before} -> {self.replacement}"


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    begin: int
    end: int


@dataclass
class Vocabulary:
    """The cases of the dialects' enums, and the names that stand in each attribute of some programs."""

    enums: list[tuple[str, ...]] = field(default_factory=list)
    names: dict[tuple[str, str], dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    @staticmethod
    def of(dialects: Path, texts: list[str]) -> Vocabulary:
        vocabulary = Vocabulary()
        for file in sorted(dialects.glob("*/*.td")):
            for definition in re.split(r"\n(?:def|class) ", file.read_text()):
                if cases := tuple(_CASES.findall(definition)):
                    vocabulary.enums.append(cases)
        for text in texts:
            for mutant in _Parser(text, None).mutants():
                vocabulary.names[mutant.operation, mutant.attribute][mutant.before] = None
        return vocabulary

    def others(self, case: str) -> list[str]:
        return [
            other
            for other in dict.fromkeys(other for enum in self.enums if case in enum for other in enum)
            if other != case
        ]


def mutants_of(text: str, vocabulary: Vocabulary) -> list[Mutant]:
    """All mutants of a program in the generic form, in its order."""
    return list(_Parser(text, vocabulary).mutants())


class _Parser:
    """Goes through ops of the generic form. Without a vocabulary it yields each name as it stands."""

    def __init__(self, text: str, vocabulary: Vocabulary | None) -> None:
        self._text = text
        self._vocabulary = vocabulary
        # Aliases of attributes, which stand in front, belong to other dialects.
        start = text.index('"builtin.module"')
        self._tokens = [
            _Token(str(match.lastgroup), match.group(), match.start(), match.end())
            for match in _TOKEN.finditer(text, start)
        ]
        self._at = 0
        self._symbols = list(dict.fromkeys(re.findall(r'sym_name = "(\w+)"', text)))
        self._columns = list(dict.fromkeys(re.findall(r'"(\w+)": ', text)))

    def mutants(self) -> Iterator[Mutant]:
        while self._at < len(self._tokens):
            yield from self._op()

    # ---- the grammar of the generic form ----

    def _peek(self, offset: int = 0) -> str:
        index = self._at + offset
        return self._tokens[index].text if index < len(self._tokens) else ""

    def _next(self) -> _Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _skip_value(self) -> list[_Token]:
        """The tokens up to a comma or closing bracket of this depth."""
        start, depth = self._at, 0
        while depth > 0 or self._peek() not in (",", *_CLOSING):
            depth += (self._peek() in _OPENING) - (self._peek() in _CLOSING)
            self._at += 1
        return self._tokens[start : self._at]

    def _skip_type(self) -> _Token:
        """One type; a token that spans it."""
        first = self._tokens[self._at]
        if first.text == "(":
            self._skip_balanced()
        else:
            self._at += 1
            if self._peek() == "<":
                self._skip_balanced()
        last = self._tokens[self._at - 1]
        return _Token("type", self._text[first.begin : last.end], first.begin, last.end)

    def _skip_balanced(self) -> None:
        """What is in brackets, if there is a bracket."""
        depth = 0
        while True:
            depth += (self._peek() in _OPENING) - (self._peek() in _CLOSING)
            if depth == 0 and self._peek() not in _CLOSING:
                return
            self._at += 1
            if depth == 0:
                return

    def _op(self) -> Iterator[Mutant]:
        while self._peek(1) != "(":  # results
            self._at += 1
        name = self._next().text.strip('"')
        own = name.split(".")[0] in _OWN
        operands = self._operands()
        if self._peek() == "<":
            self._at += 1
            yield from self._dictionary(name, own)
            self._at += 1
        if self._peek() == "(":
            while self._next().text != ")":  # "(" or "," in front of each region
                if self._peek() == "{":
                    yield from self._region()
        place = self._tokens[self._at].begin
        if self._peek() == "{":
            place += 1
            yield from self._dictionary(name, own)
            unknown = "{} = 1 : i64, "
        else:
            unknown = "{{{} = 1 : i64}} "
        if own:
            for key in ("unknown", name.split(".")[0] + ".unknown"):
                yield from self._made(name, key, "unknown", _Token("", "", place, place), unknown.format(key))
        types = self._signature()
        if own:
            yield from self._swapped(name, operands, types)

    def _operands(self) -> list[_Token]:
        self._next()
        operands = []
        while (token := self._next()).text != ")":
            if token.kind == "value":
                operands.append(token)
        return operands

    def _signature(self) -> list[_Token]:
        """Goes over `: (types) -> results`; the types of the operands."""
        self._next()
        self._next()
        types = []
        while self._peek() != ")":
            types.append(self._skip_type())
            if self._peek() == ",":
                self._at += 1
        self._at += 2
        self._skip_type()
        return types

    def _region(self) -> Iterator[Mutant]:
        self._next()
        while self._peek() != "}":
            if self._peek() == "^":
                self._at += 2
                self._skip_balanced()  # the arguments
                self._at += 1
            else:
                yield from self._op()
        self._next()

    def _dictionary(self, operation: str, own: bool) -> Iterator[Mutant]:
        self._next()
        while self._peek() != "}":
            first = self._tokens[self._at]
            key = self._next().text.strip('"')
            value: list[_Token] = []
            if self._peek() == "=":
                self._at += 1
                value = self._skip_value()
            last = self._tokens[self._at - 1]
            if own or key.split(".")[0] in _OWN:
                whole = self._text[first.begin : last.end]
                end = self._tokens[self._at].end if self._peek() == "," else last.end
                begin = first.begin
                if self._peek() == "}" and self._peek_before(first) == ",":
                    begin = self._tokens[self._index_of(first) - 1].begin
                yield from self._made(
                    operation, key, "dropped", _Token("", whole[:60], begin, end), "", whole[:60]
                )
                yield from self._values(operation, key, value)
            if self._peek() == ",":
                self._at += 1
        self._next()

    def _index_of(self, token: _Token) -> int:
        index = self._at
        while self._tokens[index].begin != token.begin:
            index -= 1
        return index

    def _peek_before(self, token: _Token) -> str:
        return self._tokens[self._index_of(token) - 1].text

    # ---- changes ----

    def _made(
        self, operation: str, attribute: str, kind: str, token: _Token, replacement: str, before: str = ""
    ) -> Iterator[Mutant]:
        if self._vocabulary is not None and replacement != token.text:
            before = before or token.text
            yield Mutant(operation, attribute, kind, before, replacement, token.begin, token.end)

    def _values(self, operation: str, attribute: str, tokens: list[_Token]) -> Iterator[Mutant]:
        """Changes inside the value of an attribute. A place has the name of its key or its position."""
        stack: list[tuple[str, int, str]] = []  # what opened, commas so far, the last key
        key = ""
        for index, token in enumerate(tokens):
            following = tokens[index + 1].text if index + 1 < len(tokens) else ""
            if token.text in _OPENING and token.kind == "mark":
                before = tokens[index - 1] if index else token
                opened = before.text if token.text == "<" else token.text
                stack.append((opened, 0, key))
                if token.text == "[" and following != "]":
                    yield from self._dropped_element(operation, attribute, tokens, index)
                continue
            if token.text in _CLOSING and token.kind == "mark" and stack:
                key = stack.pop()[2]
                continue
            if token.text == "," and stack:
                opened, commas, outer = stack[-1]
                stack[-1] = (opened, commas + 1, outer)
                key = outer
                continue
            if token.kind in ("name", "string") and following == "=":
                key = token.text.strip('"')
                continue
            place = attribute
            if stack and stack[-1][0].startswith("#"):
                place += f".{stack[-1][1]}"
            if key:
                place += f".{key}"
            suffix = tokens[index + 2].text if following == ":" and index + 2 < len(tokens) else "i64"
            after_colon = index > 0 and tokens[index - 1].text == ":" and tokens[index - 2].kind == "number"
            if not after_colon:
                yield from self._changed(operation, place, token, suffix)

    def _dropped_element(
        self, operation: str, attribute: str, tokens: list[_Token], index: int
    ) -> Iterator[Mutant]:
        """An array without its first element."""
        depth, end = 0, index + 1
        while depth > 0 or tokens[end].text not in (",", "]"):
            depth += (tokens[end].text in _OPENING) - (tokens[end].text in _CLOSING)
            end += 1
        last = tokens[end] if tokens[end].text == "," else tokens[end - 1]
        begin = tokens[index + 1].begin
        element = _Token("", self._text[begin : last.end], begin, last.end)
        yield from self._made(operation, attribute, "element dropped", element, "")

    def _changed(self, operation: str, place: str, token: _Token, suffix: str) -> Iterator[Mutant]:
        if self._vocabulary is None:
            if token.kind == "string":
                yield Mutant(operation, place, "", token.text, "", token.begin, token.end)
            return
        for kind, replacement in self._replacements(operation, place, token, suffix):
            yield from self._made(operation, place, kind, token, replacement)

    def _replacements(
        self, operation: str, place: str, token: _Token, suffix: str
    ) -> Iterator[tuple[str, str]]:
        assert self._vocabulary
        text = token.text
        if token.kind == "string":
            known = list(self._vocabulary.names[operation, place])[:8]
            columns = [f'"{name}"' for name in self._columns[:4]]
            for other in dict.fromkeys([*known, *columns]):
                yield "another name", other
            yield "misspelt", f'{text[:-1]}{_WRONG_SPELLING}"'
            yield "misspelt", '""'
        elif token.kind == "symbol":
            for other in self._symbols[:8]:
                yield "another name", f"@{other}"
            yield "misspelt", text + _WRONG_SPELLING
        elif token.kind == "number":
            for number in _numbers(text, suffix):
                yield "number", number
        elif text in ("true", "false"):
            yield "flag", {"true": "false", "false": "true"}[text]
        elif text in _SCALAR_TYPES or token.kind == "type":
            for other in _SCALAR_TYPES:
                yield "type", other
        elif token.kind == "name":
            for other in self._vocabulary.others(text):
                yield "case", other

    def _swapped(self, name: str, operands: list[_Token], types: list[_Token]) -> Iterator[Mutant]:
        """Each operand changed for its neighbour, with its type."""
        for index in range(len(operands) - 1):
            left, right = operands[index], operands[index + 1]
            if left.text == right.text:
                continue
            pieces = [
                right.text,
                self._text[left.end : right.begin],
                left.text,
                self._text[right.end : types[index].begin],
                types[index + 1].text,
                self._text[types[index].end : types[index + 1].begin],
                types[index].text,
            ]
            begin, end = left.begin, types[index + 1].end
            both = _Token("", "", begin, end)
            note = f"{left.text}, {right.text}"
            yield from self._made(name, f"operand {index}", "swapped", both, "".join(pieces), note)


def _numbers(text: str, suffix: str) -> list[str]:
    if suffix.startswith("f") or "." in text or "e" in text:
        return ["0.0", "-1.0", "1.0e+300", "0x7FF8000000000000"]
    number = int(text, 0)
    if suffix == "i32":
        others = [*range(9), -1, number + 1, 2**31 - 1]
    elif suffix == "i1":
        others = [0, 1]
    else:
        others = [0, 1, -1, number - 1, number + 1, 2**62]
    return [str(other) for other in dict.fromkeys(others) if other != number]
