// RUN: headrace-opt %s --stop-after=form | FileCheck %s

// A table that several ops read is computed once: groups stay where they are, each reader goes through the state; the
// rows of a join are kept in one; what is only filtered is read again.

// CHECK-COUNT-1: pipe.state @aggregate0 group
// CHECK: pipe.lookup
// CHECK: pipe.combine {{.*}}, @aggregate0
// CHECK: pipe.read @aggregate0
// CHECK: pipe.map {{.*}} [] []
// CHECK: pipe.combine {{.*}}, @aggregate1
// CHECK: pipe.pipeline @shared_rows
// CHECK: pipe.read @aggregate0
// CHECK: pipe.lookup {{.*}} inner keys ["total"]
// CHECK-NOT: pipe.scan

!lines = !frame.table<"key": i64, "price": i64>
!parts = !frame.table<"part": i64>
!sums = !frame.table<"key": i64, "total": i64>
!top = !frame.table<"top": !frame.nullable<i64>>
!both = !frame.table<"key": i64, "total": i64, "top": !frame.nullable<i64>>
func.func @main() -> !both {
  %0 = frame.scan "lines" ["l_key", "l_price"] : !lines
  %1 = frame.scan "parts" ["p_part"] : !parts
  %2 = frame.join semi %0, %1 on ["key"] = ["part"] : !lines, !parts -> !lines
  %3 = frame.aggregate %2 keys ["key"] measures [#frame.measure<sum("price") -> "total">] : !lines -> !sums
  %4 = frame.aggregate %3 keys [] measures [#frame.measure<max("total") -> "top">] : !sums -> !top
  %5 = frame.join inner %3, %4 on ["total"] = ["top"] : !sums, !top -> !both
  return %5 : !both
}
