// Rows that lie on the ranks are read where they are; those of a result that stay there are not gathered.
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:3" | FileCheck %s
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:3 seed=4" | FileCheck %s --check-prefix=ANY
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:1" | FileCheck %s --check-prefix=ONE

// Divided by the keys of the groups, which stay where they are: by the same column under its other name.
// CHECK-LABEL: func.func @main
// CHECK-SAME: frame.result_resident = ["key"]
// ONE-LABEL: func.func @main
// ONE-SAME: frame.result_resident = []
func.func @main() -> !frame.table<"key": i64, "n": i64> attributes {frame.result_resident = []} {
  // CHECK: frame.scan "d" ["k"] resident ["k"]
  // CHECK-SAME: dist.split = ["r"]
  // ANY: frame.scan "d" ["k"] resident ["k"]
  // ANY-SAME: dist.split = ["r"]
  %d = frame.scan "d" ["k"] resident ["k"] {statistics = {rows = 900000 : i64, columns = {}}} : !frame.table<"key": i64>
  %g = frame.aggregate %d keys ["key"] measures [#frame.measure<count_star -> "n">]
      : !frame.table<"key": i64> -> !frame.table<"key": i64, "n": i64>
  // CHECK-NOT: dist.exchange
  // CHECK: return
  return %g : !frame.table<"key": i64, "n": i64>
}

// -----

// A column that is not read says nothing, so the groups are exchanged.
// CHECK-LABEL: func.func @main
// CHECK-SAME: frame.result_resident = ["v"]
// CHECK: frame.scan "d" ["v"] resident ["k"]
// CHECK: dist.exchange
func.func @main() -> !frame.table<"v": i64, "n": i64> attributes {frame.result_resident = ["v"]} {
  %d = frame.scan "d" ["v"] resident ["k"] {statistics = {rows = 900000 : i64, columns = {}}} : !frame.table<"v": i64>
  %g = frame.aggregate %d keys ["v"] measures [#frame.measure<count_star -> "n">]
      : !frame.table<"v": i64> -> !frame.table<"v": i64, "n": i64>
  return %g : !frame.table<"v": i64, "n": i64>
}

// -----

// Each rank sorts a range of the order; the ranges lie on the ranks one behind the other.
// CHECK-LABEL: func.func @main
// CHECK: dist.exchange range
// CHECK: frame.sort
// CHECK-NOT: dist.exchange
// CHECK: return
// ONE-LABEL: func.func @main
// ONE-NOT: dist.exchange
func.func @main() -> !frame.table<"k": i64, "v": i64> attributes {frame.result_resident = []} {
  %t = frame.scan "t" ["k", "v"] {statistics = {rows = 90000000 : i64, columns = {}}} : !frame.table<"k": i64, "v": i64>
  %s = frame.sort %t by [#frame.sort_key<"k" desc nulls_first>] : !frame.table<"k": i64, "v": i64>
  return %s : !frame.table<"k": i64, "v": i64>
}
