"""Reads a trace as Perfetto's importer of Chrome JSON does, and says what it would drop.

Its rules are those of the Trace Event Format, and of src/trace_processor/importers in Perfetto: json, and
common/slice_tracker.cc.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Event = dict[str, Any]


def nanoseconds(microseconds: float) -> int:
    """The importer multiplies and cuts."""
    return int(float(microseconds) * 1000)


def imported(path: Path) -> list[Event]:
    """The slices of a trace of which the importer takes everything."""
    trace = json.loads(path.read_text())
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    events = trace["traceEvents"]
    for event in events:
        _check_event(event)
    slices = [event for event in events if event["ph"] == "X"]
    named = {(e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "M"}
    processes = {pid for name, pid, _ in named if name == "process_name"}
    for event in slices:
        assert event["pid"] in processes
        assert ("thread_name", event["pid"], event["tid"]) in named
    assert dropped(slices) == []
    return slices


def _check_event(event: Event) -> None:
    assert type(event["pid"]) is int and 0 <= event["pid"] < 2**32
    assert isinstance(event["name"], str) and event["name"]
    if event["ph"] != "C":
        assert type(event["tid"]) is int and 0 <= event["tid"] < 2**32
    if event["ph"] == "M":
        values = {
            "process_name": ("name", str),
            "thread_name": ("name", str),
            "thread_sort_index": ("sort_index", int),
        }
        name, kind = values[event["name"]]
        assert set(event["args"]) == {name} and type(event["args"][name]) is kind
        return
    assert event["ph"] in ("X", "C")
    assert type(event["ts"]) in (int, float) and event["ts"] >= 0
    if event["ph"] == "X":
        assert type(event["dur"]) in (int, float) and event["dur"] >= 0
        assert isinstance(event["args"], dict) and isinstance(event.get("cat", ""), str)
    else:
        assert event["args"] and all(type(value) in (int, float) for value in event["args"].values())


def dropped(slices: list[Event]) -> list[Event]:
    """Those that are neither beside nor within the slices of their thread that are open when they begin."""
    lost = []
    open_ends: dict[tuple[int, int], list[int]] = {}
    for event in sorted(slices, key=lambda event: nanoseconds(event["ts"])):  # equal times: as in the file
        start = nanoseconds(event["ts"])
        end = start + nanoseconds(event["dur"])
        ends = open_ends.setdefault((event["pid"], event["tid"]), [])
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and end > ends[-1]:
            lost.append(event)
        else:
            ends.append(end)
    return lost
