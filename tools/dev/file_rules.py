"""House rules about files: names, opening lines, length, being built, having a like-named test."""

from __future__ import annotations

import re
from pathlib import Path

from dev import places
from dev.findings import Finding, source_files

BANNED_WORDS = ("utils", "util", "helpers", "helper", "common", "manager", "misc")
LINES_MAX = 800
# Files that hold more than one idea and are to be split: each has its own limit, which only goes down.
TO_SPLIT = {"passes/form/expressions.cpp": 900, "passes/form/pipelines.cpp": 600}
# What the templates of ./dev new leave to the author.
UNFINISHED = "FILL IN"
_CODE = (".h", ".cpp", ".td", ".py", ".def")
_TESTED = ("model/", "runtime/", "passes/")
_TESTS = (".cpp", ".h", ".mlir", ".test", ".py")
_OPENINGS = {".py": ("#", '"""', 'r"""')}


def check(root: Path = places.ROOT) -> list[Finding]:
    """All findings about files as such, in the order of the files."""
    names = source_files(root)
    texts = {name: (root / name).read_text(errors="replace") for name in names if _is_text(name)}
    findings = [finding for name in names for finding in check_name(name)]
    findings += [finding for name, text in texts.items() for finding in check_text(name, text)]
    findings += unbuilt(texts)
    return sorted(findings)


def _is_text(name: str) -> bool:
    return name.endswith((*_CODE, "CMakeLists.txt", ".cmake", ".mlir"))


def check_name(name: str) -> list[Finding]:
    """A file's name says what is in it: the banned words could hold anything."""
    stem = Path(name).stem
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", stem)
    if words and words[-1].lower() in BANNED_WORDS:
        return [Finding(name, 0, "name", f"name the idea instead of: {words[-1]}")]
    return []


def check_text(name: str, text: str) -> list[Finding]:
    """A file opens by saying what it is for, and is short enough to hold one idea."""
    findings = []
    openings = _OPENINGS.get(Path(name).suffix, ("//", "/*"))
    if name.endswith(_CODE) and text.strip() and not text.startswith(openings):
        findings.append(Finding(name, 1, "opening", "open with one to three lines that say what it is for"))
    for number, line in enumerate(text.splitlines(), start=1):
        if UNFINISHED in line and not name.startswith(("tools/dev/", "test/dev/")):
            findings.append(Finding(name, number, "unfinished", "written by ./dev new and not filled in yet"))
    lines = text.count("\n")
    most = TO_SPLIT.get(name, LINES_MAX)
    if name.endswith(_CODE) and lines > most:
        findings.append(Finding(name, 0, "length", f"at most {most} lines, got: {lines}"))
    return findings


def unbuilt(texts: dict[str, str]) -> list[Finding]:
    """C++ sources that no CMakeLists.txt names are dead."""
    lists = "\n".join(text for name, text in texts.items() if name.endswith(("CMakeLists.txt", ".cmake")))
    named = {Path(word).name for word in re.findall(r"[\w./-]+", lists)}
    # ${_fuzzer}_fuzzer.cpp in a foreach names any file of that form.
    forms = [_form(word) for word in re.findall(r"[\w./${}-]*\$\{[\w./${}-]*\.cpp", lists)]
    return [
        Finding(name, 0, "unbuilt", "no CMakeLists.txt names this file")
        for name in texts
        if name.endswith(".cpp")
        and Path(name).name not in named
        and not any(form.fullmatch(Path(name).name) for form in forms)
        and not _globbed(name, texts)
    ]


def _form(word: str) -> re.Pattern[str]:
    fixed = re.split(r"\$\{\w+\}", Path(word).name)
    return re.compile("[\\w-]+".join(re.escape(part) for part in fixed))


def _globbed(name: str, texts: dict[str, str]) -> bool:
    """Whether a CMakeLists.txt in this folder or one above it collects sources with file(GLOB …)."""
    return any(
        "file(GLOB" in texts.get(str(parent / "CMakeLists.txt"), "")
        for parent in Path(name).parents
        if parent != Path(".")
    )


def untested(root: Path = places.ROOT) -> list[Finding]:
    """Sources of model, runtime and passes that no test names: by its own name in a folder of theirs or
    from Python, an include, or the path.

    A test of another name says in a comment (Sources: …) which sources are there for what it checks.
    """
    names = source_files(root)
    tests = [name for name in names if name.startswith("test/") and name.endswith(_TESTS)]
    included: set[str] = set()
    told: set[str] = set()
    for name in tests:
        text = (root / name).read_text(errors="replace")
        included.update(re.findall(r'#include "([^"]+)"', text))
        for path in re.findall(r"(?:model|passes|runtime)/[\w/{},.]+", text):
            told.update(_alternatives(path))
    return [
        Finding(name, 0, "untested", "no test names it or includes its header")
        for name in names
        if name.endswith(".cpp")
        and name.startswith(_TESTED)
        and name not in told
        and name.removesuffix(".cpp") + ".h" not in included
        and not any(_is_named_like(test, name) for test in tests)
    ]


def _is_named_like(test: str, source: str) -> bool:
    """Whether a test has the source's name and is where one looks for it, not a namesake of it elsewhere."""
    is_named = _plain(Path(source).stem) in _plain(Path(test).stem)
    folder = Path(test).parent.name
    return is_named and (folder == "python" or folder in Path(source).parent.parts)


def _alternatives(path: str) -> list[str]:
    """The paths that `a/{b,c}.{h,cpp}` stands for."""
    found = re.search(r"\{([\w,]+)\}", path)
    if not found:
        return [path.rstrip(",.")]
    ends = (path[: found.start()] + each + path[found.end() :] for each in found[1].split(","))
    return [name for end in ends for name in _alternatives(end)]


def _plain(stem: str) -> str:
    return re.sub(r"[-_]", "", stem).lower()
