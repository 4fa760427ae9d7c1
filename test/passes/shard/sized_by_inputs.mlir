// The rows of a query times themselves: what the product begins with is sized by its inputs, of which one is gathered.
// Sources: passes/shard/sized_starts.cpp
// RUN: headrace-opt %s --shard="mesh=r:3 topology=ethernet-slow" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:1" | FileCheck %s --check-prefix=ONE

// ONE-NOT: dist.
!t = !frame.table<"x": f64, "y": f64>
#swap = affine_map<(i, j) -> (j, i)>
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @main
func.func @main() -> tensor<?x?xf64> {
  %t = frame.scan "points" ["x", "y"] {statistics = {rows = 1000 : i64, columns = {}}} : !t
  // CHECK: frame.to_tensor
  %x = frame.to_tensor %t [["x", "y"]] : !t -> tensor<?x2xf64>
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf64>
  %e = tensor.empty(%n) : tensor<2x?xf64>
  %transposed = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x2xf64>) outs(%e : tensor<2x?xf64>) {
  ^bb0(%in: f64, %out: f64):
    linalg.yield %in : f64
  } -> tensor<2x?xf64>
  // CHECK: linalg.yield
  // CHECK: %[[M:.*]] = tensor.dim %[[A:.*]], %{{.*}} : tensor<?x2xf64>
  // CHECK: %[[N:.*]] = tensor.dim %[[B:.*]], %{{.*}} : tensor<2x?xf64>
  // CHECK: tensor.empty(%[[M]], %[[N]]) : tensor<?x?xf64>
  %e2 = tensor.empty(%n, %n) : tensor<?x?xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e2 : tensor<?x?xf64>) -> tensor<?x?xf64>
  // CHECK: linalg.matmul ins(%[[A]], %[[B]]
  %y = linalg.matmul ins(%x, %transposed : tensor<?x2xf64>, tensor<2x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}
