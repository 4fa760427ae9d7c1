"""Every link between the project's documents leads to a file, and to a heading where it names one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dev import places

PAGES = sorted([*places.ROOT.glob("*.md"), *(places.ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors(page: Path) -> set[str]:
    """As GitHub makes them: lower case, without punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(places.ROOT)))
def test_links(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target, anchor in LINK.findall(text):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"leads nowhere: {target}"
        assert not anchor or anchor in anchors(file), f"no such heading: {target}#{anchor}"


def test_a_heading_is_an_anchor(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# What is `it`?\n\n## Two words\n")
    assert anchors(page) == {"what-is-it", "two-words"}
