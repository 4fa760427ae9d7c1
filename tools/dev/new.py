"""`./dev new op|pass|transport …`: writes the boring files of a new one, from tools/dev/templates.

What it writes builds and passes its tests; the words FILL IN stand where only its author knows, and
./dev tidy reports those that are left.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from dev import places
from dev.steps import StepFailed

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass
class Change:
    """Files to write, all or none: path relative to the checkout to its whole new text."""

    root: Path
    texts: dict[str, str] = field(default_factory=dict)
    # What the author must still do elsewhere.
    notes: list[str] = field(default_factory=list)

    def create(self, name: str, template: str, words: Mapping[str, str]) -> None:
        if (self.root / name).exists():
            raise StepFailed(f"exists already: {name}")
        self.texts[name] = Template((_TEMPLATES / template).read_text()).substitute(words)

    def edit(self, name: str, edited: Callable[[str], str]) -> None:
        before = self.texts.get(name) or (self.root / name).read_text()
        after = edited(before)
        if after == before:
            raise StepFailed(f"found no place to add to in: {name}")
        self.texts[name] = after

    def write(self) -> None:
        for name, text in self.texts.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(name)
        for note in self.notes:
            print(f"then: {note}")


def camel_case(name: str) -> str:
    """top_k or insert-reshards as TopK, InsertReshards."""
    return "".join(word.capitalize() for word in re.split(r"[-_]", name))


def add_source(cmake: str, source: str) -> str:
    """A CMakeLists.txt with one more file after its first SOURCES."""
    return re.sub(r"\bSOURCES\b(\s)", rf"SOURCES {source}\1", cmake, count=1)


def _named(name: str, pattern: str, form: str) -> str:
    if not re.fullmatch(pattern, name):
        raise StepFailed(f"a name must be {form}, got: {name}")
    return name


def op(change: Change, dialect: str, mnemonic: str) -> None:
    """An op: definition, verifier, and a test that it round-trips and refuses."""
    _named(mnemonic, r"[a-z][a-z0-9_]*", "lower-case words joined by _")
    folder = change.root / "dialects" / dialect
    stem = dialect.capitalize()
    if not (folder / f"{stem}.td").exists():
        raise StepFailed(f"no such dialect: {dialect}")
    if any(f'"{mnemonic}"' in file.read_text() for file in folder.glob("*.td")):
        raise StepFailed(f"exists already: {dialect}.{mnemonic}")
    words = {"dialect": dialect, "stem": stem, "mnemonic": mnemonic, "camel": camel_case(mnemonic)}
    words["header"] = next(file.name for file in folder.glob("*.h") if "Ops.h.inc" in file.read_text())
    definition = Template((_TEMPLATES / "op.td.in").read_text()).substitute(words)
    receiver = max(sorted(folder.glob("*.td")), key=_count_ops)
    place = f"dialects/{dialect}"
    change.edit(f"{place}/{receiver.name}", lambda text: _before_guard(text, definition))
    change.create(f"{place}/{stem}{words['camel']}.cpp", "op.cpp.in", words)
    change.edit(f"{place}/CMakeLists.txt", lambda text: add_source(text, f"{stem}{words['camel']}.cpp"))
    change.create(f"test/dialects/{dialect}/{mnemonic}.mlir", "op.mlir.in", words)


def _count_ops(definitions: Path) -> int:
    return len(re.findall(r"^def \w+Op\b", definitions.read_text(), re.MULTILINE))


def _before_guard(text: str, addition: str) -> str:
    """The text with an addition before its closing #endif, or at its end."""
    guard = text.rstrip().rfind("\n#endif")
    if guard < 0 or "\n" in text.rstrip()[guard + 1 :]:
        return text.rstrip("\n") + "\n" + addition
    return text[:guard].rstrip("\n") + "\n" + addition + text[guard:]


def pass_(change: Change, phase: str, name: str) -> None:
    """A pass of a phase: declaration, source, and a lit test of the like name."""
    _named(name, r"[a-z][a-z0-9_]*", "lower-case words joined by _")
    folder = change.root / "passes" / phase
    if not (folder / "Passes.td").exists():
        raise StepFailed(f"no such phase with a Passes.td: {phase}")
    argument = f"{phase}-{name.replace('_', '-')}"
    camel = camel_case(phase) + camel_case(name)
    header = next(file.name for file in sorted(folder.glob("*.h")) if "GEN_PASS_DECL" in file.read_text())
    words = {"phase": phase, "argument": argument, "camel": camel, "macro": camel.upper(), "header": header}
    declaration = Template((_TEMPLATES / "pass.td.in").read_text()).substitute(words)
    change.edit(f"passes/{phase}/Passes.td", lambda text: _before_guard(text, declaration))
    change.create(f"passes/{phase}/{name}.cpp", "pass.cpp.in", words)
    change.edit(f"passes/{phase}/CMakeLists.txt", lambda text: add_source(text, f"{name}.cpp"))
    change.create(f"test/passes/{phase}/{name}.mlir", "pass.mlir.in", words)
    change.notes.append(f"add it to the pipeline of the phase {phase}, where its assumptions hold")


def transport(change: Change, name: str) -> None:
    """A transport: header, source and library; its author adds it to the conformance suite."""
    _named(name, r"[a-z][a-z0-9_]*", "lower-case words joined by _")
    words = {"name": name, "camel": camel_case(name)}
    change.create(f"runtime/transport/{name}.h", "transport.h.in", words)
    change.create(f"runtime/transport/{name}.cpp", "transport.cpp.in", words)
    library = (
        f"headrace_runtime_library(headrace_transport_{name} SOURCES {name}.cpp\n"
        "  LINK headrace_bootstrap headrace_transport)\n"
    )
    change.edit("runtime/transport/CMakeLists.txt", lambda text: text + library)
    suite = "test/unit/transport/cluster.{h,cpp}"
    change.notes.append(f"add it to Backend, backendName and allClusters in {suite}")


KINDS: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "op": (op, ("dialect", "mnemonic")),
    "pass": (pass_, ("phase", "name")),
    "transport": (transport, ("name",)),
}


def make(root: Path, words: Sequence[str]) -> None:
    """Writes the files of one kind of thing into a checkout; nothing if anything is in the way."""
    parser = argparse.ArgumentParser(prog="./dev new", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name, (function, parameters) in KINDS.items():
        kind = kinds.add_parser(name, help=function.__doc__)
        for parameter in parameters:
            kind.add_argument(parameter)
    options = parser.parse_args(words)
    function, parameters = KINDS[options.kind]
    change = Change(root)
    function(change, *(getattr(options, parameter) for parameter in parameters))
    change.write()


def main(words: Sequence[str]) -> int:
    try:
        make(places.ROOT, words)
    except StepFailed as failed:
        print(f"dev new: {failed}", file=sys.stderr)
        return 1
    print("./dev tidy lists what is left to fill in")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
