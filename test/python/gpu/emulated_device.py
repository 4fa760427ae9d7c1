"""A GPU stand-in: runs kernels shaped for threads on the CPU, from barrier to barrier.

They come from headrace-translate --kernel-to-emulation. Memory is NumPy's; structures are those of
runtime/abi/kernel.h and device_kernel.h. Threads run in a shuffled order on two OS threads, so the atomics of
the kernels are put to the test too.
"""

from __future__ import annotations

import ctypes
import json
import random
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

VALUES, INDICES, OFFSETS, BITMAP = 0, 4, 2, 3
SCALAR, JOIN, SORT = "scalar", "join", "sort"
PADDING = 64
#: In the diagnostics of passes/lower/gpu.
NO_CODE = "has no code for threads yet"
STRING = np.dtype([("length", "<u4"), ("prefix", "V4"), ("data", "<u8")])
#: By HrType; 128-bit integers as (low, high).
DTYPES = ["u1", "i1", "<i2", "<i4", "<i8", np.dtype([("low", "<u8"), ("high", "<i8")]), "<f4", "<f8", STRING]
I128, TEXT = 5, 8

SEGMENT = np.dtype(
    [("rows", "<u4"), ("encoding", "u1"), ("bit_width", "u1"), ("reserved", "<u2"), ("bytes", "<u8")]
    + [(name, "<u8") for name in ("data", "heap", "validity")]
)
COLUMN = np.dtype(
    [
        ("segments", "<u8"),
        ("segment_count", "<u4"),
        ("dictionary_count", "<u4"),
        ("dictionary", "<u8"),
        ("skip", "<u4"),
        ("reserved", "<u4"),
    ]
)
MORSEL = np.dtype(
    [
        ("rows", "<u4"),
        ("column_count", "<u4"),
        ("columns", "<u8"),
        ("first_row", "<u8"),
        ("state_rows", "<u8"),
    ]
)
ARGS = np.dtype([(name, "<u8") for name in ("morsel", "literals", "states")])
DEVICE = np.dtype(
    [
        ("code", "<i4"),
        ("place", "<u4"),
        ("row", "<u8"),
        ("outputs", "<u8"),
        ("size", "<u4"),
        ("morsels", "<u4"),
        ("args_bytes", "<u4"),
        ("reserved", "<u4"),
    ]
)
OUTPUT = np.dtype([("rows", "<u4"), ("capacity", "<u4"), ("columns", "<u8")])
OUTPUT_COLUMN = np.dtype(
    [("data", "<u8"), ("heap", "<u8"), ("heap_used", "<u4"), ("heap_capacity", "<u4"), ("validity", "<u8")]
)
STORE = np.dtype([(name, "<u8") for name in ("rows", "heap", "heap_bytes", "heap_used")])
GROUP_TABLE = np.dtype([(name, "<u8") for name in ("directory", "mask", "rows", "limit", "owner")])
JOIN_TABLE = np.dtype(
    [
        ("directory", "<u8"),
        ("shift", "<u8"),
        ("rows", "<u8"),
        ("direct", "<u8"),
        ("base", "<i8"),
        ("extent", "<u8"),
    ]
    + [("owner", "<u8")]
)
ROW_BUFFER = np.dtype([(name, "<u8") for name in ("next", "end", "rows", "row_bytes", "owner")])
SCALAR_STATE = np.dtype([("row", "<u8"), ("owner", "<u8")])


class DeviceError(Exception):
    """The error slot of a launch."""

    def __init__(self, code: int, row: int) -> None:
        super().__init__(f"device error {code} at row {row}")
        self.code = code
        self.row = row


class Arena:
    """Keeps arrays alive that others point into."""

    def __init__(self) -> None:
        self.kept: list[np.ndarray] = []

    def address(self, array: np.ndarray) -> int:
        self.kept.append(array)
        return array.ctypes.data

    def zeros(self, size: int) -> np.ndarray:
        """Bytes, aligned to 64."""
        raw = np.zeros(size + 64, np.uint8)
        start = -raw.ctypes.data % 64
        return raw[start : start + size]

    def record(self, dtype: np.dtype, **fields: int) -> np.ndarray:
        array = np.zeros(1, dtype)
        for name, value in fields.items():
            array[name] = value
        return array

    def strings(self, texts: list[str]) -> np.ndarray:
        encoded = [text.encode() for text in texts]
        blob = np.frombuffer(b"".join(encoded) + bytes(PADDING), np.uint8)
        base = self.address(blob)
        views = np.zeros(len(texts), STRING)
        offset = 0
        for view, text in zip(views, encoded, strict=True):
            view["length"], view["data"] = len(text), base + offset
            view["prefix"] = text[:4].ljust(4, b"\0")
            offset += len(text)
        return views


def text_of(view: np.void) -> str:
    return ctypes.string_at(int(view["data"]), int(view["length"])).decode()


class State:
    """A state's memory on the device, and its rows as Python values."""

    def __init__(self, layout: dict, kind: str, capacity: int, heap: int = 1 << 16) -> None:
        self.layout, self.kind, self.capacity = layout, kind, capacity
        self.arena = Arena()
        self.row_bytes = layout["row_bytes"]
        self.memory = self.arena.zeros(capacity * self.row_bytes)
        self.heap = self.arena.zeros(heap)
        self.store = self.arena.record(
            STORE, rows=self.memory.ctypes.data, heap=self.heap.ctypes.data, heap_bytes=heap - PADDING
        )
        owner = self.store.ctypes.data
        if kind == SCALAR:
            self.memory[: self.row_bytes] = np.frombuffer(bytes.fromhex(layout["identity"]), np.uint8)
            self.head = self.arena.record(SCALAR_STATE, row=self.memory.ctypes.data, owner=owner)
        elif kind in (JOIN, SORT):
            begin = self.memory.ctypes.data
            self.head = self.arena.record(ROW_BUFFER, next=begin, end=begin + len(self.memory), owner=owner)
        else:
            entries = 1 << (2 * capacity - 1).bit_length()
            self.directory = self.arena.zeros(entries * 8)
            self.head = self.arena.record(
                GROUP_TABLE,
                directory=self.directory.ctypes.data,
                mask=entries - 1,
                limit=capacity,
                owner=owner,
            )

    def count(self) -> int:
        return 1 if self.kind == SCALAR else int(self.head["rows"][0])

    def row_pointers(self) -> np.ndarray:
        return self.memory.ctypes.data + np.arange(self.count(), dtype="<u8") * self.row_bytes

    def linked(self, program: Program) -> State:
        """Makes a filled join buffer a table: directory, then the kernel link_STATE."""
        rows = self.count()
        direct = self.layout.get("direct")
        entries = direct["extent"] if direct else 1 << max(1, (rows - 1).bit_length())
        self.directory = self.arena.zeros(entries * 8)
        self.head = self.arena.record(
            JOIN_TABLE,
            directory=self.directory.ctypes.data,
            shift=0 if direct else 64 - (entries.bit_length() - 1),
            rows=rows,
            direct=1 if direct else 0,
            base=direct["base"] if direct else 0,
            extent=entries if direct else 0,
            owner=self.store.ctypes.data,
        )
        program.launch("link_" + self.layout["name"], rows=rows, states=[self])
        return self

    def rows(self) -> list[dict[str, object]]:
        dtype = np.dtype(
            {
                "names": [field["name"] for field in self.layout["fields"]],
                "formats": [DTYPES[field["type"]] for field in self.layout["fields"]],
                "offsets": [field["offset"] for field in self.layout["fields"]],
                "itemsize": self.row_bytes,
            }
        )
        records = np.frombuffer(self.memory, dtype, count=self.count())
        out = []
        for index, record in enumerate(records):
            row: dict[str, object] = {}
            for field in self.layout["fields"]:
                value = record[field["name"]]
                if field["type"] == I128:
                    value = int(value["low"]) | int(value["high"]) << 64
                elif field["type"] == TEXT:
                    value = text_of(value)
                else:
                    value = value.item()
                if (
                    "valid_offset" in field
                    and not self.memory[index * self.row_bytes + field["valid_offset"]]
                ):
                    value = None
                row[field["name"]] = value
            out.append(row)
        return out


class Program:
    """The kernels of a program after form, for blocks on the CPU."""

    def __init__(self, translate: str, text: str) -> None:
        def run(flag: str) -> bytes:
            return subprocess.run(
                [translate, flag], input=text.encode(), check=True, capture_output=True
            ).stdout

        manifest = json.loads(run("--kernel-to-manifest"))
        self.kernels = {kernel["symbol"]: kernel for kernel in manifest["kernels"]}
        self.states = {state["name"]: state for state in manifest["states"]}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernels.so"
            path.write_bytes(run("--kernel-to-emulation"))
            self.library = ctypes.CDLL(str(path))

    def state(self, name: str, kind: str, capacity: int = 1) -> State:
        return State(self.states[name], kind, capacity)

    def launch(
        self,
        symbol: str,
        *,
        rows: int,
        columns: dict[str, object] | list[object] = (),
        states: list[State] = (),
        source: State | None = None,
        output: list[np.ndarray] = (),
        literals: np.ndarray | None = None,
        first_row: int = 0,
        blocks: int = 5,
        threads: int | None = None,
        seed: int = 0,
        together: int = 32,
    ) -> int:
        """Runs all blocks; the number of output rows.

        `columns` by name, or in the order of a tensor's buffers. `together`: threads that an OS thread runs
        one after the other.
        """
        kernel = self.kernels[symbol]
        threads = threads or kernel["threads"]
        assert threads <= kernel["threads"]
        arena = Arena()
        ordered = (
            [columns[column["name"]] for column in kernel["columns"]]
            if isinstance(columns, dict)
            else list(columns)
        )
        table = np.zeros(len(ordered) + 1, COLUMN)
        for entry, column in zip(table, ordered, strict=False):
            place_column(arena, entry, column, rows)
        pointers = source.row_pointers() if source else np.zeros(1, "<u8")
        morsel = arena.record(
            MORSEL,
            rows=rows,
            column_count=len(ordered),
            columns=arena.address(table),
            first_row=first_row,
            state_rows=arena.address(pointers),
        )
        if literals is None:
            literals = arena.zeros(kernel["literal_bytes"] + 16)
            for literal in kernel["literals"]:
                view = arena.strings([literal["text"]]).tobytes()
                literals[literal["offset"] : literal["offset"] + 16] = np.frombuffer(view, np.uint8)
        heads = np.array([state.head.ctypes.data for state in states] + [0], "<u8")
        args = arena.record(
            ARGS, morsel=arena.address(morsel), literals=arena.address(literals), states=arena.address(heads)
        )
        results = np.zeros(len(output) + 1, OUTPUT_COLUMN)
        for result, array in zip(results, output, strict=False):
            result["data"] = arena.address(array)
        chunk = arena.record(
            OUTPUT, capacity=len(output[0]) if len(output) else 0, columns=arena.address(results)
        )
        device = arena.record(DEVICE, outputs=arena.address(chunk), size=1)
        function = self.library[symbol]
        function.restype = None
        function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_uint32] * 6
        shared = [arena.zeros(kernel["shared_bytes"] + 16) for _ in range(blocks)]

        def run(superstep: int, block: int, first: int) -> None:
            last = min(first + together, threads)
            memory = shared[block].ctypes.data
            function(
                args.ctypes.data, device.ctypes.data, memory, superstep, block, blocks, first, last, threads
            )

        # Ranges of threads of all blocks, shuffled, two at once; a barrier of all blocks is one of each.
        order = random.Random(seed)
        with ThreadPoolExecutor(2) as pool:
            for superstep in range(kernel["supersteps"]):
                work = [
                    (superstep, block, first)
                    for block in range(blocks)
                    for first in range(0, threads, together)
                ]
                order.shuffle(work)
                list(pool.map(lambda item: run(*item), work))
        if device["code"][0]:
            raise DeviceError(int(device["code"][0]), int(device["row"][0]))
        return int(chunk["rows"][0])


def lowered(translate: str, text: str) -> Program:
    """The program, or a skipped test where the levels above use what threads have no code for yet."""
    try:
        return Program(translate, text)
    except subprocess.CalledProcessError as error:
        if NO_CODE.encode() in error.stderr:
            pytest.skip(error.stderr.decode().splitlines()[0])
        raise


class Coded:
    """A dictionary column: codes and the dictionary (an array, or strings)."""

    def __init__(self, codes: np.ndarray, dictionary: np.ndarray | list[str]) -> None:
        self.codes, self.dictionary = codes.astype("<u4"), dictionary


class Heap:
    """Strings as offsets and bytes."""

    def __init__(self, texts: list[str]) -> None:
        encoded = [text.encode() for text in texts]
        self.offsets = np.cumsum([0] + [len(text) for text in encoded]).astype("<u4")
        self.bytes = np.frombuffer(b"".join(encoded) + bytes(PADDING), np.uint8)


class Nullable:
    """A column and which of its rows are valid."""

    def __init__(self, column: object, valid: np.ndarray) -> None:
        self.column, self.validity = column, np.packbits(valid, bitorder="little")


def place_column(arena: Arena, entry: np.void, column: object, rows: int) -> None:
    segment = np.zeros(1, SEGMENT)
    segment["rows"] = rows
    if isinstance(column, Nullable):
        segment["validity"] = arena.address(column.validity)
        column = column.column
    if isinstance(column, Coded):
        dictionary = column.dictionary
        views = arena.strings(dictionary) if isinstance(dictionary, list) else dictionary
        entry["dictionary"], entry["dictionary_count"] = arena.address(views), len(views)
        segment["encoding"], segment["data"] = INDICES, arena.address(column.codes)
    elif isinstance(column, Heap):
        segment["encoding"], segment["data"] = OFFSETS, arena.address(column.offsets)
        segment["heap"] = arena.address(column.bytes)
    elif isinstance(column, list):
        segment["encoding"], segment["data"] = VALUES, arena.address(arena.strings(column))
    else:
        segment["encoding"], segment["data"] = VALUES, arena.address(column)
    entry["segments"], entry["segment_count"] = arena.address(segment), 1
