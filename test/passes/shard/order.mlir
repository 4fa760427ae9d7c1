// The order of a result does not pass through an exchange, in whatever layout.
// Sources: passes/shard/row_order.cpp
// RUN: headrace-opt %s --shard="mesh=r:3 seed=1" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:3 seed=2" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:3 seed=3" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:3 seed=4" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:3 seed=5" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:3 seed=6" | FileCheck %s

!t = !frame.table<"k": i64, "x": i64>
!r = !frame.table<"x": i64>
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "x"] : !t
  // CHECK: frame.sort
  // CHECK-NOT: dist.exchange
  %s = frame.sort %t by [#frame.sort_key<"k" asc nulls_last>] : !t
  %p = frame.project %s keep ["x"] compute [] columns [] {
    frame.yield
  } : !t -> !r
  // CHECK: return
  return %p : !r
}
