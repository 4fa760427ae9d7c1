// Layouts forced by the user: a split hidden dimension makes the second matmul's result unreduced; it is reduced
// where it is wanted whole, and scattered while reducing where it is wanted split.
// Sources: passes/shard/insert_reshards.cpp, passes/shard/lower_reshards.cpp, passes/shard/reshard_plan.cpp,
//   passes/shard/localize.cpp
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:4 topology=ethernet-slow" | FileCheck %s

// CHECK-LABEL: func.func @whole
// CHECK: linalg.matmul {{.*}}tensor<12x?xf32>, tensor<?x6xf32>{{.*}} -> tensor<12x6xf32>
// CHECK-NEXT: dist.all_reduce sum %{{.*}} over ["r"] : tensor<12x6xf32>
func.func @whole(%h: tensor<12x10xf32>, %w: tensor<10x6xf32>) -> tensor<12x6xf32> {
  %zero = arith.constant 0.0 : f32
  %split = dist.constrain %h : tensor<12x10xf32> to #dist.layout<@mesh, dims = [[], ["r"]]>
  %w_split = dist.constrain %w : tensor<10x6xf32> to #dist.layout<@mesh, dims = [["r"], []]>
  %e = tensor.empty() : tensor<12x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12x6xf32>) -> tensor<12x6xf32>
  %y = linalg.matmul ins(%split, %w_split : tensor<12x10xf32>, tensor<10x6xf32>) outs(%z : tensor<12x6xf32>) -> tensor<12x6xf32>
  return %y : tensor<12x6xf32>
}

// -----

// CHECK-LABEL: func.func @scattered
// CHECK: linalg.matmul {{.*}} -> tensor<12000x6xf32>
// CHECK-NEXT: dist.reduce_scatter sum %{{.*}} dim 0 over ["r"] : tensor<12000x6xf32> -> tensor<?x6xf32>
// CHECK: math.exp {{.*}} : tensor<?x6xf32>
// CHECK: dist.all_gather {{.*}} dim 0 over ["r"] : tensor<?x6xf32> -> tensor<12000x6xf32>
func.func @scattered(%h: tensor<12000x1000xf32>, %w: tensor<1000x6xf32>) -> tensor<12000x6xf32> {
  %zero = arith.constant 0.0 : f32
  %split = dist.constrain %h : tensor<12000x1000xf32> to #dist.layout<@mesh, dims = [[], ["r"]]>
  %w_split = dist.constrain %w : tensor<1000x6xf32> to #dist.layout<@mesh, dims = [["r"], []]>
  %e = tensor.empty() : tensor<12000x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12000x6xf32>) -> tensor<12000x6xf32>
  %y = linalg.matmul ins(%split, %w_split : tensor<12000x1000xf32>, tensor<1000x6xf32>) outs(%z : tensor<12000x6xf32>) -> tensor<12000x6xf32>
  %rows = dist.constrain %y : tensor<12000x6xf32> to #dist.layout<@mesh, dims = [["r"], []]>
  %exp = math.exp %rows : tensor<12000x6xf32>
  return %exp : tensor<12000x6xf32>
}

// -----

// From parts of one dimension to parts of another.
// CHECK-LABEL: func.func @transposed
// CHECK: dist.all_to_all %{{.*}} split 1 concat 0 over ["r"] : tensor<?x6xf32> -> tensor<12x?xf32>
func.func @transposed(%x: tensor<12x6xf32>) -> tensor<12x6xf32> {
  %rows = dist.constrain %x : tensor<12x6xf32> to #dist.layout<@mesh, dims = [["r"], []]>
  %e = math.exp %rows : tensor<12x6xf32>
  %held = dist.constrain %e : tensor<12x6xf32> to #dist.layout<@mesh, dims = [["r"], []]>
  %columns = dist.constrain %held : tensor<12x6xf32> to #dist.layout<@mesh, dims = [[], ["r"]]>
  return %columns : tensor<12x6xf32>
}
