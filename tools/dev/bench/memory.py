"""`./dev bench memory`: queries with large states on headrace and DuckDB; --memory says in how much."""

from __future__ import annotations

from collections.abc import Sequence

from dev import tpch_data
from dev.bench.side_by_side import compare, parser_of

#: States of as many rows as the largest table has, of which little is seen, so that results are small.
LARGE = {
    "groups": "select count(*) as c, sum(n) as n, sum(s) as s from (select l_orderkey, l_partkey,"
    " count(*) as n, sum(l_quantity) as s from lineitem group by l_orderkey, l_partkey) q",
    "text_groups": "select count(*) as c, max(n) as n from (select l_comment, count(*) as n from lineitem"
    " group by l_comment) q",
    "self_join": "select count(*) as c, sum(a.l_quantity) as s, sum(length(b.l_comment)) as t"
    " from lineitem a join lineitem b on a.l_orderkey = b.l_orderkey and a.l_linenumber = b.l_linenumber",
    "full_join": "select count(*) as c, count(o_orderkey) as n, count(l_orderkey) as m from"
    " (select * from lineitem where l_quantity < 10) l full join orders"
    " on l_orderkey = o_orderkey and o_totalprice > 100000",
    "window": "select sum(r) as r, max(s) as s from (select row_number() over"
    " (partition by l_orderkey order by l_linenumber) as r, sum(l_quantity) over (partition by l_orderkey)"
    " as s from lineitem) q",
    "distinct": "select count(distinct l_comment) as c from lineitem",
    "kept": "with c as materialized (select l_orderkey, l_linenumber, l_comment, l_quantity, o_orderdate"
    " from lineitem join orders on l_orderkey = o_orderkey) select count(*) as n, sum(a.l_quantity) as s,"
    " max(b.l_comment) as t, min(a.o_orderdate) as d from c a join c b"
    " on a.l_orderkey = b.l_orderkey and a.l_linenumber = b.l_linenumber + 1",
    "greatest": "with g as (select l_orderkey, l_partkey, sum(l_quantity) as s from lineitem group by all)"
    " select count(*) as n, min(l_orderkey) as k from g where s = (select max(s) from g)",
    "sort": "select l_orderkey, l_linenumber, l_comment from lineitem"
    " order by l_comment, l_orderkey, l_linenumber limit 10 offset 5500000",
}


def main(words: Sequence[str]) -> int:
    parser = parser_of("memory", __doc__, ("headrace", "duckdb"))
    parser.add_argument("--scale", default="1", help="scale factor (default 1)")
    options = parser.parse_args(words)
    folder = tpch_data.ensure(options.scale)
    return compare(parser, options, f"large states, scale {options.scale}", LARGE, folder, options.scale)
