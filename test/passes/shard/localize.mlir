// From the global view to one rank's: split dimensions become ?, scans read a share, layouts are gone.
// RUN: headrace-opt %s --dist-localize | FileCheck %s

!t = !frame.table<"k": i64>
#rows = #dist.layout<@mesh, dims = [["r"], []]>
#whole = #dist.layout<@mesh, dims = [[], []]>
#block = #dist.layout<@mesh, rows = block over ["r"]>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  // Those of the arguments stay, with their types in the global view.
  // CHECK-LABEL: func.func @tensors(%arg0: tensor<?x4xf32>)
  // CHECK-SAME: dist.arguments = [tensor<9x4xf32>], dist.layouts = [#dist.layout<@mesh, dims = {{\[\[}}"r"], []]>]
  func.func @tensors(%x: tensor<9x4xf32>) -> tensor<9x4xf32> attributes {dist.layouts = [#rows]} {
    // CHECK: %[[NINE:.*]] = arith.constant 9 : index
    // CHECK: %[[SIZE:.*]] = dist.local_extent %[[NINE]] over ["r"]
    // CHECK: tensor.empty(%[[SIZE]]) : tensor<?x4xf32>
    %e = tensor.empty() {dist.layouts = [#rows]} : tensor<9x4xf32>
    // CHECK: linalg.exp ins(%{{.*}} : tensor<?x4xf32>) outs(%{{.*}} : tensor<?x4xf32>) -> tensor<?x4xf32>
    %0 = linalg.exp {dist.layouts = [#rows], dist.needs = [#rows, #rows]} ins(%x : tensor<9x4xf32>) outs(%e : tensor<9x4xf32>) -> tensor<9x4xf32>
    // CHECK: dist.all_gather %{{.*}} dim 0 over ["r"] : tensor<?x4xf32> -> tensor<9x4xf32>
    // CHECK-NOT: dist.needs
    %1 = dist.all_gather %0 dim 0 over ["r"] {dist.layouts = [#whole]} : tensor<9x4xf32> -> tensor<9x4xf32>
    return {dist.needs = [#whole]} %1 : tensor<9x4xf32>
  }

  // A constant is cut.
  // CHECK-LABEL: func.func @constant
  func.func @constant() -> tensor<8x4xf32> {
    // CHECK: %[[ALL:.*]] = arith.constant dense<{{.*}}> : tensor<8x4xf32>
    // CHECK: %[[PART:.*]] = dist.slice %[[ALL]] dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf32>
    // CHECK: dist.all_gather %[[PART]]
    %c = arith.constant {dist.layouts = [#rows]} dense<2.0> : tensor<8x4xf32>
    %0 = dist.all_gather %c dim 0 over ["r"] {dist.layouts = [#whole]} : tensor<8x4xf32> -> tensor<8x4xf32>
    return {dist.needs = [#whole]} %0 : tensor<8x4xf32>
  }

  // What is taken whole has the size of this rank's part, also where another dimension is cut or has gone.
  // CHECK-LABEL: func.func @slices(%arg0: tensor<?x4xf32>)
  func.func @slices(%x: tensor<9x4xf32>) -> tensor<9x5xf32> attributes {dist.layouts = [#rows]} {
    // CHECK: %[[ROWS:.*]] = tensor.dim %arg0, %{{.*}} : tensor<?x4xf32>
    // CHECK: %[[SOME:.*]] = tensor.extract_slice %arg0[0, 1] [%[[ROWS]], 2] [1, 1] {note = "kept"} : tensor<?x4xf32> to tensor<?x2xf32>
    %0 = tensor.extract_slice %x[0, 1] [9, 2] [1, 1] {dist.layouts = [#rows], dist.needs = [#rows], note = "kept"} : tensor<9x4xf32> to tensor<9x2xf32>
    // CHECK: %[[MORE:.*]] = tensor.dim %arg0, %{{.*}} : tensor<?x4xf32>
    // CHECK: tensor.extract_slice %arg0[0, 3] [%[[MORE]], 1] [1, 1] : tensor<?x4xf32> to tensor<?xf32>
    %1 = tensor.extract_slice %x[0, 3] [9, 1] [1, 1] {dist.layouts = [#dist.layout<@mesh, dims = [["r"]]>], dist.needs = [#rows]} : tensor<9x4xf32> to tensor<9xf32>
    // CHECK: tensor.expand_shape
    %2 = tensor.expand_shape %1 [[0, 1]] output_shape [9, 1] {dist.layouts = [#rows], dist.needs = [#dist.layout<@mesh, dims = [["r"]]>]} : tensor<9xf32> into tensor<9x1xf32>
    // CHECK: tensor.concat dim(1) %[[SOME]], %{{.*}}, %[[SOME]] : (tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x2xf32>) -> tensor<?x5xf32>
    %3 = tensor.concat dim(1) %0, %2, %0 {dist.layouts = [#rows], dist.needs = [#rows, #rows, #rows]} : (tensor<9x2xf32>, tensor<9x1xf32>, tensor<9x2xf32>) -> tensor<9x5xf32>
    %4 = dist.all_gather %3 dim 0 over ["r"] {dist.layouts = [#whole]} : tensor<9x5xf32> -> tensor<9x5xf32>
    return {dist.needs = [#whole]} %4 : tensor<9x5xf32>
  }

  // CHECK-LABEL: func.func @tables
  func.func @tables() -> (!t, !t, !t) {
    // CHECK: frame.scan "t" ["k"] {dist.split = ["r"]}
    // CHECK: frame.scan "u" ["k"] :
    // CHECK: %[[ALL:.*]] = frame.scan "v" ["k"] :
    // CHECK: dist.keep %[[ALL]] keys ["k"] cycle 1000 over ["r"]
    %t = frame.scan "t" ["k"] {dist.layouts = [#block]} : !t
    %u = frame.scan "u" ["k"] {dist.layouts = [#dist.layout<@mesh>]} : !t
    %v = frame.scan "v" ["k"] {dist.layouts = [#dist.layout<@mesh, rows = hash<["k"] cycle 1000> over ["r"]>]} : !t
    return %t, %u, %v : !t, !t, !t
  }
}
