// RUN: headrace-opt %s --optimize-reduce-groups --split-input-file | FileCheck %s

!lines = !frame.table<"l_part": i64, "l_count": i64>
!parts = !frame.table<"part": i64, "name": !frame.string>
!sums = !frame.table<"l_part": i64, "total": i64>
!joined = !frame.table<"part": i64, "name": !frame.string, "l_part": i64, "total": i64>

// Few parts ask for sums: only their lines are grouped.
// CHECK-LABEL: func.func @few
// CHECK: %[[PARTS:.*]] = frame.filter
// CHECK: %[[LINES:.*]] = frame.scan "lines"
// CHECK: %[[KEPT:.*]] = frame.join semi %[[LINES]], %[[PARTS]] on ["l_part"] = ["part"]
// CHECK: %[[SUMS:.*]] = frame.aggregate %[[KEPT]]
// CHECK: frame.join inner %[[PARTS]], %[[SUMS]]
func.func @few() -> !joined {
  %0 = frame.scan "parts" ["part", "name"] {statistics = {rows = 20000 : i64, columns = {
      part = {min = 1 : i64, max = 20000 : i64}, name = {distinct = 5000 : i64}}}} : !parts
  %1 = frame.filter %0 columns ["name"] {
  ^bb0(%name: !frame.string):
    %value = frame.constant "a" : !frame.string
    %p = frame.compare eq %name, %value : (!frame.string, !frame.string) -> i1
    frame.yield %p : i1
  } : !parts
  %2 = frame.scan "lines" ["l_part", "l_count"] {statistics = {rows = 1000000 : i64, columns = {
      l_part = {min = 1 : i64, max = 20000 : i64, distinct = 20000 : i64}}}} : !lines
  %3 = frame.aggregate %2 keys ["l_part"] measures [#frame.measure<sum("l_count") -> "total">] : !lines -> !sums
  %4 = frame.join inner %1, %3 on ["part"] = ["l_part"] : !parts, !sums -> !joined
  return %4 : !joined
}

// -----

!lines = !frame.table<"l_part": i64, "l_count": i64>
!parts = !frame.table<"part": i64, "name": !frame.string>
!sums = !frame.table<"l_part": i64, "total": i64>
!joined = !frame.table<"part": i64, "name": !frame.string, "l_part": i64, "total": i64>

// All of them: nothing is left out.
// CHECK-LABEL: func.func @all
// CHECK-NOT: frame.join semi
func.func @all() -> !joined {
  %0 = frame.scan "parts" ["part", "name"] {statistics = {rows = 20000 : i64, columns = {
      part = {min = 1 : i64, max = 20000 : i64}}}} : !parts
  %2 = frame.scan "lines" ["l_part", "l_count"] {statistics = {rows = 1000000 : i64, columns = {
      l_part = {min = 1 : i64, max = 20000 : i64, distinct = 20000 : i64}}}} : !lines
  %3 = frame.aggregate %2 keys ["l_part"] measures [#frame.measure<sum("l_count") -> "total">] : !lines -> !sums
  %4 = frame.join inner %0, %3 on ["part"] = ["l_part"] : !parts, !sums -> !joined
  return %4 : !joined
}

// -----

!lines = !frame.table<"l_part": i64, "l_count": i64>
!parts = !frame.table<"part": i64, "name": !frame.string>
!sums = !frame.table<"l_part": i64, "total": i64>
!filled = !frame.table<"l_part": i64, "total": i64, "part": !frame.nullable<i64>, "name": !frame.nullable<!frame.string>>

// A left join keeps every group of its left side.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: frame.join semi
func.func @kept() -> !filled {
  %0 = frame.scan "parts" ["part", "name"] {statistics = {rows = 20 : i64, columns = {
      part = {min = 1 : i64, max = 20 : i64}}}} : !parts
  %2 = frame.scan "lines" ["l_part", "l_count"] {statistics = {rows = 1000000 : i64, columns = {
      l_part = {min = 1 : i64, max = 20000 : i64, distinct = 20000 : i64}}}} : !lines
  %3 = frame.aggregate %2 keys ["l_part"] measures [#frame.measure<sum("l_count") -> "total">] : !lines -> !sums
  %4 = frame.join left %3, %0 on ["l_part"] = ["part"] : !sums, !parts -> !filled
  return %4 : !filled
}
