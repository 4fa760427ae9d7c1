# ruff: noqa: E501
"""The programs that `headrace calibrate` runs: small ones over made-up tables, one or two per kind of work.

None of them is a TPC-H query, so that predictions of those are of programs the model has not seen. Two sizes of
facts: what stays in the caches from run to run, and what does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet

ROWS = 1_200_000
LARGE_ROWS = 6_000_000
ROW_GROUP = 120_000

_WORDS = [
    "quick",
    "river",
    "stone",
    "under",
    "final",
    "proud",
    "sleepy",
    "ironic",
    "packages",
    "deposits",
    "requests",
    "special",
    "accounts",
    "theodolites",
    "carefully",
    "blithely",
    "furiously",
    "slyly",
    "regular",
    "express",
    "bold",
    "even",
    "silent",
    "unusual",
    "pending",
]
_MODES = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]


def _text(random: np.random.Generator, rows: int, words: int) -> pa.Array:
    known = pa.array(_WORDS)
    picks = [known.take(pa.array(random.integers(0, len(_WORDS), rows))) for _ in range(words)]
    return _joined(*picks)


def _joined(*texts: pa.Array) -> pa.Array:
    return compute.binary_join_element_wise(*texts, " ")


def _names(random: np.random.Generator, rows: int, count: int) -> pa.Array:
    """Many texts that differ at their end."""
    known = pa.array([f"customer#{number:09}" for number in range(count)])
    return known.take(pa.array(random.integers(0, count, rows)))


def _hundredths(values: np.ndarray) -> pa.Array:
    """decimal(15, 2) of so many hundredths."""
    pairs = np.stack([values.astype(np.int64), np.zeros(len(values), np.int64)], axis=1)
    return pa.Array.from_buffers(pa.decimal128(15, 2), len(values), [None, pa.py_buffer(pairs.tobytes())])


def _decimal(random: np.random.Generator, rows: int, high: int) -> pa.Array:
    """decimal(15, 2) of random hundredths below `high`."""
    return _hundredths(random.integers(0, high, rows))


def _counts(random: np.random.Generator, rows: int) -> pa.Array:
    """decimal(15, 2) of 50 whole numbers: few, and more than registers hold the dictionary of."""
    return _hundredths(random.integers(1, 51, rows) * 100)


def _dimension(random: np.random.Generator, rows: int, step: int) -> pa.Table:
    """Keys 0, step, 2·step …: dense for step 1, to be hashed for a large one."""
    order = random.permutation(rows)
    columns = {
        "key": pa.array(order * step, pa.int64()),
        "part": pa.array(random.integers(0, 100, rows), pa.int32()),
        "amount": _decimal(random, rows, 1_000_000),
        "label": pa.array(np.array(_MODES)[random.integers(0, 7, rows)]),
        "name": pa.array([f"customer#{number:09}" for number in order]),
    }
    return pa.table({f"d{name}": column for name, column in columns.items()})


def _large(random: np.random.Generator) -> dict[str, pa.Table]:
    """Facts and dimensions that no cache holds. `lkey` ascends, four rows a key, three of four keys missing."""
    rows, keys = LARGE_ROWS, LARGE_ROWS // 4
    groups = np.sort(random.integers(0, keys, rows))
    dense = random.integers(0, keys, rows)
    facts = {
        "lkey": pa.array(groups * 4 + groups % 2, pa.int64()),
        "lr1500k": pa.array(dense, pa.int64()),
        "ls1500k": pa.array(random.permutation(dense) * 1_000_003, pa.int64()),
        "lk150k": pa.array(random.integers(0, 150_000, rows), pa.int64()),
        "lk10k": pa.array(random.integers(0, 10_000, rows), pa.int64()),
        "lv": pa.array(random.integers(0, 1_000, rows), pa.int32()),
        "lw": pa.array(random.integers(0, 1_000_000, rows), pa.int32()),
        "lprice": _decimal(random, rows, 10_000_000),
        "lshare": _decimal(random, rows, 10),
        "lcount": _counts(random, rows),
        "lday": pa.array(random.integers(8_000, 10_500, rows).astype(np.int32), pa.date32()),
        "llate": pa.array(random.integers(8_000, 10_500, rows).astype(np.int32), pa.date32()),
        "lflag": pa.array(np.array(["A", "N", "R"])[random.integers(0, 3, rows)]),
        "lmode": pa.array(np.array(_MODES)[random.integers(0, 7, rows)]),
    }
    ascending = np.arange(keys)
    ordered = {
        "okey": pa.array(ascending * 4 + ascending % 2, pa.int64()),
        "oowner": pa.array(random.integers(0, 150_000, keys), pa.int64()),
        "opart": pa.array(random.integers(0, 100, keys), pa.int32()),
        "oday": pa.array(random.integers(8_000, 10_500, keys).astype(np.int32), pa.date32()),
        "olabel": pa.array(np.array(_MODES)[random.integers(0, 7, keys)]),
        "otext": _text(random, keys, 5),
    }
    # Texts whose beginnings are alike, so that each has to be looked at where it is.
    remarks = LARGE_ROWS // 2
    callers = _joined(pa.array([f"the caller {number:06} on the" for number in range(120_000)]), _text(random, 120_000, 3))
    noted = {
        "remark": _joined(
            pa.array([f"a remark {number:07} on the" for number in random.permutation(remarks)]),
            _text(random, remarks, 4),
        ),
        "rcaller": callers.take(pa.array(random.integers(0, 120_000, remarks))),
        "rv": pa.array(random.integers(0, 1_000, remarks), pa.int32()),
    }
    return {
        "large": pa.table(facts),
        "ordered": pa.table(ordered),
        "remarks": pa.table(noted),
        "d1500k": _dimension(random, keys, 1),
        "h1500k": _dimension(random, keys, 1_000_003),
        "d150k": _dimension(random, 150_000, 1),
        "d10k": _dimension(random, 10_000, 1),
        "h10k": _dimension(random, 10_000, 1_000_003),
    }


def write_tables(folder: Path) -> None:
    """The Parquet files: `facts` and `large`, and dimensions of 1,000 to 1,500,000 rows with dense and sparse keys."""
    random = np.random.default_rng(7)
    rows = ROWS

    def integers(high: int, kind: pa.DataType) -> pa.Array:
        return pa.array(random.integers(0, high, rows), kind)

    columns = {
        "id": pa.array(np.arange(rows), pa.int64()),
        "near": pa.array(np.arange(rows) // 4, pa.int64()),
        "k10": integers(10, pa.int32()),
        "k1k": integers(1_000, pa.int64()),
        "k30k": integers(30_000, pa.int64()),
        "k200k": integers(200_000, pa.int64()),
        "k600k": integers(600_000, pa.int64()),
        "s1k": pa.array(random.integers(0, 1_000, rows) * 1_000_003, pa.int64()),
        "s30k": pa.array(random.integers(0, 30_000, rows) * 1_000_003, pa.int64()),
        "s200k": pa.array(random.integers(0, 200_000, rows) * 1_000_003, pa.int64()),
        "s600k": pa.array(random.integers(0, 600_000, rows) * 1_000_003, pa.int64()),
        "v": integers(1_000, pa.int32()),
        "w": integers(100_000, pa.int32()),
        "price": _decimal(random, rows, 10_000_000),
        "share": _decimal(random, rows, 10),
        "count": _counts(random, rows),
        "day": pa.array(random.integers(8_000, 10_500, rows).astype(np.int32), pa.date32()),
        "late": pa.array(random.integers(8_000, 10_500, rows).astype(np.int32), pa.date32()),
        "real": pa.array(random.random(rows)),
        "flag": pa.array(np.array(["A", "N", "R"])[random.integers(0, 3, rows)]),
        "mode": pa.array(np.array(_MODES)[random.integers(0, 7, rows)]),
        "name": _names(random, rows, 150_000),
    }
    small = {name: column.slice(0, 300_000) for name, column in columns.items()}
    small["text"] = _text(random, len(small["id"]), 6)
    small["long"] = _text(random, len(small["id"]), 30)
    for name, table in (
        ("facts", pa.table(columns)),
        ("notes", pa.table(small)),
        ("d1k", _dimension(random, 1_000, 1)),
        ("d30k", _dimension(random, 30_000, 1)),
        ("d200k", _dimension(random, 200_000, 1)),
        ("d600k", _dimension(random, 600_000, 1)),
        ("h1k", _dimension(random, 1_000, 1_000_003)),
        ("h30k", _dimension(random, 30_000, 1_000_003)),
        ("h200k", _dimension(random, 200_000, 1_000_003)),
        ("h600k", _dimension(random, 600_000, 1_000_003)),
        *_large(random).items(),
    ):
        parquet.write_table(
            table, folder / f"{name}.parquet", row_group_size=ROW_GROUP, store_decimal_as_integer=True
        )


#: Ranks, and the seed of a layout that is forced.
Layouts = tuple[tuple[int, int | None], ...]
ONE: Layouts = ((1, None),)
BOTH: Layouts = (*ONE, (2, None))
#: Forced layouts move and repeat more than chosen ones.
FORCED: Layouts = (*BOTH, (2, 1), (2, 2))


def queries() -> Iterator[tuple[str, str, Layouts]]:
    """(name, SQL, layouts) over what stays in the caches from run to run."""
    one, both = ONE, BOTH
    # Scans, filters, arithmetic.
    yield "count-few", "select count(*) c from facts where v < 10", both
    yield "count-many", "select count(*) c from facts where v < 900", one
    yield "sum-int", "select sum(w) s from facts", one
    yield "sum-two", "select sum(v) s, sum(w) t, count(*) c from facts where v < 500", one
    yield "sum-decimal", "select sum(price) s from facts", one
    yield "sum-product", "select sum(price * (1 - share)) s from facts where v >= 200", both
    yield (
        "sum-charge",
        "select sum(price * (1 - share) * (1 + share)) s, sum(price) p, avg(share) a from facts",
        one,
    )
    yield "sum-real", "select sum(real * 2.5 + 1.0) s, min(real) l, max(real) h from facts", one
    yield (
        "filters-3",
        "select sum(price) s from facts where day >= date '1995-01-01' and share < 0.05 and v < 500",
        one,
    )
    yield "filters-dates", "select count(*) c from facts where day < late and late < date '1995-06-01'", one
    yield "filter-or", "select sum(v) s from facts where v < 50 or w > 90000 or k10 = 3", one
    yield "filter-case", "select sum(case when k10 = 3 then price else 0 end) s, sum(price) t from facts", one
    yield "min-max", "select min(w) a, max(w) b, min(day) c, max(late) d from facts where k10 <> 4", one
    yield "few-sum", "select sum(price * (1 - share)) s, sum(w) t from facts where v < 15", both
    wide = "select sum(price) s, sum(w) t, sum(k1k) u, min(late) l, sum(k30k) x"
    yield "few-wide", f"{wide} from facts where v < 100", one
    yield "half-wide", f"{wide} from facts where v < 500", one
    yield "wide", f"{wide}, sum(v) y, sum(share) z from facts", one
    yield "wide-ids", "select sum(id) s, sum(near) t, sum(s200k) u, sum(k600k) v from facts", one
    yield (
        "filters-dates-sum",
        (
            "select sum(price * share) s from facts where day >= date '1994-01-01' and day < date '1994-03-01' "
            "and share < 0.06 and v < 240"
        ),
        both,
    )
    yield (
        "filters-counts",
        'select count(*) c, sum(w) s from facts where "count" < 24 and share >= 0.05',
        both,
    )
    yield "sum-counts", 'select sum("count") s, sum(price) p from facts where "count" > 30 and v < 700', one
    # Strings.
    yield "mode-in", "select count(*) c from facts where mode in ('AIR', 'MAIL') and v < 700", one
    yield "text-like", "select count(*) c from notes where text like '%special%requests%'", both
    yield "text-prefix", "select sum(v) s from notes where text like 'quick%'", one
    yield "text-minmax", "select min(text) a from notes where v < 300", one
    yield "text-out", "select text, v from notes where v < 200", both
    long = "from notes where long"
    yield "long-like", f"select count(*) c {long} like '%theodolites%deposits%'", both
    yield "long-not-like", f"select sum(v) s {long} not like '%sleepy requests%' and v < 500", one
    yield "long-ends", f"select count(*) c {long} like '%special'", one
    yield "long-out", "select long, v from notes where v < 60", both
    # Functions of strings.
    yield "name-length", "select sum(length(name)) s from facts where v < 600", one
    yield "long-length", "select sum(length(long)) s from notes", one
    yield "long-length-some", "select sum(length(long)) s from notes where v < 300", one
    yield "text-length-few", "select sum(length(text)) s, max(w) m from notes where v < 40", one
    yield "long-begins", "select count(*) c from notes where long like 'carefully%'", one
    yield "name-ends", "select count(*) c from facts where name like '%77' and v < 700", one
    yield "text-upper", "select count(*) c from notes where upper(text) < 'M'", one
    yield "text-replaced", "select max(replace(text, 'special', 'plain')) m from notes where v < 500", one
    yield "number-text", "select max(cast(w as varchar)) m from facts where v < 300", one
    yield "name-minmax", "select flag, min(name) a, max(name) z from facts group by flag", both
    # Aggregates by group.
    yield "by-name", "select name, count(*) c from facts group by name order by c desc, name limit 5", both
    yield (
        "by-name-sum",
        "select name, sum(price) s, max(v) m from facts where v < 400 group by name order by s desc limit 5",
        both,
    )
    yield (
        "by-name-mode",
        "select name, mode, sum(w) s from facts where v < 600 group by name, mode order by s desc, name limit 5",
        one,
    )
    yield "by-long", "select long, count(*) c from notes group by long order by c desc, long limit 5", one
    yield "distinct-names", "select count(distinct name) c from facts where v < 500", one
    yield "by-flag", "select flag, count(*) c, sum(price) s, sum(v) t from facts group by flag", both
    yield (
        "by-flag-mode",
        "select flag, mode, sum(price * (1 - share)) s, avg(w) a from facts group by flag, mode",
        one,
    )
    yield "by-k10", "select k10, count(*) c, sum(w) s from facts group by k10", one
    yield "by-k1k", "select k1k, sum(price) s from facts group by k1k", both
    yield "by-k30k", "select k30k, count(*) c from facts group by k30k order by c desc limit 5", both
    yield (
        "by-k200k",
        "select k200k, sum(price) s, max(v) m from facts group by k200k order by s desc limit 5",
        both,
    )
    yield (
        "by-k600k",
        "select k600k, count(*) c from facts where v < 800 group by k600k order by c desc, k600k limit 5",
        one,
    )
    yield "by-s30k", "select s30k, sum(w) s from facts group by s30k order by s desc limit 5", one
    yield (
        "by-s200k",
        "select s200k, count(*) c from facts group by s200k order by c desc, s200k limit 5",
        both,
    )
    yield "by-near", "select near, sum(v) s from facts group by near order by s desc, near limit 5", one
    yield (
        "by-year",
        "select extract(year from day) y, sum(price) s from facts group by extract(year from day)",
        one,
    )
    yield "by-two", "select k10, v, sum(w) s from facts group by k10, v order by s desc, k10, v limit 5", one
    yield "distinct", "select count(distinct k30k) c from facts where v < 500", one
    # Groups that hardly any two rows are of, and measures of every kind.
    yield (
        "by-pairs",
        "select k200k, k1k, count(*) c, sum(w) s from facts group by k200k, k1k order by c desc, k200k, k1k limit 5",
        both,
    )
    yield "distinct-all", "select count(distinct s600k) c, count(*) n from facts", both
    yield "by-all-names", "select name, max(w) m from facts group by name order by m desc, name limit 5", one
    yield (
        "by-long-some",
        "select long, sum(w) s from notes where v < 400 group by long order by s desc, long limit 5",
        both,
    )
    yield (
        "by-k10-wide",
        "select k10, sum(v) a, sum(w) b, min(day) c, max(late) d from facts group by k10",
        one,
    )
    yield "by-k1k-wide", "select k1k, sum(v) a, min(w) b, max(w) c, sum(id) d from facts group by k1k", one
    yield "real-by-mode", "select mode, sum(real) s, min(real) l from facts group by mode", both
    yield "real-by-k1k", "select k1k, avg(real) a, max(real) h from facts group by k1k", one
    yield "real-sums", "select sum(real) s, sum(real * real) t from facts where v < 600", one
    yield "real-extremes", "select min(real) l, max(real) h from facts where v < 800", one
    # Joins.
    for table, key in (("d1k", "k1k"), ("d30k", "k30k"), ("d200k", "k200k"), ("d600k", "k600k")):
        where = "where v < 500 and dpart < 50"
        yield f"join-{table}", f"select count(*) c from facts join {table} on {key} = dkey {where}", both
        yield f"joinsum-{table}", f"select sum(damount) s from facts join {table} on {key} = dkey", one
    for table, key in (("h1k", "s1k"), ("h30k", "s30k"), ("h200k", "s200k"), ("h600k", "s600k")):
        where = "where v < 700 and dpart < 80"
        yield (
            f"join-{table}",
            f"select sum(price * (1 - share)) c from facts join {table} on {key} = dkey {where}",
            both,
        )
        yield (
            f"joinsum-{table}",
            f"select sum(dpart) s, count(*) c from facts join {table} on {key} = dkey",
            one,
        )
    miss = "where dpart < 2"
    for table, key in (("d1k", "k1k"), ("d30k", "k30k"), ("d200k", "k200k"), ("d600k", "k600k")):
        yield f"miss-{table}", f"select sum(price) s from facts join {table} on {key} = dkey {miss}", both
    for table, key in (("h1k", "s1k"), ("h30k", "s30k"), ("h200k", "s200k"), ("h600k", "s600k")):
        yield f"miss-{table}", f"select sum(price) s from facts join {table} on {key} = dkey {miss}", one
    # Rows in the order of the key.
    by_id = "from facts a join notes b on a.id = b.id"
    by_near = "from facts a join notes b on a.near = b.id"
    yield "miss-near", f"select sum(a.price) s, sum(a.w) t {by_id} where b.v < 20", both
    yield "hit-near", f"select sum(a.price) s, sum(b.w) t {by_near}", both
    yield (
        "near-dates",
        (
            f"select sum(a.price * (1 - a.share)) s {by_near} "
            "where a.day > date '1995-06-01' and b.late < date '1995-06-01'"
        ),
        both,
    )
    yield (
        "near-month",
        (
            f"select b.mode, sum(a.price) s, sum(a.w) t {by_near} "
            "where a.flag = 'R' and b.day >= date '1994-01-01' and b.day < date '1994-04-01' group by b.mode"
        ),
        both,
    )
    yield (
        "label-in",
        (
            "select sum(price * (1 - share)) s from facts join d200k on k200k = dkey "
            "where dlabel in ('AIR', 'MAIL') and dpart < 20 and \"count\" < 30 and mode in ('AIR', 'SHIP')"
        ),
        both,
    )
    yield (
        "wide-build",
        f"select sum(a.price) s, sum(b.w) t, min(b.day) d, sum(b.price) x {by_near} where b.v < 400",
        one,
    )
    yield (
        "join-group",
        ("select dlabel, sum(price) s from facts join h30k on s30k = dkey where dpart < 60 group by dlabel"),
        both,
    )
    yield (
        "join-two",
        (
            "select sum(price) s from facts join d1k a on k1k = a.dkey join h30k b on s30k = b.dkey "
            "where a.dpart < 50 and b.dpart < 50"
        ),
        both,
    )
    yield (
        "join-three",
        (
            "select a.dlabel, sum(price * (1 - share)) s from facts join d1k a on k1k = a.dkey "
            "join d200k b on k200k = b.dkey join h30k c on s30k = c.dkey "
            "where b.dpart < 70 and c.dpart < 70 group by a.dlabel"
        ),
        one,
    )
    yield "semi", "select count(*) c from facts where k200k in (select dkey from d200k where dpart < 30)", one
    yield (
        "anti",
        "select count(*) c from facts f where not exists (select 1 from h30k where dkey = s30k and dpart < 60)",
        one,
    )
    yield (
        "build-large",
        ("select sum(b.w) s from notes a join facts b on a.id = b.id where b.v < 600 and a.v < 600"),
        both,
    )
    yield (
        "self-group",
        (
            "select near, sum(price) s from facts where near in (select id from notes where v < 100) "
            "group by near order by s desc limit 10"
        ),
        one,
    )
    # Rows out, order.
    yield "rows-out", "select id, v, price from facts where v < 300", both
    yield "order-limit", "select id, price from facts where v < 500 order by price desc, id limit 20", both
    yield "order-all", "select id, w from notes where v < 500 order by w, id", one
    yield "order-text", "select text, id from notes where v < 100 order by text, id", one
    yield "order-facts", "select w, id from facts order by w, id", both
    yield "order-facts-half", "select k600k, price from facts where v < 500 order by k600k, price", one
    yield "order-names", "select name, w from facts where v < 300 order by name, w", both
    yield "order-long", "select long from notes order by long", one
    # Keys that many rows have in common.
    yield "order-ties", "select k1k, w from facts where v < 600 order by k1k, w", both
    yield "order-few", "select k10, day, id from facts order by k10, day", one
    yield "order-sparse", "select s200k, id, w from facts order by s200k, id", both
    yield "order-modes", "select mode, id from facts where v < 400 order by mode, id desc", one
    yield "order-mode-name", "select mode, name, v from facts where v < 300 order by mode, name", one
    yield "order-real", "select real, id from facts where v < 500 order by real desc", both
    yield "top-names", "select name, w from facts order by name, w limit 10", one
    yield "top-many", "select w, id, price from facts order by w, id limit 5000", both
    yield "top-long", "select long, id from notes where v < 700 order by long desc limit 20", one
    # Nearly nothing: what a run and its tasks take by themselves.
    yield "tiny-scan", "select count(*) c from d1k where dpart < 50", both
    yield (
        "tiny-join",
        "select sum(a.damount) s from d1k a join h1k b on a.dpart = b.dpart where a.dkey < 20",
        both,
    )
    yield (
        "tiny-group",
        "select dlabel, count(*) c from d30k where dpart < 10 group by dlabel order by dlabel",
        both,
    )


def large_queries() -> Iterator[tuple[str, str, Layouts]]:
    """(name, SQL, layouts) over what no cache holds."""
    one, both, forced = ONE, BOTH, FORCED
    yield "large-count", "select count(*) c from large where lv < 10", one
    yield "large-sum", "select sum(lprice) s, sum(lw) t from large where lv < 500", both
    yield (
        "large-product",
        "select sum(lprice * (1 - lshare)) s from large where lday < date '1996-01-01'",
        one,
    )
    yield (
        "large-narrow",
        "select sum(lprice * lshare) s from large where lday < date '1992-06-01' and lv < 200",
        both,
    )
    yield (
        "large-flags",
        "select lflag, lmode, count(*) c, sum(lprice) s, sum(lprice * (1 - lshare)) t from large group by lflag, lmode",
        both,
    )
    yield "large-mode", "select count(*) c from large where lmode in ('AIR', 'RAIL') and lv < 300", one
    yield "large-order", "select lw, lr1500k from large where lv < 300 order by lw, lr1500k", both
    yield "large-order-wide", "select * from large where lv < 100 order by lk150k, lprice", one
    yield "large-order-text", "select otext, okey from ordered where opart < 40 order by otext", one
    yield "large-text", "select count(*) c from ordered where otext not like '%special%requests%'", both
    # Columns whose dictionaries are neither tiny nor missing.
    yield "large-gather", "select sum(lk10k) s, max(lday) d from large", one
    yield (
        "large-gather-half",
        "select sum(lk10k) s, max(llate) d, sum(lprice) p from large where lv < 500",
        one,
    )
    # Selections that keep more and fewer rows, of columns in every form.
    for kept in (30, 150, 350):
        yield (
            f"large-gather-{kept}",
            f"select sum(lk10k) s, max(llate) d, sum(lprice) p, sum(lshare) q from large where lv < {kept}",
            one,
        )
    yield "large-dates", "select count(*) c from large where lday < llate and llate < date '1996-01-01'", both
    yield (
        "large-dates-sum",
        "select sum(lk10k) s, sum(lprice) p from large where llate > lday and lday >= date '1994-01-01'",
        one,
    )
    yield (
        "large-wide-join",
        (
            "select dlabel, sum(lprice * (1 - lshare)) s, sum(lk10k) t from large join d150k on lk150k = dkey "
            "where dpart < 10 group by dlabel"
        ),
        both,
    )
    yield (
        "large-two-joins",
        (
            "select sum(lprice * (1 - lshare)) s from large join d150k a on lk150k = a.dkey "
            "join d10k b on lk10k = b.dkey where a.dpart < 30 and b.dpart < 30"
        ),
        forced,
    )
    yield (
        "large-dates-near",
        (
            "select count(*) c from ordered where opart < 60 "
            "and okey in (select lkey from large where lday < llate)"
        ),
        both,
    )
    yield (
        "large-near-four",
        (
            "select a.dlabel, sum(lprice * (1 - lshare)) s from large join ordered on lkey = okey "
            "join d150k a on oowner = a.dkey join h10k b on lk10k * 1000003 = b.dkey "
            "where oday < date '1994-01-01' and b.dpart < 60 group by a.dlabel"
        ),
        one,
    )
    # Dense and hashed keys, in no order.
    yield (
        "large-dense",
        "select sum(lprice) s from large join d1500k on lr1500k = dkey where dpart < 50",
        forced,
    )
    yield (
        "large-dense-few",
        "select sum(lprice) s from large join d1500k on lr1500k = dkey where dpart < 3",
        both,
    )
    yield "large-hash", "select sum(lw) s, sum(damount) t from large join h1500k on ls1500k = dkey", both
    yield (
        "large-hash-few",
        "select sum(lprice) s from large join h1500k on ls1500k = dkey where dpart < 8",
        one,
    )
    yield (
        "large-mid",
        "select dlabel, sum(lprice) s from large join d150k on lk150k = dkey group by dlabel",
        forced,
    )
    yield "large-mid-few", "select sum(lprice) s from large join d150k on lk150k = dkey where dpart < 20", one
    # Keys in the order of both tables.
    yield (
        "large-near",
        "select olabel, sum(lprice * (1 - lshare)) s from large join ordered on lkey = okey where opart < 50 group by olabel",
        forced,
    )
    yield (
        "large-near-few",
        "select sum(lprice) s from large join ordered on lkey = okey where opart < 5",
        forced,
    )
    yield (
        "large-near-three",
        (
            "select dlabel, sum(lprice * (1 - lshare)) s from large join ordered on lkey = okey "
            "join d150k on oowner = dkey where oday < date '1996-01-01' and dpart < 60 group by dlabel"
        ),
        forced,
    )
    yield (
        "large-near-top",
        (
            "select lkey, oday, sum(lprice * (1 - lshare)) s from large join ordered on lkey = okey "
            "where lday > date '1995-06-01' and opart < 20 group by lkey, oday order by s desc limit 10"
        ),
        both,
    )
    yield (
        "large-semi",
        "select count(*) c from ordered where okey in (select lkey from large where lv < 300)",
        forced,
    )
    yield (
        "large-exists",
        "select count(*) c from ordered where okey in (select lkey from large where lv < 900)",
        both,
    )
    yield (
        "large-anti",
        "select count(*) c from ordered where okey not in (select lkey from large where lv < 30)",
        both,
    )
    # Some of the rows of both, by their dates.
    product = "sum(lprice * (1 - lshare)) s"
    near = "from large join ordered on lkey = okey"
    yield (
        "large-near-dates",
        f"select {product} {near} where lday > date '1995-06-01' and oday < date '1995-06-01'",
        forced,
    )
    yield (
        "large-near-year",
        f"select olabel, {product} {near} where lday >= date '1994-01-01' and lday < date '1995-01-01' and opart < 30 group by olabel",
        both,
    )
    yield (
        "large-near-owner",
        (
            f"select oowner, {product} {near} where lflag = 'R' and oday >= date '1993-10-01' "
            "and oday < date '1994-01-01' group by oowner order by s desc limit 20"
        ),
        both,
    )
    yield (
        "large-near-ten",
        (
            f"select dlabel, {product} {near} join d10k on lk10k = dkey "
            "where oday >= date '1994-01-01' and oday < date '1995-01-01' and dpart < 20 group by dlabel"
        ),
        forced,
    )
    yield (
        "large-ten-near",
        (
            f"select a.dpart, {product} {near} join d10k a on lk10k = a.dkey join d150k b on lk150k = b.dkey "
            "where a.dpart < 60 and b.dpart < 5 and olabel <> 'AIR' group by a.dpart"
        ),
        both,
    )
    yield (
        "large-counts",
        "select sum(lprice * lshare) s from large where lcount < 24 and lday < date '1993-01-01'",
        both,
    )
    yield (
        "large-counts-sum",
        "select lflag, sum(lcount) s, sum(lprice) t from large where lday < date '1998-01-01' group by lflag",
        one,
    )
    # Several rows a key on the side that is looked up.
    yield (
        "large-outer",
        "select dkey, count(okey) c from d150k left join ordered on dkey = oowner group by dkey order by c desc, dkey limit 5",
        forced,
    )
    yield (
        "large-many",
        "select sum(lw) s from d1500k join large on dkey = lr1500k where dpart < 10 and lv < 700",
        both,
    )
    # Groups.
    yield "large-by-key", "select lkey, sum(lw) s from large group by lkey having sum(lw) > 3900000", forced
    yield (
        "large-by-dense",
        "select lr1500k, count(*) c from large group by lr1500k order by c desc, lr1500k limit 5",
        both,
    )
    yield (
        "large-by-hash",
        "select ls1500k, sum(lprice) s from large where lv < 500 group by ls1500k order by s desc limit 5",
        one,
    )
    yield (
        "large-by-mid",
        "select lk150k, sum(lprice) s, max(lday) d from large group by lk150k order by s desc limit 5",
        forced,
    )
    yield "large-rows", "select lkey, lv, lprice from large where lv < 150", both
    yield "large-names", "select dname, lw from large join d150k on lk150k = dkey where lv < 70", both
    yield "large-far-names", "select dname, lw from large join d1500k on lr1500k = dkey where lv < 70", both
    yield (
        "large-order-names",
        "select dname, lw from large join d150k on lk150k = dkey where lv < 20 order by lw, dname",
        one,
    )
    # More than the last cache holds.
    all_sums = ", ".join(f"sum({each})" for each in ("lkey", "lr1500k", "ls1500k", "lk150k", "lk10k", "lw", "lprice"))
    yield "large-all", f"select {all_sums} from large", one
    yield "large-all-half", f"select {all_sums} from large where lv < 500", one
    yield "large-all-few", f"select {all_sums} from large where lv < 80", one
    yield "remarks-begins", "select count(*) c from remarks where remark like 'a remark 1%'", both
    yield "remarks-ends", "select sum(rv) c from remarks where remark like '%bold' and rv < 400", one
    yield "remarks-length", "select sum(length(remark)) s from remarks where rv < 350", both
    yield "remarks-length-all", "select sum(length(remark)) s from remarks", one
    yield "remarks-out", "select remark, rv from remarks where rv < 70", both
    yield "remarks-both-out", "select remark, rcaller from remarks where rv < 30", one
    yield "remarks-order", "select remark, rv from remarks where rv < 200 order by remark", one
    yield (
        "remarks-by-caller",
        "select rcaller, count(*) c, sum(rv) s from remarks group by rcaller order by c desc, rcaller limit 5",
        both,
    )
    # Texts: as keys, in tables, in chunks.
    yield (
        "large-by-text",
        "select otext, count(*) c from ordered where opart < 10 group by otext order by c desc, otext limit 5",
        both,
    )
    yield (
        "large-by-texts",
        (
            "select okey, otext, olabel, sum(lprice * (1 - lshare)) s from large join ordered on lkey = okey "
            "where opart < 8 and lv < 500 group by okey, otext, olabel order by s desc limit 10"
        ),
        both,
    )
    yield "large-text-rows", "select okey, otext from ordered where opart < 15", both
    yield "large-text-more", "select count(*) c from ordered where otext > 'quick' and opart < 60", one


def tensor_programs() -> Iterator[tuple[str, object, tuple[object, ...]]]:
    """(name, function over arrays, argument types): products, elementwise work, reductions."""
    import headrace.array as xp
    from headrace._src.array.jit import TensorType

    def matrix(rows: int, columns: int, dtype: str = "f32") -> TensorType:
        return TensorType((rows, columns), dtype)

    def product(a, b):  # noqa: ANN001, ANN202
        return a @ b

    def scaled(a, b):  # noqa: ANN001, ANN202
        return a * 2.0 + b

    def smooth(a):  # noqa: ANN001, ANN202
        return xp.exp(a) * 0.5

    def sums(a):  # noqa: ANN001, ANN202
        return xp.sum(a, axis=1)

    def columns(a):  # noqa: ANN001, ANN202
        return xp.sum(a, axis=0)

    yield "product-256", product, (matrix(256, 256), matrix(256, 256))
    yield "product-768", product, (matrix(768, 768), matrix(768, 768))
    yield "product-tall", product, (matrix(8192, 128), matrix(128, 64))
    yield "product-deep", product, (matrix(128, 8192), matrix(8192, 128))
    yield "product-f64", product, (matrix(512, 512, "f64"), matrix(512, 512, "f64"))
    yield "scaled", scaled, (matrix(2048, 1024), matrix(2048, 1024))
    yield "scaled-small", scaled, (matrix(256, 256), matrix(256, 256))
    yield "smooth", smooth, (matrix(1024, 1024),)
    yield "sums", sums, (matrix(4096, 1024),)
    yield "columns", columns, (matrix(4096, 512),)
