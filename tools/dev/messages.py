"""Which messages of errors no test shows: their fixed texts are sought in the texts of all tests.

A message is what is handed to `emitError`, `makeError`, `fail` and their like in C++, to `raise` in Python. A
test shows it if the longest of its fixed fragments, or any SHOWN characters of that in a row, stand in the
test. A message that no test can bring about says why in a comment beside it that begins with "no test: ".
"""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dev import places
from dev.findings import Finding, source_files

# So many characters tell a message from all others, nearly always.
SHOWN = 24
# A message whose fixed text is shorter only passes on what another one says.
FIXED_MIN = 8
EXCUSE = "no test: "
_FOLDERS = ("dialects/", "model/", "passes/", "python/", "runtime/", "tools/")

_MAKER = re.compile(
    r"\w*(?:[eE]rror|Fail|fail|Refuse|refuse|Unsupported|unsupported|Corrupt|corrupt)|Status|Located|located"
)
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | R"(?P<fence>[^(]*)\((?P<raw>.*?)\)(?P=fence)"
      | (?P<text>"(?:\\.|[^"\\\n])*")
      | '(?:\\.|[^'\\\n])+'
      | (?P<word>[A-Za-z_]\w*)
      | (?P<mark>\S)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Message:
    """The fixed fragments of one message, where it is made, and why no test shows it (or an empty text)."""

    path: str
    line: int
    fragments: tuple[str, ...]
    excuse: str = ""

    def longest(self) -> str:
        """Without the mark before the offending value, which a test may leave out."""
        return max((_plain(fragment).rstrip(" :,('\"") for fragment in self.fragments), key=len)

    def shown(self, tests: str) -> bool:
        """Whether the plain text of the tests has it."""
        text = self.longest()
        starts = range(max(1, len(text) - SHOWN + 1))
        return any(text[start : start + SHOWN] in tests for start in starts)


def unshown(root: Path = places.ROOT) -> list[Finding]:
    """Messages that no test shows and nothing excuses, and excuses of messages that a test does show."""
    names = source_files(root)
    tests = _tests(root, names)
    findings = []
    for name in names:
        if not name.startswith(_FOLDERS) or name.startswith("tools/dev/"):
            continue
        for message in read(name, (root / name).read_text(errors="replace")):
            shown = message.shown(tests)
            if not shown and not message.excuse:
                findings.append(Finding(name, message.line, "message", f"no test shows: {message.longest()}"))
            elif shown and message.excuse:
                findings.append(
                    Finding(name, message.line, "message", f"a test shows it in spite of: {message.excuse}")
                )
    return findings


def read(name: str, text: str) -> Iterator[Message]:
    """The messages of one file, in their order."""
    if name.endswith((".cpp", ".h")):
        found = _read_cpp(name, text)
    elif name.endswith(".py"):
        found = _read_python(name, text)
    else:
        return
    for message in sorted(found, key=lambda message: message.line):
        if len(message.longest()) >= FIXED_MIN:
            yield message


def _tests(root: Path, names: Sequence[str]) -> str:
    texts = []
    for name in names:
        if name.startswith("test/") and name.endswith((".cpp", ".h", ".mlir", ".test", ".py", ".json")):
            # A literal that goes on in the next line is one literal.
            texts.append(re.sub(r'"\s*\n\s*[rf]?"', "", (root / name).read_text(errors="replace")))
    return _plain("\n".join(texts))


def _plain(text: str) -> str:
    """Without the backslashes of literals and patterns, and with single spaces only."""
    return re.sub(r"\s+", " ", text.replace("\\", "")).strip()


# ---- C++ ----


def _read_cpp(name: str, text: str) -> Iterator[Message]:
    tokens = [(match.lastgroup or "mark", match.group(), match.start()) for match in _TOKEN.finditer(text)]
    index = 0
    while index < len(tokens) - 1:
        kind, word, start = tokens[index]
        if kind == "word" and _MAKER.fullmatch(word) and tokens[index + 1][1] == "(":
            end = _end_of_expression(tokens, index + 1)
            fragments = _literals(tokens[index:end])
            if fragments:
                line = text.count("\n", 0, start) + 1
                yield Message(name, line, fragments, _excuse(text, tokens, index, end))
                index = end
                continue
        index += 1


def _end_of_expression(tokens: Sequence[tuple[str, str, int]], index: int) -> int:
    """Past the call and what is streamed into it: where the statement or the argument ends."""
    depth = 0
    for place in range(index, len(tokens)):
        kind, mark, _ = tokens[place]
        if kind != "mark":
            continue
        if mark in "([{":
            if depth == 0 and place > index and mark == "{":
                return place  # the body of a function that is defined here
            depth += 1
        elif mark in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and mark in ";,:?"):
            return place
    return len(tokens)


def _literals(tokens: Sequence[tuple[str, str, int]]) -> tuple[str, ...]:
    fragments: list[str] = []
    previous = ""
    for kind, literal, _ in tokens:
        if kind == "text":
            value = codecs.decode(literal[1:-1], "unicode_escape")
            if previous == "text":
                fragments[-1] += value
            else:
                fragments.append(value)
        previous = kind
    return tuple(fragments)


def _excuse(text: str, tokens: Sequence[tuple[str, str, int]], index: int, end: int) -> str:
    """The comment of the statement: before it, within it, or after it in its last line."""
    first = index
    while first > 0 and tokens[first - 1][1] not in (";", "{", "}"):
        first -= 1
    begin = tokens[first - 1][2] if first else 0
    begin = min(tokens[index][2], text.find("\n", begin))
    last = tokens[min(end, len(tokens) - 1)][2]
    stop = text.find("\n", last)
    return _reason(text[begin : stop if stop >= 0 else len(text)])


def _reason(text: str) -> str:
    found = re.search(rf"(?://|#)\s*{EXCUSE}([^\n]+)", text)
    return found.group(1) if found else ""


# ---- Python ----


def _read_python(name: str, text: str) -> Iterator[Message]:
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    for node in ast.walk(ast.parse(text)):
        raised = isinstance(node, ast.Raise) and node.exc is not None
        called = isinstance(node, ast.Call) and _MAKER.fullmatch(_called(node)) is not None
        if not raised and not called:
            continue
        # A raise is a statement around the call that makes the error: the call is the message.
        if raised and isinstance(node.exc, ast.Call) and _MAKER.fullmatch(_called(node.exc)):
            continue
        fragments = tuple(_python_literals(node))
        if fragments:
            lines = range(node.lineno - 1, (node.end_lineno or node.lineno) + 1)
            reason = "".join(_reason(comments[line]) for line in lines if line in comments)
            yield Message(name, node.lineno, fragments, reason)


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _python_literals(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
