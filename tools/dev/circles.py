"""Circles of includes: between units (x.h with x.cpp), and between folders, each with its own files alone.

What is in a circle can only be read, tested and changed together. There is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from dev import layering, places
from dev.findings import Finding

Graph = Mapping[str, set[str]]


def check(root: Path = places.ROOT) -> list[Finding]:
    """The circles of the project's sources."""
    includes = included(root)
    return [
        *findings(graph_of(includes, unit_of), "unit"),
        *findings(graph_of(includes, folder_of), "folder"),
    ]


def included(root: Path) -> dict[str, set[str]]:
    """The sources that each source includes, by their paths; tests are no part of it."""
    known, found = layering.sources(root), {}
    for name, text in known.items():
        near = {other: str(Path(name).parent / other) for other in layering.INCLUDE.findall(text)}
        found[name] = {path for pair in near.items() for path in pair if path in known}
    return found


def unit_of(name: str) -> str:
    return str(Path(name).with_suffix(""))


def folder_of(name: str) -> str:
    return str(Path(name).parent)


def graph_of(includes: Mapping[str, set[str]], node: Callable[[str], str]) -> dict[str, set[str]]:
    """The includes between nodes of which each stands for several files."""
    graph: dict[str, set[str]] = defaultdict(set)
    for name, others in includes.items():
        graph[node(name)] |= {node(other) for other in others} - {node(name)}
    return dict(graph)


def findings(graph: Graph, what: str) -> list[Finding]:
    return [
        Finding(circle[0], 0, "circle", f"a circle of {what}s: " + " -> ".join([*circle, circle[0]]))
        for circle in circles(graph)
    ]


def circles(graph: Graph) -> list[list[str]]:
    """A shortest circle of each set of nodes that reach each other, from its first node on."""
    shown: set[str] = set()
    found = []
    for node in sorted(graph):
        ways = [[node, *way] for other in sorted(graph[node]) if (way := _path(graph, other, node))]
        if node not in shown and ways:
            shortest = min(ways, key=len)[:-1]
            shown |= {other for other in graph if _path(graph, node, other) and _path(graph, other, node)}
            found.append(shortest)
    return found


def _path(graph: Graph, start: str, goal: str) -> list[str]:
    """The nodes of a shortest way, both ends included; none if there is no way."""
    before = {start: start}
    queue = [start]
    for node in queue:
        if node == goal:
            way = [goal]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way[::-1]
        for other in sorted(graph.get(node, ())):
            if other not in before:
                before[other] = node
                queue.append(other)
    return []
