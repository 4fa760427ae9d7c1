"""`./dev tidy`: what can be checked about the sources without building them; --fix formats."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from dev import circles, dialect_docs, file_rules, layering, like_named, messages, places
from dev.findings import Finding, changed_files, source_files

_CPP = (".h", ".cpp")  # not .def: those are tables
_RUFF_LINE = re.compile(r"(?P<path>[^:]+):(?P<row>\d+):\d+: (?P<message>.*)")


@dataclass(frozen=True)
class Options:
    """Which files the formatters look at, and whether they rewrite them."""

    files: Sequence[str]
    fix: bool


def check_formats(options: Options) -> list[Finding]:
    """clang-format and ruff over the files; with fix they rewrite, and what remains is reported."""
    findings = _clang_format([name for name in options.files if name.endswith(_CPP)], options)
    findings += _ruff([name for name in options.files if name.endswith(".py")], options)
    return findings


def _clang_format(files: list[str], options: Options) -> list[Finding]:
    if not files:
        return []
    if options.fix:
        subprocess.run(["clang-format-22", "-i", *files], cwd=places.ROOT, check=True)
    checked = subprocess.run(
        ["clang-format-22", "--dry-run", *files], cwd=places.ROOT, capture_output=True, text=True, check=False
    )
    findings = {}
    for line in checked.stderr.splitlines():
        parts = line.split(":")
        if "[-Wclang-format-violations]" in line and parts[0] not in findings:
            findings[parts[0]] = Finding(parts[0], int(parts[1]), "format", "clang-format differs from here")
    return list(findings.values())


def _ruff(files: list[str], options: Options) -> list[Finding]:
    if not files:
        return []
    ruff = [str(places.environment() / "bin" / "ruff")]
    if options.fix:
        subprocess.run([*ruff, "format", "-q", *files], cwd=places.ROOT, check=False)
        subprocess.run([*ruff, "check", "-q", "--fix", *files], cwd=places.ROOT, check=False)
    findings = []
    for command in (["check"], ["format", "--check"]):
        checked = subprocess.run(
            [*ruff, *command, "--output-format", "concise", *files],
            cwd=places.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        for line in checked.stdout.splitlines():
            if match := _RUFF_LINE.match(line):
                findings.append(Finding(match["path"], int(match["row"]), "ruff", match["message"]))
    return findings


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev tidy", description=__doc__)
    parser.add_argument("--fix", action="store_true", help="format the files instead of reporting")
    parser.add_argument("--all", action="store_true", help="format-check all files, not only changed ones")
    parser.add_argument("--untested", action="store_true", help="also list sources that no test names")
    parser.add_argument("--messages", action="store_true", help="also list messages that no test shows")
    arguments = parser.parse_args(words)
    files = source_files() if arguments.all else changed_files()
    findings = layering.check() + circles.check() + file_rules.check() + like_named.check()
    findings += dialect_docs.stale()
    findings += check_formats(Options(files, fix=arguments.fix))
    if arguments.untested:
        findings += file_rules.untested()
    if arguments.messages:
        findings += messages.unshown()
    for finding in findings:
        print(finding)
    print(f"{len(findings)} to correct" if findings else "tidy")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
