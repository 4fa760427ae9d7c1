"""Circles of includes: how they are found, and the repository as it is."""

from __future__ import annotations

from pathlib import Path

from dev import circles


def test_the_repository_has_no_circles() -> None:
    assert [str(finding) for finding in circles.check()] == []


def test_a_unit_is_a_header_with_its_source(tmp_path: Path) -> None:
    sources = {
        "runtime/a/x.h": '#include "runtime/a/y.h"\n',
        "runtime/a/y.h": "",
        "runtime/a/y.cpp": '#include "runtime/a/y.h"\n#include "x.h"\n',
        "test/z.cpp": '#include "runtime/a/y.h"\n',
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [str(finding) for finding in circles.check(tmp_path)] == [
        "runtime/a/x: a circle of units: runtime/a/x -> runtime/a/y -> runtime/a/x [circle]"
    ]


def test_a_folder_and_its_subfolder_are_two() -> None:
    includes = {"a/x.h": {"a/b/y.h"}, "a/b/y.h": set(), "a/b/z.h": {"a/w.h"}, "a/w.h": set()}
    assert circles.findings(circles.graph_of(includes, circles.unit_of), "unit") == []
    (found,) = circles.findings(circles.graph_of(includes, circles.folder_of), "folder")
    assert found.message == "a circle of folders: a -> a/b -> a"


def test_each_set_of_nodes_is_shown_once_by_a_shortest_circle() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "b"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert circles.circles(graph) == [["a", "b", "c"], ["d", "e"]]
