"""The process that runs scripts: reads paths on stdin, writes a line of JSON before and after each query.

DuckDB runs every statement and query; headrace gets the tables that a query names, as Arrow, with the views
and macros that the script has made.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import headrace as hr
import pyarrow as pa
from headrace.errors import HeadraceError, UnsupportedError

from dev.logictest.answers import difference
from dev.logictest.scripts import NotRunnable, Step, steps_of

MOST_ROWS = 200_000
SECONDS = 20
_QUERY = re.compile(r"\s*(\(|select\b|with\b|from\b|values\b|describe\b|summarize\b|pivot\b|unpivot\b)", re.I)
_DEFINITION = re.compile(
    r"\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(view|macro|function)\s+"
    r'(?:if\s+not\s+exists\s+)?((?:"[^"]+"|[\w.])+)',
    re.I,
)
_DROP = re.compile(
    r'\s*drop\s+(?:view|macro|function)\s+(?:table\s+)?(?:if\s+exists\s+)?((?:"[^"]+"|[\w.])+)', re.I
)


class Script:
    """One script under way: DuckDB's connection, and what headrace is given of it."""

    def __init__(self, scratch: str) -> None:
        self.scratch = scratch
        self.duckdb = duckdb.connect()
        self.definitions: dict[str, str] = {}
        self.tables: dict[str, pa.Table] = {}  # those looked up since the last statement

    def text_of(self, step: Step) -> str:
        return (
            step.text.replace("__TEST_DIR__", self.scratch)
            .replace("{TEMP_DIR}", self.scratch)
            .strip()
            .rstrip(";")
        )

    def run_statement(self, text: str) -> None:
        self.tables.clear()
        try:
            self.duckdb.execute(text)
        except duckdb.Error:
            return  # many are meant to fail
        if made := _DEFINITION.match(text):
            self.definitions.pop(made[2].lower(), None)
            self.definitions[made[2].lower()] = text
        elif gone := _DROP.match(text):
            self.definitions.pop(gone[1].lower(), None)

    def tables_of(self, text: str) -> dict[str, pa.Table]:
        """The tables whose names occur in a text."""
        words = set(re.findall(r"\w+", text.lower()))
        found = {}
        names = self.duckdb.execute("select table_name from duckdb_tables() where not internal").fetchall()
        for (name,) in names:
            if set(re.findall(r"\w+", name.lower())) <= words:
                if name not in self.tables:
                    self.tables[name] = self.duckdb.sql(f'from "{name}"').to_arrow_table()
                found[name] = self.tables[name]
        return found

    def run_query(self, text: str) -> dict[str, Any]:
        """How headrace did: `outcome` is right, different, refused, error or passed over."""
        if not _QUERY.match(text):
            self.run_statement(text)
            return {"outcome": "passed over", "note": "not a query"}
        try:
            theirs = self.duckdb.sql(text)
            answer = theirs.limit(MOST_ROWS + 1).to_arrow_table() if theirs is not None else None
        except Exception as error:  # of DuckDB or Arrow: there is nothing to compare with
            return {"outcome": "passed over", "note": f"DuckDB: {type(error).__name__}"}
        if answer is None or answer.num_rows > MOST_ROWS:
            return {"outcome": "passed over", "note": "no answer, or one of many rows"}
        whole = ";\n".join([*self.definitions.values(), text])
        try:
            tables = self.tables_of(whole)
        except Exception as error:
            return {"outcome": "passed over", "note": f"DuckDB's table: {type(error).__name__}"}
        try:
            ours = hr.sql(whole, tables, timeout=SECONDS)
        except UnsupportedError as error:
            return {"outcome": "refused", "note": str(error)}
        except HeadraceError as error:
            return {"outcome": "error", "note": f"{type(error).__name__}: {error}"}
        except Exception as error:
            return {"outcome": "error", "note": f"not headrace's: {type(error).__name__}: {error}"}
        try:
            note = difference(ours, answer)
        except Exception as error:  # Arrow has values that Python has not
            return {"outcome": "passed over", "note": f"Python: {type(error).__name__}"}
        return {"outcome": "different" if note else "right", "note": note}


def main() -> None:
    with os.fdopen(int(sys.argv[1]), "w") as out:

        def tell(content: dict[str, Any]) -> None:
            out.write(json.dumps(content) + "\n")
            out.flush()

        for line in sys.stdin:
            path = Path(line.rstrip("\n"))
            with tempfile.TemporaryDirectory() as scratch:
                script = Script(scratch)
                try:
                    for step in steps_of(path.read_text(errors="replace")):
                        text = script.text_of(step)
                        tell({"begin": text, "line": step.line})
                        if step.is_query:
                            tell({**script.run_query(text), "line": step.line, "text": text})
                        else:
                            script.run_statement(text)
                except NotRunnable as why:
                    tell({"outcome": "left", "note": str(why)})
            tell({"end": str(path)})


main()
