"""The README's first query runs as it stands (on small data)."""

from __future__ import annotations

import re

import pyarrow as pa
from dev import places, tpch_data


def test_the_first_query_runs() -> None:
    text = (places.ROOT / "README.md").read_text()
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    program = found.group(1).replace('"~/.cache/headrace/data/tpch/sf1"', repr(str(tpch_data.ensure("0.01"))))
    names: dict[str, object] = {}
    exec(program, names)  # noqa: S102
    table = names["table"]
    assert isinstance(table, pa.Table)
    assert sorted(table["l_returnflag"].to_pylist()) == ["A", "N", "R"]
