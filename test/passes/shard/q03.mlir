// TPC-H q03: on a fast network what is large is shuffled, which passes while more is read; on a slow one every rank
// reads all lines and keeps its part, and only orders move meanwhile; one rank moves nothing.
// Sources: passes/shard/frame_strategies.cpp, passes/shard/column_classes.cpp, passes/shard/row_estimates.cpp,
//   passes/shard/op_work.cpp
// RUN: headrace-opt %s --shard-solve="mesh=ranks:8 topology=ethernet-fast explain=text" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAST
// RUN: headrace-opt %s --shard-solve="mesh=ranks:8 topology=ethernet-slow explain=text" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: headrace-opt %s --shard="mesh=ranks:8 topology=ethernet-fast" | FileCheck %s --check-prefix=LOCAL
// RUN: headrace-opt %s --shard="mesh=ranks:1" | FileCheck %s --check-prefix=ONE

!customer = !frame.table<"c_custkey": i64, "c_mktsegment": !frame.string>
!orders = !frame.table<"o_orderkey": i64, "o_custkey": i64, "o_orderdate": !frame.date, "o_shippriority": i32>
!lineitem = !frame.table<"l_orderkey": i64, "l_extendedprice": !frame.decimal<15, 2>,
    "l_discount": !frame.decimal<15, 2>, "l_shipdate": !frame.date>
!co = !frame.table<"c_custkey": i64, "c_mktsegment": !frame.string, "o_orderkey": i64, "o_custkey": i64,
    "o_orderdate": !frame.date, "o_shippriority": i32>
!col = !frame.table<"c_custkey": i64, "c_mktsegment": !frame.string, "o_orderkey": i64, "o_custkey": i64,
    "o_orderdate": !frame.date, "o_shippriority": i32, "l_orderkey": i64,
    "l_extendedprice": !frame.decimal<15, 2>, "l_discount": !frame.decimal<15, 2>, "l_shipdate": !frame.date>
!result = !frame.table<"l_orderkey": i64, "o_orderdate": !frame.date, "o_shippriority": i32,
    "revenue": !frame.decimal<38, 2>>

// FAST: the quickest of {{[0-9]+}} layouts, sum {{.*}} optimal
// Customers to all ranks or both sides by their key: the two are within one per cent of each other.
// FAST: frame.join inner: broadcast left, right block over ranks
// FAST-SAME: next best: shuffle on c_custkey = o_custkey
// FAST: frame.join inner: shuffle on o_orderkey = l_orderkey
// FAST: frame.aggregate: complete, by hash of o_orderkey
// SLOW: frame.scan lineitem: every rank reads all
// SLOW: frame.join inner: shuffle on o_orderkey = l_orderkey
// SLOW-SAME: moving 6.63e+07 bytes)
// SLOW-SAME: next best: broadcast left
// SLOW: frame.aggregate: complete, by hash of o_orderkey
// ONE-NOT: dist.
// ONE: frame.topk
// ONE-NOT: dist.
// LOCAL-LABEL: func.func @main
func.func @main() -> !result {
  // LOCAL: frame.scan "customer"
  %customer = frame.scan "customer" ["c_custkey", "c_mktsegment"]
      {statistics = {rows = 1500000 : i64, columns = {c_custkey = {distinct = 1500000 : i64},
       c_mktsegment = {distinct = 5 : i64}}}} : !customer
  %building = frame.filter %customer columns ["c_mktsegment"] {
  ^bb0(%segment: !frame.string):
    %name = frame.constant "BUILDING" : !frame.string
    %p = frame.compare eq %segment, %name : (!frame.string, !frame.string) -> i1
    frame.yield %p : i1
  } : !customer
  %orders = frame.scan "orders" ["o_orderkey", "o_custkey", "o_orderdate", "o_shippriority"]
      {statistics = {rows = 15000000 : i64, columns = {o_orderkey = {distinct = 15000000 : i64},
       o_custkey = {distinct = 1000000 : i64}, o_orderdate = {min = 8035 : i64, max = 10440 : i64}}}} : !orders
  %early = frame.filter %orders columns ["o_orderdate"] {
  ^bb0(%date: !frame.date):
    %day = frame.constant "1995-03-15" : !frame.date
    %p = frame.compare lt %date, %day : (!frame.date, !frame.date) -> i1
    frame.yield %p : i1
  } : !orders
  // LOCAL-DAG: dist.exchange hash %{{.*}} keys ["o_orderkey"]
  // LOCAL-DAG: dist.exchange hash %{{.*}} keys ["l_orderkey"]
  %co = frame.join inner %building, %early on ["c_custkey"] = ["o_custkey"] : !customer, !orders -> !co
  %lineitem = frame.scan "lineitem" ["l_orderkey", "l_extendedprice", "l_discount", "l_shipdate"]
      {statistics = {rows = 60000000 : i64, columns = {l_orderkey = {distinct = 15000000 : i64},
       l_shipdate = {min = 8036 : i64, max = 10561 : i64}}}} : !lineitem
  %late = frame.filter %lineitem columns ["l_shipdate"] {
  ^bb0(%date: !frame.date):
    %day = frame.constant "1995-03-15" : !frame.date
    %p = frame.compare gt %date, %day : (!frame.date, !frame.date) -> i1
    frame.yield %p : i1
  } : !lineitem
  %col = frame.join inner %co, %late on ["o_orderkey"] = ["l_orderkey"] : !co, !lineitem -> !col
  %groups = frame.aggregate %col keys ["l_orderkey", "o_orderdate", "o_shippriority"]
      measures [#frame.measure<sum("l_extendedprice") -> "revenue">] : !col -> !result
  // LOCAL: frame.topk
  // LOCAL: dist.exchange gather
  // LOCAL: frame.topk
  %top = frame.topk %groups by [#frame.sort_key<"revenue" desc nulls_last>] count 10 : !result
  return %top : !result
}
