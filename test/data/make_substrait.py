#!/usr/bin/env python3
"""Writes {tpch,features}/substrait/*.json from queries/*.sql (python/ on PYTHONPATH); --check only compares.

Extension anchors vary from call to call in DataFusion, so documents are compared after resolving them. So
does the order of columns that its common subexpressions add: a document is current if one of several calls
gives it.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

from headrace._src.sql.plan import substrait_json

CALLS_MAX = 20
FOLDERS = [Path(__file__).parent / name for name in ("tpch", "features")]


def with_stable_anchors(text: str) -> dict[str, Any]:
    """The document with its functions numbered by name."""
    document = json.loads(text)
    functions = [extension["extensionFunction"] for extension in document.get("extensions", [])]
    names = {function.get("functionAnchor", 0): function["name"] for function in functions}
    order = {name: index for index, name in enumerate(sorted(names.values()))}

    def renumber(node: Any) -> Any:
        if isinstance(node, list):
            return [renumber(child) for child in node]
        if not isinstance(node, dict):
            return node
        result = {key: renumber(child) for key, child in node.items()}
        if "functionReference" in result or "arguments" in result:
            result["functionReference"] = order[names[node.get("functionReference", 0)]]
        return result

    document["relations"] = renumber(document["relations"])
    document["extensions"] = [
        {"extensionFunction": {"functionAnchor": order[name], "name": name}} for name in sorted(order)
    ]
    return document


def is_current(kept: dict[str, Any], text: str, schemas: Any) -> bool:
    """Whether DataFusion gives the kept document, in one of at most CALLS_MAX calls."""
    return any(with_stable_anchors(substrait_json(text, schemas)) == kept for _ in range(CALLS_MAX))


def main() -> int:
    different = []
    for folder in FOLDERS:
        schemas = runpy.run_path(str(folder / "schemas.py"))["SCHEMAS"]
        for query in sorted((folder / "queries").glob("*.sql")):
            target = folder / "substrait" / f"{query.stem}.json"
            text = query.read_text()
            if "--check" not in sys.argv:
                document = with_stable_anchors(substrait_json(text, schemas))
                target.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
            elif not is_current(json.loads(target.read_text()), text, schemas):
                different.append(query.stem)
    if different:
        print(f"not what DataFusion gives now: {' '.join(different)}; run {__file__}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
