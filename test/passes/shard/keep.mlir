// A table that every rank has moves to a hash layout, or to one rank, without communication: each rank keeps its part.
// RUN: headrace-opt %s --shard="mesh=r:4" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:1" | FileCheck %s --check-prefix=ONE
// ONE-NOT: dist.keep

!t = !frame.table<"a": i64, "x": f64>
// CHECK-LABEL: @hashed
func.func @hashed() -> !t {
  // CHECK: %[[ALL:.*]] = frame.values
  // CHECK: %[[PART:.*]] = dist.keep %[[ALL]] keys ["a"] over ["r"]
  // CHECK: dist.exchange gather %[[PART]]
  %v = frame.values [[1, 1.0], [2, 2.0]] : !t
  %0 = dist.constrain %v : !t to #dist.layout<@mesh, rows = hash<["a"]> over ["r"]>
  return %0 : !t
}

// Where it does not matter which rank keeps a row, the columns decide that are alike on all ranks: not the float.
// CHECK-LABEL: @scattered
func.func @scattered() -> !t {
  // CHECK: dist.keep %{{.*}} keys ["a"] over ["r"]
  %v = frame.values [[1, 1.0], [2, 2.0]] : !t
  %0 = dist.constrain %v : !t to #dist.layout<@mesh, rows = scattered over ["r"]>
  return %0 : !t
}

// CHECK-LABEL: @root
func.func @root() -> !t {
  // CHECK: dist.keep %{{.*}} over ["r"]
  // CHECK-NOT: dist.exchange
  %v = frame.values [[1, 1.0]] : !t
  %0 = dist.constrain %v : !t to #dist.layout<@mesh, rows = root over ["r"]>
  return %0 : !t
}
