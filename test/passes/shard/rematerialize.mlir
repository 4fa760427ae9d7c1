// What holds nothing but a constant is made again where it is wanted in another layout: nothing moves. What holds
// values is moved.
// Sources: passes/shard/rematerialize.cpp
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:4 topology=ethernet-slow" | FileCheck %s

// CHECK-LABEL: func.func @filled
// CHECK-NOT: dist.all
// CHECK: %[[HERE:.*]] = tensor.empty(%{{.*}}) : tensor<?x6xf32>
// CHECK-NEXT: %[[PART:.*]] = linalg.fill ins(%{{.*}}) outs(%[[HERE]] : tensor<?x6xf32>)
// CHECK-NEXT: linalg.matmul {{.*}} outs(%[[PART]] : tensor<?x6xf32>)
// CHECK-NEXT: dist.all_gather {{.*}} dim 0 over ["r"] : tensor<?x6xf32> -> tensor<12000x6xf32>
// CHECK-NEXT: linalg.matmul {{.*}} -> tensor<12000x6xf32>
// CHECK-NEXT: return
func.func @filled(%h: tensor<12000x100xf32>, %g: tensor<12000x100xf32>, %w: tensor<100x6xf32>)
    -> (tensor<12000x6xf32>, tensor<12000x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12000x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12000x6xf32>) -> tensor<12000x6xf32>
  %rows = dist.constrain %h : tensor<12000x100xf32> to #dist.layout<@mesh, dims = [["r"], []]>
  %a = linalg.matmul ins(%rows, %w : tensor<12000x100xf32>, tensor<100x6xf32>) outs(%z : tensor<12000x6xf32>) -> tensor<12000x6xf32>
  %whole = dist.constrain %g : tensor<12000x100xf32> to #dist.layout<@mesh, dims = [[], []]>
  %b = linalg.matmul ins(%whole, %w : tensor<12000x100xf32>, tensor<100x6xf32>) outs(%z : tensor<12000x6xf32>) -> tensor<12000x6xf32>
  return %a, %b : tensor<12000x6xf32>, tensor<12000x6xf32>
}

// -----

// CHECK-LABEL: func.func @computed
// CHECK: %[[EXP:.*]] = math.exp %{{.*}} : tensor<12000x6xf32>
// CHECK: dist.slice %[[EXP]] dim 0 over ["r"] : tensor<12000x6xf32> -> tensor<?x6xf32>
func.func @computed(%h: tensor<12000x100xf32>, %w: tensor<100x6xf32>, %x: tensor<12000x6xf32>)
    -> (tensor<12000x6xf32>, tensor<12000x6xf32>) {
  %whole = dist.constrain %x : tensor<12000x6xf32> to #dist.layout<@mesh, dims = [[], []]>
  %e = math.exp %whole : tensor<12000x6xf32>
  %kept = dist.constrain %e : tensor<12000x6xf32> to #dist.layout<@mesh, dims = [[], []]>
  %rows = dist.constrain %h : tensor<12000x100xf32> to #dist.layout<@mesh, dims = [["r"], []]>
  %a = linalg.matmul ins(%rows, %w : tensor<12000x100xf32>, tensor<100x6xf32>) outs(%kept : tensor<12000x6xf32>) -> tensor<12000x6xf32>
  return %a, %kept : tensor<12000x6xf32>, tensor<12000x6xf32>
}
