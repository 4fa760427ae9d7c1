"""`./dev bench tpch`: TPC-H on headrace, DuckDB and Polars, from files that it makes once."""

from __future__ import annotations

from collections.abc import Sequence

from dev import places, tpch_data
from dev.bench.side_by_side import compare, parser_of

# The queries of the main job; --queries all for the 22.
DEFAULT_QUERIES = ("q01", "q03", "q04", "q05", "q06", "q09", "q12", "q13", "q14", "q18", "q19")


def main(words: Sequence[str]) -> int:
    parser = parser_of("tpch", __doc__, ("headrace", "duckdb", "polars"))
    parser.add_argument("--scale", default="1", help="scale factor (default 1)")
    parser.add_argument("--queries", default=",".join(DEFAULT_QUERIES), help="q01,q06 or all")
    options = parser.parse_args(words)
    queries = options.queries.split(",")
    if options.queries == "all":
        queries = sorted(path.stem for path in places.QUERIES.glob("*.sql"))
    if unknown := [name for name in queries if not (places.QUERIES / f"{name}.sql").exists()]:
        parser.error(f"no such query: {unknown[0]}")
    texts = {name: (places.QUERIES / f"{name}.sql").read_text() for name in queries}
    folder = tpch_data.ensure(options.scale)
    return compare(parser, options, f"TPC-H scale {options.scale}", texts, folder, options.scale)
