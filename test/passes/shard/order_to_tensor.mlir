// Rows that become a tensor keep their order, in whatever layout: they are sorted on one rank, which has all of them, or each rank sorts a range and one gets the ranges.
// RUN: headrace-opt %s --shard="mesh=r:3" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:3 seed=1" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:3 seed=2" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:3 seed=3" | FileCheck %s

!t = !frame.table<"k": i64, "x": i64>
func.func @main() -> tensor<?xi64> {
  %t = frame.scan "t" ["k", "x"] : !t
  // CHECK: frame.sort
  // CHECK-NOT: dist.exchange {{hash|range}}
  %s = frame.sort %t by [#frame.sort_key<"k" asc nulls_last>] : !t
  // CHECK: %[[X:.*]] = frame.to_tensor
  %x = frame.to_tensor %s [["x"]] : !t -> tensor<?xi64>
  // CHECK: dist.all_gather ragged %[[X]] dim 0
  return %x : tensor<?xi64>
}
