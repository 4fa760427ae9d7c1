// RUN: not headrace-opt %s --shard-solve="mesh=ranks" 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: error: expected a mesh such as ranks:4 or node:2,gpu:8, got ranks
// RUN: not headrace-opt %s --shard-solve="mesh=ranks:0" 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: mesh axis sizes must be at least 1
// RUN: not headrace-opt %s --shard-solve="mesh=ranks:9 topology=ethernet-slow" 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: error: the mesh needs 9 ranks, but topology ethernet-slow has only 8
// RUN: not headrace-opt %s --shard-solve="mesh=ranks:2 topology=/nowhere.json" 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: user error: no such topology: expected a file, or one of {{.*}}, machine; got /nowhere.json
// RUN: not headrace-opt %s --shard-solve="mesh=r:2 explain=loudly" 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: error: explain must be text or json, got loudly
// RUN: not headrace-opt %s --shard-solve="mesh=r:2" 2>&1 | FileCheck %s --check-prefix=CONFLICT
// CONFLICT: error: no choice of layouts satisfies all constraints
// RUN: not headrace-opt %s --verify-shard 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: error: 'dist.constrain' op must be gone after shard

!t = !frame.table<"a": i64>
func.func @main() -> !t {
  %v = frame.values [[1], [2]] : !t
  %0 = dist.constrain %v : !t to #dist.layout<@mesh, rows = block over ["r"]>
  return %0 : !t
}
