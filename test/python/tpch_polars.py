"""The queries of TPC-H as programs of Polars, over a function that gives its tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import polars as pl
from polars import col

Scan = Callable[[str], pl.LazyFrame]
REVENUE = col("l_extendedprice") * (1 - col("l_discount"))


def q01(t: Scan) -> pl.LazyFrame:
    return (
        t("lineitem")
        .filter(col("l_shipdate") <= date(1998, 9, 2))
        .group_by("l_returnflag", "l_linestatus")
        .agg(
            sum_qty=col("l_quantity").sum(),
            sum_base_price=col("l_extendedprice").sum(),
            sum_disc_price=REVENUE.sum(),
            sum_charge=(REVENUE * (1 + col("l_tax"))).sum(),
            avg_qty=col("l_quantity").mean(),
            avg_price=col("l_extendedprice").mean(),
            avg_disc=col("l_discount").mean(),
            count_order=pl.len(),
        )
        .sort("l_returnflag", "l_linestatus")
    )


def q02(t: Scan) -> pl.LazyFrame:
    offers = (
        t("part")
        .filter(col("p_size") == 15, col("p_type").str.ends_with("BRASS"))
        .join(t("partsupp"), left_on="p_partkey", right_on="ps_partkey")
        .join(t("supplier"), left_on="ps_suppkey", right_on="s_suppkey")
        .join(t("nation"), left_on="s_nationkey", right_on="n_nationkey")
        .join(t("region").filter(col("r_name") == "EUROPE"), left_on="n_regionkey", right_on="r_regionkey")
    )
    least = offers.group_by("p_partkey").agg(ps_supplycost=col("ps_supplycost").min())
    return (
        offers.join(least, on=["p_partkey", "ps_supplycost"])
        .select(
            *("s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone", "s_comment")
        )
        .sort("s_acctbal", "n_name", "s_name", "p_partkey", descending=[True, False, False, False])
        .head(100)
    )


def q03(t: Scan) -> pl.LazyFrame:
    day = date(1995, 3, 15)
    return (
        t("customer")
        .filter(col("c_mktsegment") == "BUILDING")
        .join(t("orders").filter(col("o_orderdate") < day), left_on="c_custkey", right_on="o_custkey")
        .join(t("lineitem").filter(col("l_shipdate") > day), left_on="o_orderkey", right_on="l_orderkey")
        .group_by("o_orderkey", "o_orderdate", "o_shippriority")
        .agg(revenue=REVENUE.sum())
        .sort("revenue", "o_orderdate", descending=[True, False])
        .head(10)
    )


def q04(t: Scan) -> pl.LazyFrame:
    late = t("lineitem").filter(col("l_commitdate") < col("l_receiptdate"))
    return (
        t("orders")
        .filter(col("o_orderdate").is_between(date(1993, 7, 1), date(1993, 10, 1), closed="left"))
        .join(late, left_on="o_orderkey", right_on="l_orderkey", how="semi")
        .group_by("o_orderpriority")
        .agg(order_count=pl.len())
        .sort("o_orderpriority")
    )


def q05(t: Scan) -> pl.LazyFrame:
    year = col("o_orderdate").is_between(date(1994, 1, 1), date(1995, 1, 1), closed="left")
    return (
        t("region")
        .filter(col("r_name") == "ASIA")
        .join(t("nation"), left_on="r_regionkey", right_on="n_regionkey")
        .join(t("customer"), left_on="n_nationkey", right_on="c_nationkey")
        .join(t("orders").filter(year), left_on="c_custkey", right_on="o_custkey")
        .join(t("lineitem"), left_on="o_orderkey", right_on="l_orderkey")
        .join(t("supplier"), left_on=["l_suppkey", "n_nationkey"], right_on=["s_suppkey", "s_nationkey"])
        .group_by("n_name")
        .agg(revenue=REVENUE.sum())
        .sort("revenue", descending=True)
    )


def q06(t: Scan) -> pl.LazyFrame:
    return (
        t("lineitem")
        .filter(
            col("l_shipdate").is_between(date(1994, 1, 1), date(1995, 1, 1), closed="left"),
            col("l_discount").is_between(0.0499, 0.0701),
            col("l_quantity") < 24,
        )
        .select(revenue=(col("l_extendedprice") * col("l_discount")).sum())
    )


def q07(t: Scan) -> pl.LazyFrame:
    nations = t("nation").filter(col("n_name").is_in(["FRANCE", "GERMANY"]))
    return (
        t("lineitem")
        .filter(col("l_shipdate").is_between(date(1995, 1, 1), date(1996, 12, 31)))
        .join(t("orders"), left_on="l_orderkey", right_on="o_orderkey")
        .join(t("customer"), left_on="o_custkey", right_on="c_custkey")
        .join(
            nations.select(c_nationkey="n_nationkey", cust_nation="n_name"),
            on="c_nationkey",
        )
        .join(t("supplier"), left_on="l_suppkey", right_on="s_suppkey")
        .join(nations.select(s_nationkey="n_nationkey", supp_nation="n_name"), on="s_nationkey")
        .filter(col("cust_nation") != col("supp_nation"))
        .group_by("supp_nation", "cust_nation", l_year=col("l_shipdate").dt.year())
        .agg(revenue=REVENUE.sum())
        .sort("supp_nation", "cust_nation", "l_year")
    )


def q08(t: Scan) -> pl.LazyFrame:
    asia = t("nation").join(
        t("region").filter(col("r_name") == "AMERICA"), left_on="n_regionkey", right_on="r_regionkey"
    )
    return (
        t("part")
        .filter(col("p_type") == "ECONOMY ANODIZED STEEL")
        .join(t("lineitem"), left_on="p_partkey", right_on="l_partkey")
        .join(t("supplier"), left_on="l_suppkey", right_on="s_suppkey")
        .join(t("orders"), left_on="l_orderkey", right_on="o_orderkey")
        .filter(col("o_orderdate").is_between(date(1995, 1, 1), date(1996, 12, 31)))
        .join(t("customer"), left_on="o_custkey", right_on="c_custkey")
        .join(asia.select("n_nationkey"), left_on="c_nationkey", right_on="n_nationkey")
        .join(t("nation").select("n_nationkey", "n_name"), left_on="s_nationkey", right_on="n_nationkey")
        .with_columns(o_year=col("o_orderdate").dt.year(), volume=REVENUE)
        .group_by("o_year")
        .agg(
            mkt_share=pl.when(col("n_name") == "BRAZIL").then(col("volume")).otherwise(0).sum()
            / col("volume").sum()
        )
        .sort("o_year")
    )


def q09(t: Scan) -> pl.LazyFrame:
    return (
        t("part")
        .filter(col("p_name").str.contains("green"))
        .join(t("lineitem"), left_on="p_partkey", right_on="l_partkey")
        .join(t("supplier"), left_on="l_suppkey", right_on="s_suppkey")
        .join(t("partsupp"), left_on=["l_suppkey", "p_partkey"], right_on=["ps_suppkey", "ps_partkey"])
        .join(t("orders"), left_on="l_orderkey", right_on="o_orderkey")
        .join(t("nation"), left_on="s_nationkey", right_on="n_nationkey")
        .group_by(nation="n_name", o_year=col("o_orderdate").dt.year())
        .agg(sum_profit=(REVENUE - col("ps_supplycost") * col("l_quantity")).sum())
        .sort("nation", "o_year", descending=[False, True])
    )


def q10(t: Scan) -> pl.LazyFrame:
    quarter = col("o_orderdate").is_between(date(1993, 10, 1), date(1994, 1, 1), closed="left")
    customer = ("c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment")
    return (
        t("customer")
        .join(t("orders").filter(quarter), left_on="c_custkey", right_on="o_custkey")
        .join(t("lineitem").filter(col("l_returnflag") == "R"), left_on="o_orderkey", right_on="l_orderkey")
        .join(t("nation"), left_on="c_nationkey", right_on="n_nationkey")
        .group_by(*customer)
        .agg(revenue=REVENUE.sum())
        .sort("revenue", descending=True)
        .head(20)
    )


def q11(t: Scan) -> pl.LazyFrame:
    stock = (
        t("partsupp")
        .join(t("supplier"), left_on="ps_suppkey", right_on="s_suppkey")
        .join(t("nation").filter(col("n_name") == "GERMANY"), left_on="s_nationkey", right_on="n_nationkey")
        .with_columns(value=col("ps_supplycost") * col("ps_availqty"))
    )
    return (
        stock.group_by("ps_partkey")
        .agg(value=col("value").sum())
        .join(stock.select(least=col("value").sum() * 0.01), how="cross")
        .filter(col("value") > col("least"))
        .select("ps_partkey", "value")
        .sort("value", "ps_partkey", descending=[True, False])
    )


def q12(t: Scan) -> pl.LazyFrame:
    urgent = col("o_orderpriority").is_in(["1-URGENT", "2-HIGH"])
    return (
        t("lineitem")
        .filter(
            col("l_shipmode").is_in(["MAIL", "SHIP"]),
            col("l_commitdate") < col("l_receiptdate"),
            col("l_shipdate") < col("l_commitdate"),
            col("l_receiptdate").is_between(date(1994, 1, 1), date(1995, 1, 1), closed="left"),
        )
        .join(t("orders"), left_on="l_orderkey", right_on="o_orderkey")
        .group_by("l_shipmode")
        .agg(high_line_count=urgent.sum(), low_line_count=(~urgent).sum())
        .sort("l_shipmode")
    )


def q13(t: Scan) -> pl.LazyFrame:
    orders = t("orders").filter(~col("o_comment").str.contains("special.*requests"))
    return (
        t("customer")
        .join(orders, left_on="c_custkey", right_on="o_custkey", how="left")
        .group_by("c_custkey")
        .agg(c_count=col("o_orderkey").count())
        .group_by("c_count")
        .agg(custdist=pl.len())
        .sort("custdist", "c_count", descending=True)
    )


def q14(t: Scan) -> pl.LazyFrame:
    promo = pl.when(col("p_type").str.starts_with("PROMO")).then(REVENUE).otherwise(0.0)
    return (
        t("lineitem")
        .filter(col("l_shipdate").is_between(date(1995, 9, 1), date(1995, 10, 1), closed="left"))
        .join(t("part"), left_on="l_partkey", right_on="p_partkey")
        .select(promo_revenue=100 * promo.sum() / REVENUE.sum())
    )


def q15(t: Scan) -> pl.LazyFrame:
    revenue = (
        t("lineitem")
        .filter(col("l_shipdate").is_between(date(1996, 1, 1), date(1996, 4, 1), closed="left"))
        .group_by(supplier_no="l_suppkey")
        .agg(total_revenue=REVENUE.sum().round(2))
    )
    return (
        t("supplier")
        .join(revenue, left_on="s_suppkey", right_on="supplier_no")
        .filter(col("total_revenue") == col("total_revenue").max())
        .select("s_suppkey", "s_name", "s_address", "s_phone", "total_revenue")
        .sort("s_suppkey")
    )


def q16(t: Scan) -> pl.LazyFrame:
    complaints = t("supplier").filter(
        col("s_comment").str.contains("Customer", literal=True), col("s_comment").str.contains("Complaints")
    )
    return (
        t("part")
        .filter(
            col("p_brand") != "Brand#45",
            ~col("p_type").str.starts_with("MEDIUM POLISHED"),
            col("p_size").is_in([49, 14, 23, 45, 19, 3, 36, 9]),
        )
        .join(t("partsupp"), left_on="p_partkey", right_on="ps_partkey")
        .join(complaints, left_on="ps_suppkey", right_on="s_suppkey", how="anti")
        .group_by("p_brand", "p_type", "p_size")
        .agg(supplier_cnt=col("ps_suppkey").n_unique())
        .sort("supplier_cnt", "p_brand", "p_type", "p_size", descending=[True, False, False, False])
    )


def q17(t: Scan) -> pl.LazyFrame:
    return (
        t("part")
        .filter(col("p_brand") == "Brand#23", col("p_container") == "MED BOX")
        .join(t("lineitem"), left_on="p_partkey", right_on="l_partkey")
        .filter(col("l_quantity") < 0.2 * col("l_quantity").mean().over("p_partkey"))
        .select(avg_yearly=col("l_extendedprice").sum() / 7.0)
    )


def q18(t: Scan) -> pl.LazyFrame:
    large = t("lineitem").group_by("l_orderkey").agg(col("l_quantity").sum()).filter(col("l_quantity") > 200)
    return (
        t("orders")
        .join(large, left_on="o_orderkey", right_on="l_orderkey")
        .join(t("customer"), left_on="o_custkey", right_on="c_custkey")
        .select("c_name", "o_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "l_quantity")
        .sort("o_totalprice", "o_orderdate", "o_orderkey", descending=[True, False, False])
        .head(100)
    )


def q19(t: Scan) -> pl.LazyFrame:
    def kind(brand: str, containers: list[str], least: int, size: int) -> pl.Expr:
        return (
            (col("p_brand") == brand)
            & col("p_container").is_in(containers)
            & col("l_quantity").is_between(least, least + 10)
            & col("p_size").is_between(1, size)
        )

    return (
        t("lineitem")
        .filter(col("l_shipmode").is_in(["AIR", "AIR REG"]), col("l_shipinstruct") == "DELIVER IN PERSON")
        .join(t("part"), left_on="l_partkey", right_on="p_partkey")
        .filter(
            kind("Brand#12", ["SM CASE", "SM BOX", "SM PACK", "SM PKG"], 1, 5)
            | kind("Brand#23", ["MED BAG", "MED BOX", "MED PKG", "MED PACK"], 10, 10)
            | kind("Brand#34", ["LG CASE", "LG BOX", "LG PACK", "LG PKG"], 20, 15)
        )
        .select(revenue=REVENUE.sum())
    )


def q20(t: Scan) -> pl.LazyFrame:
    forest = t("part").filter(col("p_name").str.starts_with("forest"))
    shipped = (
        t("lineitem")
        .filter(col("l_shipdate").is_between(date(1994, 1, 1), date(1995, 1, 1), closed="left"))
        .group_by("l_partkey", "l_suppkey")
        .agg(half=col("l_quantity").sum() * 0.5)
    )
    stock = (
        t("partsupp")
        .join(forest, left_on="ps_partkey", right_on="p_partkey", how="semi")
        .join(shipped, left_on=["ps_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"])
        .filter(col("ps_availqty") > col("half"))
    )
    return (
        t("supplier")
        .join(t("nation").filter(col("n_name") == "CANADA"), left_on="s_nationkey", right_on="n_nationkey")
        .join(stock, left_on="s_suppkey", right_on="ps_suppkey", how="semi")
        .select("s_name", "s_address")
        .sort("s_name")
    )


def q21(t: Scan) -> pl.LazyFrame:
    late = t("lineitem").filter(col("l_receiptdate") > col("l_commitdate"))
    several = t("lineitem").group_by("l_orderkey").agg(n=col("l_suppkey").n_unique()).filter(col("n") > 1)
    alone = late.group_by("l_orderkey").agg(n=col("l_suppkey").n_unique()).filter(col("n") == 1)
    return (
        late.join(several, on="l_orderkey", how="semi")
        .join(alone, on="l_orderkey", how="semi")
        .join(t("supplier"), left_on="l_suppkey", right_on="s_suppkey")
        .join(
            t("nation").filter(col("n_name") == "SAUDI ARABIA"), left_on="s_nationkey", right_on="n_nationkey"
        )
        .join(t("orders").filter(col("o_orderstatus") == "F"), left_on="l_orderkey", right_on="o_orderkey")
        .group_by("s_name")
        .agg(numwait=pl.len())
        .sort("numwait", "s_name", descending=[True, False])
        .head(100)
    )


def q22(t: Scan) -> pl.LazyFrame:
    customers = (
        t("customer")
        .with_columns(cntrycode=col("c_phone").str.slice(0, 2))
        .filter(col("cntrycode").is_in(["13", "31", "23", "29", "30", "18", "17"]))
    )
    mean = customers.filter(col("c_acctbal") > 0.0).select(mean=col("c_acctbal").mean())
    return (
        customers.join(mean, how="cross")
        .filter(col("c_acctbal") > col("mean"))
        .join(t("orders"), left_on="c_custkey", right_on="o_custkey", how="anti")
        .group_by("cntrycode")
        .agg(numcust=pl.len(), totacctbal=col("c_acctbal").sum())
        .sort("cntrycode")
    )


QUERIES: dict[str, Callable[[Scan], Any]] = {
    name: function for name, function in sorted(globals().items()) if name[0] == "q" and name[1:].isdecimal()
}
