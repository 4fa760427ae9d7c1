"""`./dev docs`: docs/dialects from the dialects' definitions, the IR in ARCHITECTURE.md, reference pages."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from dev import architecture_page, places, reference_pages
from dev.findings import Finding
from dev.steps import StepFailed

FOLDER = places.ROOT / "docs" / "dialects"
_FIRST_LINE = "<!-- Made by ./dev docs from dialects/{name}: edit the descriptions there. -->"


def dialects() -> dict[str, Path]:
    """Name of each dialect to the file that holds its definitions (dialects/frame/Frame.td)."""
    found = {}
    for folder in sorted((places.ROOT / "dialects").iterdir()):
        main = folder / f"{folder.name.capitalize()}.td"
        if main.exists():
            found[folder.name] = main
    return found


def page(name: str, definitions: Path) -> str:
    """The page of one dialect, as Markdown."""
    tool = places.LLVM_TOOLS / "mlir-tblgen"
    include = ["-I", str(places.ROOT), "-I", "/usr/lib/llvm-22/include"]
    made = subprocess.run(
        [tool, "-gen-dialect-doc", f"-dialect={name}", *include, definitions],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise StepFailed(f"{made.stderr.strip()}\nmlir-tblgen failed on {definitions}")
    lines = [line.rstrip() for line in made.stdout.splitlines() if line.strip() != "[TOC]"]
    lines[0] = _FIRST_LINE.format(name=name)
    kept = [line for i, line in enumerate(lines) if line or (i > 0 and lines[i - 1])]
    return "\n".join(kept).rstrip() + "\n"


def stale() -> list[Finding]:
    """The pages that differ from what would be made now."""
    findings = []
    for name, definitions in dialects().items():
        file = FOLDER / f"{name}.md"
        if not file.exists() or file.read_text() != page(name, definitions):
            findings.append(
                Finding(str(file.relative_to(places.ROOT)), 0, "stale", "make it with ./dev docs")
            )
    return findings


def main(words: Sequence[str]) -> int:
    argparse.ArgumentParser(prog="./dev docs", description=__doc__).parse_args(words)
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        for name, definitions in dialects().items():
            file = FOLDER / f"{name}.md"
            file.write_text(page(name, definitions))
            print(file.relative_to(places.ROOT))
        architecture_page.remake()
        print(architecture_page.PAGE.relative_to(places.ROOT))
        reference_pages.remake()
        print(*(path.relative_to(places.ROOT) for path in reference_pages.pages()), sep="\n")
    except StepFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
