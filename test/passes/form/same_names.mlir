// Sources: passes/form/joins.cpp
// RUN: headrace-opt %s --stop-after=form | FileCheck %s

// The sides of a semi join may both have a name, since the right one's columns do not come out. Here the left side is
// the table, and its column of the name of the right one's key comes out.

// CHECK: pipe.scan "orders"
// CHECK: pipe.insert {{.*}}, @build0 keys ["order"] drop_null_keys : <"order": i32, "key": i32
// CHECK: pipe.scan "lines"
// CHECK: pipe.lookup {{.*}}, @build0 {{ *}}seen keys ["key"]
// CHECK: pipe.read @build0
// CHECK: pipe.emit {{.*}}, @result keys [] : <"order": i32, "key": i32>

!orders = !frame.table<"order": i64, "key": i64>
!lines = !frame.table<"key": i64>
func.func @main() -> !orders {
  %0 = frame.scan "orders" ["o_key", "o_other"] {statistics = {rows = 1000 : i64, row_groups = 1 : i64, columns = {
      o_key = {min = 1 : i64, max = 1000000 : i64, distinct = 1000 : i64},
      o_other = {min = 1 : i64, max = 1000000 : i64, distinct = 1000 : i64}}}} : !orders
  %1 = frame.scan "lines" ["l_key"] {statistics = {rows = 4000 : i64, row_groups = 1 : i64, columns = {
      l_key = {min = 1 : i64, max = 1000000 : i64, distinct = 1000 : i64}}}} : !lines
  %2 = frame.join semi %0, %1 on ["order"] = ["key"] : !orders, !lines -> !orders
  return %2 : !orders
}
