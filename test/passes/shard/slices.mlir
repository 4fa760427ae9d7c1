// Slices and concatenations: what is taken whole may be divided, a dimension that is cut, or along which operands
// follow each other, is whole on every rank.
// Sources: dialects/interfaces/ShardingRule.cpp, dialects/interfaces/TensorSlice.cpp
// RUN: headrace-opt %s --shard="mesh=r:2 topology=ethernet-slow" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:2 topology=ethernet-slow" --form --schedule-tasks | FileCheck %s --check-prefix=TASKS

#rows = #dist.layout<@mesh, dims = [["r"], []]>
#columns = #dist.layout<@mesh, dims = [[], ["r"]]>
// CHECK-LABEL: func.func @main(%arg0: tensor<?x6xf32>)
// CHECK-NEXT: %[[ALL:.*]] = dist.all_gather %arg0 dim 0
// TASKS: %[[X:.*]] = sched.input 0 "arg0" : <host, tensor<8x6xf32>, {{\[\[}}"r"], []]>
func.func @main(%x: tensor<8x6xf32>) -> (tensor<8x7xf32>, tensor<3x6xf32>) {
  %placed = dist.constrain %x : tensor<8x6xf32> to #rows
  // CHECK-NOT: dist.
  // CHECK: %[[A:.*]] = tensor.extract_slice %arg0[0, 2] [%{{.*}}, 4] [1, 1] : tensor<?x6xf32> to tensor<?x4xf32>
  // CHECK: %[[B:.*]] = tensor.extract_slice %arg0[0, 5] [%{{.*}}, 3] [1, -2] : tensor<?x6xf32> to tensor<?x3xf32>
  // CHECK: tensor.concat dim(1) %[[A]], %[[B]] : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x7xf32>
  // TASKS: %[[A:.*]] = sched.compute slice(%[[X]]) parameters [0, 2, 8, 4, 1, 1] label "extract_slice"
  // TASKS: %[[B:.*]] = sched.compute slice(%[[X]]) parameters [0, 5, 8, 3, 1, -2] label "extract_slice"
  // TASKS: sched.compute concat(%[[A]], %[[B]]) parameters [1] label "concat" {{.*}} -> !sched.buffer<host, tensor<8x7xf32>, {{\[\[}}"r"], []]>
  %a = tensor.extract_slice %placed[0, 2] [8, 4] [1, 1] : tensor<8x6xf32> to tensor<8x4xf32>
  %b = tensor.extract_slice %placed[0, 5] [8, 3] [1, -2] : tensor<8x6xf32> to tensor<8x3xf32>
  %c = tensor.concat dim(1) %a, %b : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x7xf32>
  %d = dist.constrain %c : tensor<8x7xf32> to #rows
  // CHECK: tensor.extract_slice %[[ALL]][2, 0] [3, 6] [2, 1] : tensor<8x6xf32> to tensor<3x6xf32>
  %e = tensor.extract_slice %placed[2, 0] [3, 6] [2, 1] : tensor<8x6xf32> to tensor<3x6xf32>
  return %d, %e : tensor<8x7xf32>, tensor<3x6xf32>
}
