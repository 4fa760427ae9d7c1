"""Every op and every pass has a lit test of its own, which is found by its name.

An op of a dialect is tested in test/dialects/DIALECT/MNEMONIC.mlir: parsed, printed, and refused where it is
wrong. A pass is tested by a file of its name under test/passes, without the phase ("shard-solve" in
solve.mlir), which runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from dev import places
from dev.findings import Finding, source_files

_OP = re.compile(r'^def \w+Op\s*:\s*\w+<\s*(?:\w+_Dialect,\s*)?"(\w+)"', re.MULTILINE)
_PASS = re.compile(r'^def \w+\s*:\s*Pass<"([\w-]+)"', re.MULTILINE)
_OWN_PASS = re.compile(r'StringRef getArgument\(\) const override \{ return "([\w-]+)"; \}')
_CHECKING_PASS = re.compile(r'registerVerifyPass\(\s*"([\w-]+)"')
# In front of a pass's own name; the phase is the folder of its test.
_PHASE = re.compile(r"^(?:analysis|dist|form|lower|optimize|schedule|shard)-")


def check(root: Path = places.ROOT) -> list[Finding]:
    """The ops and passes without a test of the like name."""
    names = source_files(root)
    texts = {
        name: (root / name).read_text(errors="replace")
        for name in names
        if name.endswith((".td", ".mlir")) or (name.startswith("passes/") and name.endswith(".cpp"))
    }
    return [*_untested_ops(texts), *_untested_passes(texts)]


def _untested_ops(texts: Mapping[str, str]) -> Iterator[Finding]:
    for name, text in texts.items():
        if name.startswith("dialects/") and name.endswith(".td"):
            dialect = name.split("/")[1]
            for mnemonic in _OP.findall(text):
                test = f"test/dialects/{dialect}/{mnemonic}.mlir"
                shown = texts.get(test, "")
                if f"{dialect}.{mnemonic}" not in shown or "expected-error" not in shown:
                    message = f"{dialect}.{mnemonic} needs a test that prints and refuses it: {test}"
                    yield Finding(name, 0, "like-named", message)


def _untested_passes(texts: Mapping[str, str]) -> Iterator[Finding]:
    runs = [
        (Path(name).stem, line)
        for name, text in texts.items()
        if name.startswith("test/passes/")
        for line in re.findall(r"RUN:.*", text)
    ]
    for name, text in texts.items():
        if name.startswith("passes/"):
            for form in (_PASS, _OWN_PASS, _CHECKING_PASS):
                for argument in form.findall(text):
                    stem = stem_of_test(argument)
                    phase = name.split("/")[1]
                    flag = re.compile(
                        rf"(?<![\w-])(?:--?)?(?:{argument}|{phase}|stop-after={phase})(?![\w-])"
                    )
                    if not any(stem == test and flag.search(line) for test, line in runs):
                        message = f"--{argument} needs a test that runs it, of the name {stem}.mlir"
                        yield Finding(name, 0, "like-named", message)


def stem_of_test(argument: str) -> str:
    """The name of a pass's test: of what it does, or of all that one phase may rely on."""
    if argument.startswith("verify-"):
        return "verify"
    return _PHASE.sub("", argument).replace("-", "_")
