// Tensors that lie on the ranks are read in the layout that they have; those of a result that stay there are not
// gathered, each in a layout of its own.
// Sources: passes/shard/shard_program.cpp, passes/shard/localize.cpp
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:4" | FileCheck %s
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:4 seed=3" | FileCheck %s --check-prefix=ANY
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:1" | FileCheck %s --check-prefix=ONE
// RUN: headrace-opt %s --split-input-file --shard-solve="mesh=r:4 explain=text" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

#id = affine_map<(i, j) -> (i, j)>

// WHY: argument: lies on the ranks, dim 1 over r (0.00e+00 s) -> dim 1 over r
// WHY: func.return: stays on the ranks, dim 1 over r

// CHECK-LABEL: func.func @stays
// CHECK-SAME: tensor<1000x?xf32> {dist.resident = #dist.layout<@mesh, dims = {{\[\[}}], ["r"]]>}
// CHECK-SAME: -> tensor<1000x?xf32>
// CHECK-SAME: frame.result_resident = []
// CHECK-NOT: dist.{{all|slice}}
// CHECK: return %{{.*}} : tensor<1000x?xf32>
// ANY-LABEL: func.func @stays
// ANY-SAME: tensor<1000x?xf32> {dist.resident
// ONE-LABEL: func.func @stays
// ONE-SAME: tensor<1000x1000xf32> {dist.resident
// ONE: return %{{.*}} : tensor<1000x1000xf32>
func.func @stays(%w: tensor<1000x1000xf32> {dist.resident = #dist.layout<@mesh, dims = [[], ["r"]]>})
    -> tensor<1000x1000xf32> attributes {frame.result_resident = []} {
  %e = tensor.empty() : tensor<1000x1000xf32>
  %y = linalg.exp ins(%w : tensor<1000x1000xf32>) outs(%e : tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  return %y : tensor<1000x1000xf32>
}

// -----

// Otherwise it goes to the caller whole.
// CHECK-LABEL: func.func @handed_over
// CHECK: dist.all_gather %{{.*}} dim 1 over ["r"]
// CHECK: return %{{.*}} : tensor<1000x1000xf32>
func.func @handed_over(%w: tensor<1000x1000xf32> {dist.resident = #dist.layout<@mesh, dims = [[], ["r"]]>})
    -> tensor<1000x1000xf32> {
  return %w : tensor<1000x1000xf32>
}

// -----

// A program that needs another layout brings it there; each result has its own.
// CHECK-LABEL: func.func @two
// CHECK-SAME: -> (tensor<?x1000xf32>, tensor<1000x?xf32>)
// CHECK: dist.all_to_all %arg0 split 0 concat 1 over ["r"]
// CHECK: return %{{.*}}, %arg0 : tensor<?x1000xf32>, tensor<1000x?xf32>
func.func @two(%w: tensor<1000x1000xf32> {dist.resident = #dist.layout<@mesh, dims = [[], ["r"]]>})
    -> (tensor<1000x1000xf32>, tensor<1000x1000xf32>) attributes {frame.result_resident = []} {
  %rows = dist.constrain %w : tensor<1000x1000xf32> to #dist.layout<@mesh, dims = [["r"], []]>
  return %rows, %w : tensor<1000x1000xf32>, tensor<1000x1000xf32>
}

// -----

// The rows of a query are in parts of any size; whole they are a tensor like others.
// CHECK-LABEL: func.func @rows
// CHECK: dist.all_gather ragged %{{.*}} dim 0 over ["r"]
!t = !frame.table<"x": f32>
func.func @rows() -> tensor<?x1xf32> attributes {frame.result_resident = []} {
  %t = frame.scan "points" ["x"] {statistics = {rows = 1000000 : i64, columns = {}}} : !t
  %x = frame.to_tensor %t [["x"]] : !t -> tensor<?x1xf32>
  return %x : tensor<?x1xf32>
}

// -----

// One without dimensions is whole everywhere.
// CHECK-LABEL: func.func @scalar
// CHECK-SAME: tensor<f32> {dist.resident = #dist.layout<@mesh>}
// CHECK: return %arg0 : tensor<f32>
func.func @scalar(%w: tensor<f32> {dist.resident = #dist.layout<@mesh>}) -> tensor<f32> attributes {frame.result_resident = []} {
  return %w : tensor<f32>
}
