// Sources: passes/form/joins.cpp
// RUN: headrace-opt %s --stop-after=form | FileCheck %s

// Few orders, many lines. The orders are the table: lines only mark them, and those that are marked (here, are not)
// come out when all lines are through.

// CHECK: pipe.scan "orders"
// CHECK: pipe.insert {{.*}}, @build0 keys ["order"] :
// CHECK: pipe.state @build0 join [#pipe.field<"order", i32, key {{.*}}>, #pipe.field<"matched0", i1, payload>]
// CHECK: pipe.pipeline @[[MARKS:[a-z0-9_]*]]
// CHECK: pipe.scan "lines"
// CHECK: pipe.lookup {{.*}}, @build0 {{ *}}seen keys ["line"] payload [] mark "matched0" columns []
// CHECK-NEXT: -> <>
// CHECK-NEXT: }
// CHECK: pipe.pipeline @unmatched0 after @[[MARKS]]
// CHECK: pipe.read @build0
// CHECK: pipe.filter {{.*}} ["matched0"]
// CHECK: arith.xori
// CHECK: pipe.emit {{.*}}, @result

!orders = !frame.table<"order": i64>
!lines = !frame.table<"line": i64>
func.func @main() -> !orders {
  %0 = frame.scan "orders" ["o_key"] {statistics = {rows = 1000 : i64, row_groups = 1 : i64, columns = {
      o_key = {min = 1 : i64, max = 1000000 : i64, distinct = 1000 : i64}}}} : !orders
  %1 = frame.scan "lines" ["l_key"] {statistics = {rows = 4000 : i64, row_groups = 1 : i64, columns = {
      l_key = {min = 1 : i64, max = 1000000 : i64, distinct = 1000 : i64}}}} : !lines
  %2 = frame.join anti %0, %1 on ["order"] = ["line"] : !orders, !lines -> !orders
  return %2 : !orders
}
