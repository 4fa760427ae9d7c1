"""`./dev bench clickbench|tpcds --texts DIR --tables DIR`: a suite of others on all engines.

The texts and tables are not part of headrace: a folder of .sql files (each one query, or several with `;`)
and one of Parquet files, which are the tables. A query that an engine refuses, or answers unlike DuckDB, has
no time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from dev.bench.engines import ENGINES
from dev.bench.side_by_side import compare, parser_of


def texts_of(folder: Path) -> dict[str, str]:
    """The queries of a folder, by the names of their files; the second of a file is `q14.2`."""
    texts = {}
    for file in sorted(folder.glob("*.sql")):
        parts = [part.strip() for part in file.read_text().split(";") if part.strip()]
        for number, part in enumerate(parts, start=1):
            if part.lower().startswith(("select", "with")):
                texts[file.stem if number == 1 else f"{file.stem}.{number}"] = part
    return texts


def suite(name: str, title: str) -> Callable[[Sequence[str]], int]:
    def main(words: Sequence[str]) -> int:
        parser = parser_of(name, __doc__, tuple(ENGINES))
        parser.add_argument("--texts", type=Path, required=True, help="folder of .sql files")
        parser.add_argument("--tables", type=Path, required=True, help="folder of .parquet files")
        parser.add_argument("--queries", default="all", help="q01,q06 or all (default)")
        options = parser.parse_args(words)
        texts = texts_of(options.texts)
        if not texts:
            parser.error(f"no .sql file with a query in {options.texts}")
        if not any(options.tables.glob("*.parquet")):
            parser.error(f"no .parquet file in {options.tables}")
        names = list(texts) if options.queries == "all" else options.queries.split(",")
        if unknown := [name for name in names if name not in texts]:
            parser.error(f"no such query: {unknown[0]}")
        chosen = {name: texts[name] for name in names}
        return compare(parser, options, title, chosen, options.tables, "")

    return main
