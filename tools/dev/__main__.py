"""`./dev COMMAND …`: the commands and what each needs set up before it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dev import building, packages, places, python_environment, testing, tpch_data
from dev.steps import StepFailed


@dataclass(frozen=True)
class Command:
    """One word after ./dev: what it does, and the function that does it with the remaining words."""

    usage: str
    summary: str
    act: Callable[[list[str]], int]


def set_up() -> None:
    packages.ensure()
    python_environment.ensure()


def become(command: Sequence[str], preset: str) -> int:
    """Replaces this process, so that signals, the terminal and the exit code are the tool's own."""
    sys.stdout.flush()
    sys.stderr.flush()
    environment = {**os.environ, **testing.variables(preset)}
    os.execvpe(command[0], list(command), environment)


def build(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./dev build", description="Builds everything, or the targets named."
    )
    parser.add_argument("--preset", choices=building.PRESETS, default="release")
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args(words)
    set_up()
    folder = building.build(options.preset, options.targets)
    print(f"built in {folder.relative_to(places.ROOT)}")
    return 0


def test(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev test", description="Builds, then runs all tests.")
    parser.add_argument("--preset", choices=building.PRESETS, default="release")
    parser.add_argument("--filter", default="", help="only tests whose name matches (a regular expression)")
    parser.add_argument(
        "--only",
        dest="suite",
        choices=testing.SUITES,
        default="all",
        help="unit: the runtime's unit tests, without building the compiler; ir: lit and random programs; "
        "python: the Python tests, with the preset's runtime and the release's compiler; engines: the "
        "launchers of ranks, installed where they are missing",
    )
    options = parser.parse_args(words)
    set_up()
    tpch_data.ensure("0.01")
    return testing.test(options.preset, options.filter, options.suite)


def python(words: list[str]) -> int:
    set_up()
    building.build("release", ["headrace_python"])
    return become([str(places.environment_python()), *words], "release")


def execute(words: list[str]) -> int:
    preset = "release"
    if words[:1] == ["--preset"] and len(words) > 2:
        preset, words = words[1], words[2:]
    if not words:
        raise StepFailed("usage: ./dev exec TOOL ARGS (headrace-opt, headrace-translate, headrace-run)")
    set_up()
    # The search is the package's; the tool hands over to it.
    package = ["headrace_python"] if words[:2] == ["headrace-tune", "search"] else []
    folder = building.build(preset, [words[0], *package])
    return become([str(folder / "bin" / words[0]), *words[1:]], preset)


def data(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev data", description="Makes TPC-H Parquet files.")
    parser.add_argument("--scale", default="1", help="the scale factor: 0.01, 1, 10 (default 1)")
    options = parser.parse_args(words)
    python_environment.ensure()
    print(tpch_data.ensure(options.scale))
    return 0


def module(name: str, targets: Sequence[str]) -> Callable[[list[str]], int]:
    """A command that is a module of this package, run by the environment's Python after building targets."""

    def act(words: list[str]) -> int:
        set_up()
        if targets:
            building.build("release", targets)
        return become([str(places.environment_python()), "-m", name, *words], "release")

    return act


def bench(words: list[str]) -> int:
    """The solver's bench needs one small tool, the others the compiler too."""
    targets = ["headrace-tune"] if words[:1] == ["solver"] else ["headrace_python", "headrace-tune"]
    return module("dev.bench", targets)(words)


def show_help(words: list[str]) -> int:
    print("usage: ./dev COMMAND …   (each does the set-up that it needs; logs are in build/logs)\n")
    shown = {f"{name} {command.usage}".rstrip(): command.summary for name, command in COMMANDS.items()}
    width = max(map(len, shown))
    for usage, summary in shown.items():
        print(f"  {usage:<{width}}  {summary}")
    print(f"\n  kept outside the source tree, in HEADRACE_HOME: {places.home()}")
    return 0


COMMANDS: dict[str, Command] = {
    "demo": Command(
        "[--scale S] [--ranks N]",
        "three TPC-H queries and a network: plans, results, times",
        module("dev.demo", ["headrace_python"]),
    ),
    "build": Command("[--preset P] [TARGET…]", "build everything, or the targets named", build),
    "test": Command(
        "[--preset P] [--only unit|ir|python|engines] [--filter RE]", "build and run all tests", test
    ),
    "python": Command("ARGS", "Python with headrace importable", python),
    "exec": Command("TOOL ARGS", "build and run one of the C++ tools", execute),
    "data": Command("[--scale S]", "make TPC-H Parquet files; prints their folder", data),
    "bench": Command(
        "tpch|clickbench|tpcds|windows|memory|accuracy|regret|solver|machines …",
        "suites beside other engines; predicted times; chosen layouts; contest instances; ranks as processes",
        bench,
    ),
    "gpu-bundle": Command(
        "[DIR]",
        "make the folder that checks our kernels on a machine with a GPU",
        module("dev.gpu_bundle", ["headrace-opt", "headrace-translate", "headrace-gpu"]),
    ),
    "logictest": Command(
        "PATH…",
        "scripts of SQL that others wrote (sqllogictest), beside DuckDB",
        module("dev.logictest", ["headrace_python"]),
    ),
    "wheel": Command("[--output DIR]", "make the Python package that pip installs", module("dev.wheel", ())),
    "tidy": Command("[--fix] [--all]", "check layers, names, formats, dead files", module("dev.tidy", ())),
    "new": Command("op|pass|transport …", "write the files that each new one needs", module("dev.new", ())),
    "docs": Command(
        "",
        "make the pages of docs that come from the sources",
        module("dev.dialect_docs", ["headrace_python"]),
    ),
    "help": Command("", "this list", show_help),
}


def main(words: list[str]) -> int:
    name = {"-h": "help", "--help": "help"}.get(words[0], words[0]) if words else "help"
    command = COMMANDS.get(name)
    if command is None:
        print(f"dev: no such command: {name} (./dev help lists them)", file=sys.stderr)
        return 2
    try:
        return command.act(words[1:])
    except StepFailed as failed:
        print(f"{failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


sys.exit(main(sys.argv[1:]))
