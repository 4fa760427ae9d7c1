"""The schemas of the TPC-H tables as tpchgen-cli writes them: every column NOT NULL."""

from __future__ import annotations

import pyarrow as pa

_KEY = pa.int64()
_NUMBER = pa.int32()
_MONEY = pa.decimal128(15, 2)
_TEXT = pa.string()
_DAY = pa.date32()


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


SCHEMAS: dict[str, pa.Schema] = {
    "region": _schema(r_regionkey=_KEY, r_name=_TEXT, r_comment=_TEXT),
    "nation": _schema(n_nationkey=_KEY, n_name=_TEXT, n_regionkey=_KEY, n_comment=_TEXT),
    "supplier": _schema(
        s_suppkey=_KEY,
        s_name=_TEXT,
        s_address=_TEXT,
        s_nationkey=_KEY,
        s_phone=_TEXT,
        s_acctbal=_MONEY,
        s_comment=_TEXT,
    ),
    "customer": _schema(
        c_custkey=_KEY,
        c_name=_TEXT,
        c_address=_TEXT,
        c_nationkey=_KEY,
        c_phone=_TEXT,
        c_acctbal=_MONEY,
        c_mktsegment=_TEXT,
        c_comment=_TEXT,
    ),
    "part": _schema(
        p_partkey=_KEY,
        p_name=_TEXT,
        p_mfgr=_TEXT,
        p_brand=_TEXT,
        p_type=_TEXT,
        p_size=_NUMBER,
        p_container=_TEXT,
        p_retailprice=_MONEY,
        p_comment=_TEXT,
    ),
    "partsupp": _schema(
        ps_partkey=_KEY,
        ps_suppkey=_KEY,
        ps_availqty=_NUMBER,
        ps_supplycost=_MONEY,
        ps_comment=_TEXT,
    ),
    "orders": _schema(
        o_orderkey=_KEY,
        o_custkey=_KEY,
        o_orderstatus=_TEXT,
        o_totalprice=_MONEY,
        o_orderdate=_DAY,
        o_orderpriority=_TEXT,
        o_clerk=_TEXT,
        o_shippriority=_NUMBER,
        o_comment=_TEXT,
    ),
    "lineitem": _schema(
        l_orderkey=_KEY,
        l_partkey=_KEY,
        l_suppkey=_KEY,
        l_linenumber=_NUMBER,
        l_quantity=_MONEY,
        l_extendedprice=_MONEY,
        l_discount=_MONEY,
        l_tax=_MONEY,
        l_returnflag=_TEXT,
        l_linestatus=_TEXT,
        l_shipdate=_DAY,
        l_commitdate=_DAY,
        l_receiptdate=_DAY,
        l_shipinstruct=_TEXT,
        l_shipmode=_TEXT,
        l_comment=_TEXT,
    ),
}
