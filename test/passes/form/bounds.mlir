// Of a sort that keeps the first rows, later rows leave the pipeline by the first key alone.
// Sources: passes/form/aggregates.cpp
// RUN: headrace-opt %s --split-input-file --form | FileCheck %s

// CHECK-LABEL: pipe.pipeline @scan_t
// CHECK: pipe.filter {{.*}} ["a"] {
// CHECK: ^bb0(%[[A:.*]]: i64):
// CHECK: %[[LAST:.*]], %[[KNOWN:.*]] = pipe.bound @[[STATE:.*]] : i64
// CHECK: %[[BEFORE:.*]] = arith.cmpi sge, %[[A]], %[[LAST]]
// CHECK: arith.ori %[[BEFORE]]
// CHECK: {selectivity = 0.0{{.*}}}
// CHECK: pipe.insert {{.*}} @[[STATE]]
func.func @main() -> !frame.table<"a": i64, "s": !frame.string> {
  %0 = frame.scan "t" ["a", "s"] {statistics = {rows = 1000000 : i64}} : !frame.table<"a": i64, "s": !frame.string>
  %1 = frame.topk %0 by [#frame.sort_key<"a" desc nulls_last>, #frame.sort_key<"s" asc nulls_last>] offset 0 count 3 : !frame.table<"a": i64, "s": !frame.string>
  return %1 : !frame.table<"a": i64, "s": !frame.string>
}
