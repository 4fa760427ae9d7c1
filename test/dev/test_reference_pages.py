"""The Python and settings references are those of the sources, and name every variable that is read."""

from __future__ import annotations

import re
from pathlib import Path

import headrace
import pytest
from dev import places, reference_pages


@pytest.mark.parametrize("path", [reference_pages.FOLDER / name for name in ("python.md", "settings.md")])
def test_a_page_is_up_to_date(path: Path) -> None:
    assert path.read_text() == reference_pages.pages()[path], "make it with ./dev docs"


def test_every_public_name_is_described() -> None:
    text = reference_pages.python_page()
    for name in headrace.__all__:
        assert f"hr.{name}" in text or f"### {name}\n" in text, name
    undescribed = [name for name in headrace.__all__ if not getattr(headrace, name).__doc__]
    assert undescribed == []


def test_every_variable_is_described() -> None:
    reads = re.compile(r'(?:getenv\(|environ\.get\(|environ\[)"([A-Z_]+)"')
    settings = re.findall(r"\| `(HEADRACE_\w+)` \|", reference_pages.settings_page())
    for folder in ("model", "runtime", "passes", "tools", "python"):
        for file in (places.ROOT / folder).rglob("*"):
            if file.suffix in (".cpp", ".py") and "tools/dev" not in str(file):
                for name in reads.findall(file.read_text()):
                    assert name in ("HOME", "PATH", *reference_pages.VARIABLES, *settings), (
                        f"{name} of {file}"
                    )


def test_parameters_are_a_list() -> None:
    text = "text: a query. Of SQL. names: (of columns). other text: no parameter."
    assert reference_pages._arguments(text, ["text", "names"]).splitlines() == [
        "- `text`: a query. Of SQL.",
        "- `names`: (of columns). other text: no parameter.",
    ]
    assert reference_pages._arguments("It runs. text: stays.", ["text"]) == "It runs. text: stays."
