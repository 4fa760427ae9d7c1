"""`./dev bench scale`: what a rank has to do and to hold as there are more of them, up to 100,800.

TPC-H q03 and q18 (from the Substrait plans and statistics of `test/data`, with as much data for each rank)
and a network of 48 layers are compiled for a topology with so many ranks, kernels too. One rank of each plan
then runs on empty tables, and all others do to it what it does to them: so what is counted is what
the runtime does, at any number of ranks. The time is the simulator's, with the compiler's estimates of rows.

The second table is of the meeting before a run, by ranks as threads over the store that rank 0 keeps.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev import places
from dev.bench.regret import scaled

RANKS = (8, 64, 1024, 10_080, 100_800)
MEETINGS = (2, 4, 8, 16, 32, 64, 128, 256)
NETWORK = "network"
LAYERS = 48
WIDTH = 1024
#: Rows of the network's input for each rank.
BATCH = 64
GB200 = "gb200-100k"
ETHERNET = "ethernet-fast"
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
#: Of the rank that is run: its pools are those of a rank with so much.
MEMORY = 64 << 30


@dataclass(frozen=True)
class Program:
    """A plan for so many ranks, and what it took to make."""

    name: str
    topology: str
    ranks: int
    plan: str
    kernels: bytes
    compile_seconds: float
    simulated_seconds: float


@dataclass(frozen=True)
class Mirrored:
    """What one rank sends and holds."""

    #: Ranks that it talks to, but for the end of the run.
    peers: int
    #: Messages without rows or elements, and with them.
    control: int
    data: int
    #: At the beginning and the end of the run, about how it goes.
    of_run: int
    #: Of the pools of its exchanges and collectives, and of those for failures.
    pool_bytes: int
    failure_bytes: int


def ethernet(ranks: int) -> str:
    """As the shipped one of servers on a switch, with as many servers and levels of switches as it takes."""
    document = json.loads((places.ROOT / "model" / "topology" / "files" / f"{ETHERNET}.json").read_text())
    (servers,) = document["instances"]
    servers["count"] = ranks
    (tier,) = document["fabric"]["tiers"]
    document["fabric"]["tiers"] = [tier]
    room = tier["radix"]
    while room < ranks:
        document["fabric"]["tiers"].append({**tier})
        room *= tier["radix"]
    document["name"] = f"{ETHERNET} of {ranks}"
    return json.dumps(document)


def network(batch: int, layers: int = LAYERS) -> str:
    """As many layers, and the mean of what comes out, as a function of tensors."""
    x, w, y = f"tensor<{batch}x{WIDTH}xf32>", f"tensor<{WIDTH}x{WIDTH}xf32>", f"tensor<{WIDTH}xf32>"
    arguments = ", ".join([f"%x0: {x}", *(f"%w{i}: {w}" for i in range(layers))])
    lines = [f"func.func @main({arguments}) -> {y} {{", "%zero = arith.constant 0.0 : f32"]
    for i in range(layers):
        lines += [
            f"%e{i} = tensor.empty() : {x}",
            f"%z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {x}) -> {x}",
            f"%x{i + 1} = linalg.matmul ins(%x{i}, %w{i} : {x}, {w}) outs(%z{i} : {x}) -> {x}",
        ]
    lines += [
        f"%e = tensor.empty() : {y}",
        f"%z = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}",
        f"%y = linalg.reduce {{ arith.addf }} ins(%x{layers} : {x}) outs(%z : {y}) dimensions = [0]",
        f"return %y : {y}",
        "}",
    ]
    return "\n".join(lines) + "\n"


class Compiler:
    """Compiles programs for more ranks than there are, with kernels for this processor."""

    def __init__(self) -> None:
        from headrace import _compiler

        self._session = _compiler.Session()
        data = places.ROOT / "test" / "data" / "tpch"
        self._substrait = data / "substrait"
        self._statistics = {
            name: json.loads((data / "statistics" / f"{name}.json").read_text()) for name in TABLES
        }

    def program(self, name: str, topology: str, ranks: int, scale: float, one_axis: bool) -> Program:
        from headrace import _compiler, _runtime

        request = _compiler.Request()
        request.ranks = ranks
        request.mesh = f"ranks:{ranks}" if one_axis else ""
        request.topology = topology if topology == GB200 else ethernet(ranks)
        request.isa = _runtime.instruction_set()
        started = time.perf_counter()
        if name == NETWORK:
            request.mlir = network(BATCH * ranks)
            answer = self._session.compile_mlir(request)
        else:
            request.substrait = (self._substrait / f"{name}.json").read_text()
            request.statistics = {
                table: json.dumps(scaled(document, table, scale * ranks))
                for table, document in self._statistics.items()
            }
            answer = self._session.compile_sql(request)
        took = time.perf_counter() - started
        if not answer.ok:
            raise RuntimeError(f"{name} on {ranks} ranks of {topology}: {answer.error}")
        cost = json.loads(_runtime.cost(answer.plan_json, request.topology, ranks))
        return Program(name, topology, ranks, answer.plan_json, answer.kernels, took, cost["seconds"])


def empty_tables() -> dict[str, Any]:
    """TPC-H's, by name."""
    sys.path.insert(0, str(places.ROOT / "test" / "data" / "tpch"))
    try:
        from schemas import SCHEMAS
    finally:
        sys.path.pop(0)
    return {name: schema.empty_table() for name, schema in SCHEMAS.items()}


def bindings_of(program: Program) -> dict[str, Any]:
    """What its rank reads: tables without rows, or arrays of which every element is the same one."""
    import numpy as np

    if program.name != NETWORK:
        return empty_tables()
    slots = [slot["name"] for slot in json.loads(program.plan)["slots"]]
    one = np.ones(1, np.float32)
    shapes = [(BATCH * program.ranks, WIDTH), *[(WIDTH, WIDTH)] * LAYERS]
    return {name: np.broadcast_to(one, shape) for name, shape in zip(slots, shapes, strict=True)}


def mirrored(program: Program, rank: int) -> Mirrored:
    from headrace import _runtime

    loaded = _runtime.load_plan(program.plan, program.kernels)
    found = json.loads(loaded.mirrored(bindings_of(program), program.ranks, rank, MEMORY))
    of_run = found["channels"].pop(str(found["end_channel"]), {"control": 0})
    channels = found["channels"].values()
    return Mirrored(
        peers=found["peers"],
        control=sum(channel["control"] for channel in channels),
        data=sum(channel["data"] for channel in channels),
        of_run=of_run["control"],
        pool_bytes=found["peak_bytes"],
        failure_bytes=found["end_bytes"],
    )


def amount(count: float, units: Sequence[str] = ("B", "KB", "MB", "GB")) -> str:
    """In three figures."""
    unit = 0
    while count >= 1000 and unit + 1 < len(units):
        count /= 1000
        unit += 1
    return f"{count:.{0 if count >= 100 or unit == 0 else 1}f} {units[unit]}"


def row(program: Program, first: Mirrored, last: Mirrored) -> str:
    """The larger of rank 0, which has the result, and of the last rank."""

    def most(name: str) -> int:
        return max(getattr(first, name), getattr(last, name))

    cells = [
        program.topology.split("-")[0],
        program.name,
        f"{program.ranks:,}",
        amount(len(program.plan)),
        amount(len(program.kernels)),
        f"{program.compile_seconds:.2f} s",
        f"{most('peers'):,}",
        f"{most('control'):,}",
        f"{most('data'):,}",
        f"{most('of_run'):,}",
        amount(most("pool_bytes")),
        amount(most("failure_bytes")),
        f"{program.simulated_seconds * 1e3:,.1f} ms",
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = (
    "| topology | program | ranks | plan | kernels | compiled in | peers | control messages | with rows "
    "| of the run | memory | for failures | simulated |\n" + "|---" * 13 + "|"
)


def rows(
    programs: Iterable[str], topologies: Iterable[str], ranks: Iterable[int], scale: float, one_axis: bool
) -> Iterator[str]:
    compiler = Compiler()
    counts = list(ranks)
    for topology in topologies:
        for name in programs:
            for count in counts:
                program = compiler.program(name, topology, count, scale, one_axis)
                yield row(program, mirrored(program, 0), mirrored(program, count - 1))


def meetings(ranks: Iterable[int]) -> Iterator[str]:
    """Ranks as threads that meet, and what that takes."""
    from headrace import _runtime

    yield "| ranks | exchanges | a record | sent to each rank | by rank 0 | connections a rank | seconds |"
    yield "|---|---|---|---|---|---|---|"
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    for count in ranks:
        connects = 5 * count * count < most
        found = json.loads(_runtime.rehearsed_meeting(count, connects))
        cells = [
            str(count),
            str(found["exchanges"]),
            amount(found["record_bytes"]),
            amount(found["received_bytes"]),
            amount(found["received_bytes"] * count),
            f"{found['connections']:.0f}" if connects else "",
            f"{found['seconds']:.2f}",
        ]
        yield "| " + " | ".join(cells) + " |"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench scale", description=__doc__)
    parser.add_argument("--programs", default=f"q03,q18,{NETWORK}")
    parser.add_argument("--topologies", default=f"{GB200},{ETHERNET}", help="of these two")
    parser.add_argument("--ranks", default=",".join(map(str, RANKS)))
    parser.add_argument("--meetings", default=",".join(map(str, MEETINGS)), help="ranks that meet here")
    parser.add_argument("--scale", type=float, default=10, help="TPC-H scale factor for each rank (10)")
    parser.add_argument("--one-axis", action="store_true", help="a mesh of one axis, not the compiler's")
    parser.add_argument("--output", type=Path, help="write the tables to this file, too")
    options = parser.parse_args(words)
    lines: list[str] = []

    def show(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    show(HEAD)
    for line in rows(
        options.programs.split(","),
        options.topologies.split(","),
        [int(count) for count in options.ranks.split(",")],
        options.scale,
        options.one_axis,
    ):
        show(line)
    show("")
    for line in meetings(int(count) for count in options.meetings.split(",") if count):
        show(line)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")
    return 0
