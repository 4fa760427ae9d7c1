"""Runs every test: GoogleTest binaries through ctest, *.mlir through lit, Python through pytest; adds up."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dev import building, packages, places, python_environment
from dev.steps import Step, run, step

# MLIR's libraries are not instrumented but share inline allocators with our code, which would poison what
# they write to: hence no user poisoning.
_SANITIZER = {
    "asan": {
        "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:allow_user_poisoning=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    },
    "ubsan": {"UBSAN_OPTIONS": "print_stacktrace=1"},
    "tsan": {
        "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:die_after_fork=0"
    },  # some tests fork ranks
}

# The library of the runtime's sanitizer in a process of Python, in which nothing else is instrumented, and
# its options: what others allocate, leak and share is not ours to judge.
_SANITIZER_IN_PYTHON = {
    "asan": (
        "asan",
        "ASAN_OPTIONS",
        "detect_leaks=0:strict_string_checks=1:allow_user_poisoning=0:alloc_dealloc_mismatch=0",
    ),
    "ubsan": ("ubsan_standalone", "UBSAN_OPTIONS", "print_stacktrace=1"),
    "tsan": (
        "tsan",
        "TSAN_OPTIONS",
        "halt_on_error=0:second_deadlock_stack=1:ignore_noninstrumented_modules=1:die_after_fork=0",
    ),
}

# What is built for a suite; "unit" and "ir" are also labels of tests in CMake. "ir" is what runs with the
# tools of IR alone: lit, fuzzed imports, and random programs through the phases; "python" are the Python
# tests over the release's compiler; "engines" are the launchers and engines of ranks, all of them.
_TARGETS: dict[str, list[str]] = {
    "all": [],
    "unit": ["unit_tests"],
    "ir": ["headrace-opt", "headrace-translate", "headrace-interpret", "ir_fuzzers"],
    "python": ["_runtime"],
    "engines": ["headrace_python", "headrace-run"],
}
SUITES = tuple(_TARGETS)
_SPREAD = "not alone and not waits"  # tests that run beside each other, on all cores: see pytest.ini
_RANDOM_PROGRAMS = "1000"  # of the suite ir, unless HEADRACE_RANDOM_PROGRAMS says otherwise


@dataclass
class Results:
    """What one runner reported. Failures are (test, the first lines of why)."""

    passed: int = 0
    skipped: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)

    def add(self, other: Results) -> None:
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures


def test(preset: str = "release", pattern: str = "", suite: str = "all") -> int:
    """Builds and runs a suite (the tests whose name matches a pattern); returns the process's exit code."""
    folder = building.build(preset, _TARGETS[suite])
    reports = folder / "test-results"
    reports.mkdir(exist_ok=True)
    total = Results()
    if suite in ("all", "unit", "ir"):
        ctest = _ctest_command(folder, pattern, suite)
        total.add(_runner("unit tests (ctest)", ctest, reports / "ctest.xml", preset))
    if suite == "all":
        _add_what_needs_the_compiler(total, folder, pattern, preset)
    if suite == "ir":
        _add_what_needs_tools_of_ir(total, folder, pattern, preset)
    if suite == "python":
        _add_python_over_runtime(total, folder, pattern, preset)
    if suite == "engines":
        packages.ensure(packages.ENGINES)
        python_environment.ensure_engines()
        command = [*_pytest_command(pattern), "test/python/test_launchers.py", "test/python/test_engines.py"]
        environment = {
            **variables("release"),
            "HEADRACE_ENGINES": "1",
            "HEADRACE_ENGINES_PYTHON": str(places.engines_python()),
        }
        report = folder / "test-results" / "pytest.xml"
        total.add(_runner("launchers (pytest)", command, report, preset, environment))
    _report(total)
    return 1 if total.failures or total.passed == 0 else 0


def _add_what_needs_the_compiler(total: Results, folder: Path, pattern: str, preset: str) -> None:
    reports = folder / "test-results"
    if any((places.ROOT / "test").rglob("*.mlir")):  # lit refuses a folder without tests
        total.add(_runner("IR tests (lit)", _lit_command(folder, pattern), reports / "lit.xml", preset))
    if preset in _SANITIZER:
        print(f"  Python tests are not run under {preset}", file=sys.stderr)
    else:
        spread = [*_pytest_command(pattern, "pytest"), "-m", _SPREAD]
        spread += ["-n", str(building.jobs()), "--dist", "worksteal"]
        total.add(_runner("Python tests (pytest)", spread, reports / "pytest.xml", preset))
        waits = [*_pytest_command(pattern, "pytest-waits"), "-m", "waits"]
        waits += ["-n", str(building.jobs() + 1), "--dist", "loadfile"]
        total.add(_runner("those that wait (pytest waits)", waits, reports / "pytest-waits.xml", preset))
        alone = [*_pytest_command(pattern, "pytest-alone"), "-m", "alone"]
        total.add(_runner("those with clocks (pytest alone)", alone, reports / "pytest-alone.xml", preset))


def _add_what_needs_tools_of_ir(total: Results, folder: Path, pattern: str, preset: str) -> None:
    total.add(
        _runner("IR tests (lit)", _lit_command(folder, pattern), folder / "test-results" / "lit.xml", preset)
    )
    # What writes the programs is Python: it imports the release's package, and runs the tools of this preset.
    release = building.build("release", ["headrace_python"])
    command = [*_pytest_command(pattern), "test/python/test_random_programs.py"]
    command += [] if pattern else ["-k", "every_stage or every_phase"]
    count = os.environ.get("HEADRACE_RANDOM_PROGRAMS", _RANDOM_PROGRAMS)
    environment = {
        **variables("release"),
        **_SANITIZER.get(preset, {}),
        "HEADRACE_BUILD": str(folder),
        "HEADRACE_RANDOM_PROGRAMS": count,
    }
    title = f"{count} random programs (pytest)"
    report = release / "test-results" / "pytest.xml"
    total.add(_runner(title, command, report, preset, environment))


def _add_python_over_runtime(total: Results, folder: Path, pattern: str, preset: str) -> None:
    """Python tests, of files whose name matches, with the release's compiler and this preset's runtime.

    The sanitizer's library comes into the process before Python's own; its reports are files, as pytest keeps
    what tests write.
    """
    all_files = sorted((places.ROOT / "test" / "python").glob("test_*.py"))
    files = [str(file) for file in all_files if re.search(pattern, file.name)]
    if not files:
        return
    release = building.build("release")
    package = folder / "python-tests" / "headrace"
    shutil.rmtree(package.parent, ignore_errors=True)
    package.mkdir(parents=True)
    for part in (release / "python" / "headrace").iterdir():
        here = folder / "python" / "headrace" / part.name
        (package / part.name).symlink_to(here if part.name.startswith("_runtime.") else part)
    environment = variables("release")
    environment["PYTHONPATH"] = os.pathsep.join([str(package.parent), environment["PYTHONPATH"]])
    reports = folder / "test-results" / "sanitizer"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    if preset in _SANITIZER_IN_PYTHON:
        library, name, options = _SANITIZER_IN_PYTHON[preset]
        environment[name] = f"{options}:log_path={reports / 'report'}"
        asked = f"-print-file-name=libclang_rt.{library}-{platform.machine()}.so"
        environment["LD_PRELOAD"] = subprocess.check_output(["clang++-22", asked], text=True).strip()
    command = [*_pytest_command(""), "-m", _SPREAD, *files]  # in one process: those of xdist fork
    report = release / "test-results" / "pytest.xml"
    total.add(_runner("Python tests (pytest)", command, report, preset, environment))
    total.failures += [(file.name, file.read_text()) for file in sorted(reports.iterdir())]


def _ctest_command(folder: Path, pattern: str, suite: str) -> list[str]:
    chosen = ["-LE", "^lit$"] if suite == "all" else ["-L", f"^{suite}$"]
    command = ["ctest", "--test-dir", str(folder), *chosen, "-j", str(building.jobs())]
    command += ["--output-on-failure", "--no-tests=ignore", "--timeout", "300"]
    command += ["--output-junit", str(folder / "test-results" / "ctest.xml")]
    return command + (["-R", pattern] if pattern else [])


def _lit_command(folder: Path, pattern: str) -> list[str]:
    command = [str(places.LLVM_TOOLS / "lit"), "-v", "--allow-empty-runs", f"-j{building.jobs()}"]
    command += ["--timeout=120"] if _has_psutil() else []
    command += ["--param", f"build={folder}", str(places.ROOT / "test")]
    command += ["--xunit-xml-output", str(folder / "test-results" / "lit.xml")]
    return command + (["--filter", pattern] if pattern else [])


def _has_psutil() -> bool:
    return Path("/usr/lib/python3/dist-packages/psutil").exists()


def _pytest_command(pattern: str, report: str = "pytest") -> list[str]:
    folder = places.build_folder("release")
    command = [str(places.environment_python()), "-m", "pytest", "-q", "-ra", "--no-header"]
    command += ["--junitxml", str(folder / "test-results" / f"{report}.xml")]
    # pytest knows no regular expressions: any of the words will do.
    return command + (["-k", " or ".join(re.findall(r"\w+", pattern))] if pattern else [])


def _runner(
    title: str,
    command: Sequence[str],
    report: Path,
    preset: str,
    environment: dict[str, str] | None = None,
) -> Results:
    report.unlink(missing_ok=True)
    log = re.sub(r"\W+", "-", title.split("(")[1].rstrip(")"))
    with step(title) as current:
        current.always = True
        code = run(
            command,
            f"test-{log}",
            environment=environment or {**variables(preset), **_SANITIZER.get(preset, {})},
            on_line=lambda line: _show(current, line),
            accept=lambda code: True,
        )
        results = read_junit(report) if report.exists() else Results()
        empty = code == 0 or (log.startswith("pytest") and code == 5)  # pytest says 5 when it found no tests
        if not results.failures and not empty:
            results.failures.append((log, f"exit code {code}; see build/logs/test-{log}.log"))
        skipped = f", {results.skipped} skipped" if results.skipped else ""
        current.outcome = f"{results.passed} passed, {len(results.failures)} failed{skipped}"
    return results


def variables(preset: str) -> dict[str, str]:
    """The environment of tests, Python and benchmarks: the build's Python package and tools come first."""
    folder = places.build_folder(preset)
    inherited = building.variables()
    # The Python that runs ./dev has tools/ on its path; children see the package too.
    python_path = [str(folder / "python"), str(places.ROOT / "tools")]
    return {
        **inherited,
        "PATH": os.pathsep.join([str(folder / "bin"), inherited["PATH"]]),
        "PYTHONPATH": os.pathsep.join(python_path),
        "HEADRACE_BUILD": str(folder),
        "HEADRACE_HOME": str(places.home()),
        # Layouts and costs that tests expect are those of assumed figures.
        "HEADRACE_CALIBRATION": os.environ.get("HEADRACE_CALIBRATION", "off"),
    }


def read_junit(path: Path) -> Results:
    """Counts a JUnit XML report, as ctest, lit and pytest write it."""
    results = Results()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        trouble = next((case.find(tag) for tag in ("failure", "error") if case.find(tag) is not None), None)
        if trouble is not None:
            output = case.findtext("system-out") or ""
            results.failures.append((name, trouble.text or trouble.get("message") or output))
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            results.skipped += 1
        else:
            results.passed += 1
    return results


def _show(current: Step, line: str) -> None:
    # ctest: "12/34 Test #1: …"; lit: "PASS: headrace :: x (1 of 9)"; pytest: "…… [ 45%]".
    if match := re.search(r"^\s*(\d+/\d+) Test|\((\d+ of \d+)\)|\[\s*(\d+%)\]$", line):
        current.progress(next(group for group in match.groups() if group))


def _report(total: Results) -> None:
    sys.stderr.flush()
    for name, why in total.failures:
        print(f"\nFAILED {name}")
        lines = [line for line in why.strip().splitlines() if line.strip()]
        for line in lines[:12] + (["…"] if len(lines) > 24 else []) + lines[max(12, len(lines) - 12) :]:
            print(f"    {line[:240]}")
    if total.failures:
        print()
    if total.skipped:
        print(f"{total.skipped} skipped")
    print(f"{total.passed} passed, {len(total.failures)} failed", flush=True)
