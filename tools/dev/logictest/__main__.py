"""`./dev logictest PATH…`: scripts of SQL that others wrote (sqllogictest), on headrace beside DuckDB.

PATH is a script (.test, .test_slow) or a folder of them, such as `test/sql` of DuckDB's repository, which is
not part of headrace. DuckDB runs all; of each query that it answers headrace's answer is compared, as a
multiset of rows. Printed: how many are right, refused by name, errors or different, and messages by count.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dev.logictest.runner import run_all, scripts_in

COMPARED = ("right", "refused", "error", "different")


def kind_of(note: str) -> str:
    """A message without what differs from query to query."""
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|\"[^\"]*\"", "…", note.splitlines()[0] if note else ""))[:110]


def report(outcomes: Sequence[dict[str, Any]], show: int) -> str:
    counts = collections.Counter(outcome["outcome"] for outcome in outcomes)
    compared = sum(counts[name] for name in COMPARED)
    lines = [
        f"{compared} queries compared, {counts['passed over']} passed over; "
        f"scripts not run to their end: {counts['left']}"
    ]
    lines += [
        f"  {name:<10} {counts[name]:6}  {100 * counts[name] / max(compared, 1):5.1f} %" for name in COMPARED
    ]
    for name in ("left", *COMPARED[1:3]):
        kinds = collections.Counter(kind_of(o["note"]) for o in outcomes if o["outcome"] == name)
        lines += ["", f"{name}:"] + [f"  {count:5}  {kind}" for kind, count in kinds.most_common(show)]
    lines += ["", "different:"]
    for outcome in [o for o in outcomes if o["outcome"] == "different"][:show]:
        lines.append(f"  {outcome['script']}:{outcome['line']}  {outcome['note'][:150]}")
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./dev logictest", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="scripts, or folders of them")
    parser.add_argument(
        "--root", type=Path, default=Path(), help="what paths in scripts are relative to (default: here)"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth script (default: 1)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument(
        "--show", type=int, default=25, help="how many messages and differences (default: 25)"
    )
    parser.add_argument("--json", type=Path, help="all outcomes, with their texts, go there")
    options = parser.parse_args(words)
    scripts = scripts_in(options.paths)[:: options.every]
    if not scripts:
        parser.error("no .test file in these paths")
    outcomes = run_all(scripts, options.root.resolve(), options.jobs)
    if options.json:
        options.json.write_text(json.dumps(outcomes, indent=1))
    print(report(outcomes, options.show))
    return 0


sys.exit(main(sys.argv[1:]))
