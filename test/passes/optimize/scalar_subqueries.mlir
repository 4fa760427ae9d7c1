// RUN: headrace-opt %s --pass-pipeline="builtin.module(func.func(optimize-scalar-subqueries))" | FileCheck %s
// RUN: not headrace-opt %S/Inputs/scalar_subquery_of_rows.mlir --optimize 2>&1 | FileCheck %s --check-prefix=ROWS

!t = !frame.table<"a": i64>

// CHECK-LABEL: func.func @in_filter
// CHECK: %[[MAX:.*]] = frame.aggregate
// CHECK: %[[LEFT:.*]] = frame.project %{{.*}} keep ["a"] compute ["every_row"]
// CHECK: %[[RIGHT:.*]] = frame.project %[[MAX]] keep ["m"] compute ["one_row"]
// CHECK: %[[JOIN:.*]] = frame.join left %[[LEFT]], %[[RIGHT]] on ["every_row"] = ["one_row"]
// CHECK: %[[FILTER:.*]] = frame.filter %[[JOIN]] columns ["a", "m"]
// CHECK: frame.project %[[FILTER]] keep ["a"]
// CHECK-NOT: frame.scalar_subquery
func.func @in_filter(%t: !t, %u: !frame.table<"b": i64>) -> !t {
  %0 = frame.aggregate %u keys [] measures [#frame.measure<max("b") -> "m">]
      : !frame.table<"b": i64> -> !frame.table<"m": !frame.nullable<i64>>
  %max = frame.scalar_subquery %0 : !frame.table<"m": !frame.nullable<i64>> -> !frame.nullable<i64>
  %1 = frame.filter %t columns ["a"] {
  ^bb0(%a: i64):
    %p = frame.compare lt %a, %max : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !t
  return %1 : !t
}

// ROWS: error: a scalar subquery that may have several rows is not supported
