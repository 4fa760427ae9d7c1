#!/usr/bin/env python3
"""Feeds every ```mlir example of the dialects' .td files to headrace-opt: it must parse and round-trip.

Usage: check_examples.py HEADRACE_OPT [--complete] FILE_OR_FOLDER...   (lists what fails, by file and line)
With --complete every op definition (`def X_YOp`) must have an example.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = re.compile(r"^[ \t]*```mlir\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
DEFINITION = re.compile(r"^def (\w+Op)\b", re.MULTILINE)


def run(tool: str, text: str, *flags: str) -> tuple[int, str, str]:
    done = subprocess.run([tool, "-", *flags], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check(tool: str, where: str, text: str) -> str | None:
    """What is wrong with one example, or None."""
    code, printed, errors = run(tool, text, "--mlir-print-op-generic")
    if code != 0:
        return f"{where}: example does not parse:\n{errors}"
    code, printed, errors = run(tool, text)
    again = run(tool, printed)
    if again[0] != 0 or again[1] != printed:
        return f"{where}: example does not round-trip:\n{printed}{again[2]}"
    return None


def main() -> int:
    tool, *roots = [argument for argument in sys.argv[1:] if argument != "--complete"]
    complete = "--complete" in sys.argv
    files = [f for r in map(Path, roots) for f in ([r] if r.is_file() else sorted(r.rglob("*.td")))]
    problems = []
    examples = 0
    for file in files:
        source = file.read_text()
        found = list(EXAMPLE.finditer(source))
        for match in found:
            line = source.count("\n", 0, match.start()) + 1
            examples += 1
            problems.append(check(tool, f"{file}:{line}", match.group(1)))
        definitions = list(DEFINITION.finditer(source))
        ends = [match.start() for match in definitions[1:]] + [len(source)]
        for match, end in zip(definitions, ends[: len(definitions)], strict=True):
            if complete and not any(match.start() < e.start() < end for e in found):
                problems.append(f"{file}: no example for {match.group(1)}")
    problems = [p for p in problems if p]
    print("\n".join(problems), f"{examples} examples in {len(files)} files", sep="\n")
    return 1 if problems or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
