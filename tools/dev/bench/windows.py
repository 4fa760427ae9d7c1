"""`./dev bench windows`: window functions over TPC-H's lineitem on headrace and DuckDB."""

from __future__ import annotations

from collections.abc import Sequence

from dev import tpch_data
from dev.bench.side_by_side import compare, parser_of

_WINDOWS = {
    "row_number": "row_number() over (partition by l_orderkey order by l_extendedprice)",
    "sliding_sum": "sum(l_quantity) over (partition by l_suppkey order by l_shipdate, l_orderkey,"
    " l_linenumber rows between 10 preceding and current row)",
    "rank_of_all": "rank() over (order by l_extendedprice)",
    "whole_partition": "sum(l_quantity) over (partition by l_partkey)",
    "lag": "l_extendedprice - lag(l_extendedprice) over (partition by l_suppkey"
    " order by l_orderkey, l_linenumber)",
}
#: A sum above each window, so that little is said of how results are handed over.
_SUM = "select sum(w) as s from (select {} as w from lineitem) q"
_FIRST_ROWS = """
select count(*) as n, sum(l_extendedprice) as s from (
  select l_extendedprice, row_number() over (
    partition by l_suppkey order by l_extendedprice desc, l_orderkey, l_linenumber) as r from lineitem) q
where r = 1"""
_MEDIAN = """
select sum(m) as s from (
  select median(l_extendedprice) over (
    order by l_orderkey, l_linenumber rows between {} preceding and current row) as m
  from lineitem where l_orderkey <= {}) q"""
#: About as many rows; in the lineitem of scale 1 there is about one for each number up to the last order's.
MOVING = {
    f"median of {rows}, {frame} a frame": _MEDIAN.format(frame - 1, rows)
    for rows in (100_000, 1_000_000)
    for frame in (10, 1000, 100_000)
}
QUERIES = {name: _SUM.format(call) for name, call in _WINDOWS.items()} | {"first_rows": _FIRST_ROWS}


def main(words: Sequence[str]) -> int:
    parser = parser_of("windows", __doc__, ("headrace", "duckdb"))
    parser.add_argument("--scale", default="1", help="scale factor (default 1)")
    parser.add_argument("--moving", action="store_true", help="medians of frames that move")
    options = parser.parse_args(words)
    folder = tpch_data.ensure(options.scale)
    title = f"windows over lineitem, scale {options.scale}"
    queries = MOVING if options.moving else QUERIES
    return compare(parser, options, title, queries, folder, options.scale)
