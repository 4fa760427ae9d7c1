// Rows become a tensor whose parts have the sizes they happen to have; it is multiplied and reduced where it is.
// RUN: headrace-opt %s --shard="mesh=r:4 topology=ethernet-slow" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:1" | FileCheck %s --check-prefix=ONE

// ONE-NOT: dist.
!t = !frame.table<"k": i64, "x": f32, "y": f32>
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @main
func.func @main(%w: tensor<2x8xf32>) -> tensor<8xf32> {
  // CHECK: frame.scan {{.*}}dist.split = ["r"]
  %t = frame.scan "points" ["k", "x", "y"] {statistics = {rows = 1000000 : i64, columns = {}}} : !t
  %x = frame.to_tensor %t [["x", "y"]] : !t -> tensor<?x2xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NOT: dist.
  // CHECK: linalg.matmul
  %y = linalg.matmul ins(%x, %w : tensor<?x2xf32>, tensor<2x8xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  %e2 = tensor.empty() : tensor<8xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: linalg.generic
  // CHECK: dist.all_reduce sum %{{.*}} over ["r"] : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<?x8xf32>) outs(%z2 : tensor<8xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %sum = arith.addf %acc, %in : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}
