// A window is computed where its partitions are together: by the hash of some partition keys, or on the first rank.
// RUN: headrace-opt %s --shard="mesh=r:3" -split-input-file | FileCheck %s

!t = !frame.table<"k": i64, "x": i64>
!r = !frame.table<"k": i64, "x": i64, "n": i64>

// CHECK-LABEL: func.func @main
// CHECK: %[[OWN:.*]] = dist.{{keep|exchange hash}} %{{.*}} keys ["k"]
// CHECK: frame.window %[[OWN]] partition ["k"]
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "x"] {statistics = {rows = 10000000 : i64, columns = {k = {min = 0 : i64, max = 100000 : i64, distinct = 100000 : i64}}}} : !t
  %w = frame.window %t partition ["k"] order [] functions [#frame.window_function<row_number -> "n">] : !t -> !r
  return %w : !r
}

// -----

!t = !frame.table<"k": i64, "x": i64>
!r = !frame.table<"k": i64, "x": i64, "n": i64>

// CHECK-LABEL: func.func @main
// CHECK: %[[ALL:.*]] = dist.{{keep|exchange gather}} %{{.*}} over ["r"]
// CHECK: frame.window %[[ALL]] partition []
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "x"] {statistics = {rows = 10000000 : i64, columns = {}}} : !t
  %w = frame.window %t partition [] order [] functions [#frame.window_function<row_number -> "n">] : !t -> !r
  return %w : !r
}
