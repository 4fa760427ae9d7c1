// Programs of which no tasks can be made are refused, with their place.
// RUN: headrace-opt %s --schedule-tasks --split-input-file --verify-diagnostics

// expected-error@+1 {{no pipeline fills state: count}}
module {
  pipe.state @count scalar [#pipe.field<"n", i64, sum>]
  pipe.stream @out result : !pipe.rows<"n": i64>
  pipe.pipeline @groups {
    %0 = pipe.read @count : !pipe.rows<"n": i64>
    pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
  }
}

// -----

pipe.stream @moved gather over ["ranks"] : !pipe.rows<"n": i64>
pipe.stream @out result : !pipe.rows<"n": i64>
pipe.pipeline @received {
  // expected-error@+1 {{no pipeline writes stream: moved}}
  %0 = pipe.receive @moved : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}

// -----

pipe.state @a join [#pipe.field<"k", i32, key>]
pipe.state @b join [#pipe.field<"k", i32, key>]
pipe.stream @out result : !pipe.rows<"k": i32>
// expected-error@+1 {{pipelines depend on each other in a circle}}
pipe.pipeline @fill_a {
  %0 = pipe.read @b : !pipe.rows<"k": i32>
  pipe.insert %0, @a keys ["k"] : !pipe.rows<"k": i32>
}
pipe.pipeline @fill_b {
  %0 = pipe.read @a : !pipe.rows<"k": i32>
  pipe.insert %0, @b keys ["k"] : !pipe.rows<"k": i32>
}
pipe.pipeline @groups {
  %0 = pipe.read @a : !pipe.rows<"k": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.stream @out result : !pipe.rows<"k": i32>
// expected-error@+1 {{waits for no pipeline of the program: @nobody}}
pipe.pipeline @late {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "k", column = "k">] : !pipe.rows<"k": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"k": i32>
} {after = @nobody}

// -----

// expected-error@+1 {{arguments of a tensor program are tensors, got: 'f32'}}
func.func @main(%x: f32) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{the extents of an argument must be known, got: 'tensor<?xf32>'}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error@+1 {{a tensor program is one block}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{has no task in a tensor program: tensor.pad}}
  %0 = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

func.func @main() -> tensor<?xf32> {
  // expected-error@+1 {{no pipeline writes the rows of: rows0}}
  %0 = pipe.to_tensor @rows0 [["x"]] -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<4xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %x[%c0] : tensor<4xi64>
  %size = arith.index_cast %n : i64 to index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%size) : tensor<?xf32>
  // expected-error@+1 {{an extent that is no query's number of rows must be known, got: 'tensor<?xf32>'}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"], library_call = "main_0"} outs(%e : tensor<?xf32>) {
  ^bb0(%out: f32):
    linalg.yield %one : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  pipe.stream @rows0 to_tensor logical [f32, f32] : !pipe.rows<"x": f32, "y": f32>
  pipe.pipeline @scan {
    %0 = pipe.scan "points" [#pipe.scan_column<file = "x", column = "x">, #pipe.scan_column<file = "y", column = "y">] : !pipe.rows<"x": f32, "y": f32>
    pipe.emit %0, @rows0 keys [] : !pipe.rows<"x": f32, "y": f32>
  }
  func.func @main() -> tensor<?x1xf32> {
    %0 = pipe.to_tensor @rows0 [["x", "y"]] -> tensor<?x2xf32>
    // expected-error@+1 {{parts of run-time size are not moved to another dimension}}
    %1 = dist.all_to_all %0 split 1 concat 0 over ["r"] : tensor<?x2xf32> -> tensor<?x1xf32>
    return %1 : tensor<?x1xf32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  pipe.stream @rows0 to_tensor logical [f32, f32] : !pipe.rows<"x": f32, "y": f32>
  pipe.pipeline @scan {
    %0 = pipe.scan "points" [#pipe.scan_column<file = "x", column = "x">, #pipe.scan_column<file = "y", column = "y">] : !pipe.rows<"x": f32, "y": f32>
    pipe.emit %0, @rows0 keys [] : !pipe.rows<"x": f32, "y": f32>
  }
  func.func @main() -> tensor<?xf32> {
    %0 = pipe.to_tensor @rows0 [["x", "y"]] -> tensor<?x2xf32>
    // expected-error@+1 {{reshapes a dimension that is divided over ranks, got: 'tensor<?xf32>'}}
    %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
    return %1 : tensor<?xf32>
  }
}

// -----

pipe.stream @kept local : !pipe.rows<"k": i32>
pipe.stream @out result : !pipe.rows<"k": i32>
pipe.pipeline @scan {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "k", column = "k">] : !pipe.rows<"k": i32>
  pipe.emit %0, @kept keys [] : !pipe.rows<"k": i32>
}
pipe.pipeline @received {
  // expected-error@+1 {{no exchange brings the chunks of a stream of kind: local}}
  %0 = pipe.receive @kept : !pipe.rows<"k": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"k": i32>
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    // expected-error@+1 {{no collective combines by: product}}
    %0 = dist.all_reduce product %x over ["r"] : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%x: tensor<?x4xf32>) -> tensor<?x1xf32> attributes {dist.arguments = [tensor<8x4xf32>], dist.layouts = [#dist.layout<@mesh, dims = [["r"], []]>]} {
    %0 = dist.all_to_all %x split 1 concat 0 over ["r"] : tensor<?x4xf32> -> tensor<8x?xf32>
    // expected-error@+1 {{takes what only the run knows}}
    %1 = tensor.extract_slice %0[0, 1] [8, 1] [1, 1] : tensor<8x?xf32> to tensor<8x1xf32>
    %2 = dist.slice %1 dim 0 over ["r"] : tensor<8x1xf32> -> tensor<?x1xf32>
    return %2 : tensor<?x1xf32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%x: tensor<8x4xf32>) -> tensor<4xf32> attributes {dist.arguments = [tensor<8x4xf32>], dist.layouts = [#dist.layout<@mesh, dims = [["r"], []]>]} {
    // expected-error@+1 {{takes a part of a dimension that is divided over ranks: 0}}
    %0 = tensor.extract_slice %x[3, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {dist.arguments = [tensor<8x4xf32>], dist.layouts = [#dist.layout<@mesh, dims = [["r"], []]>]} {
    // expected-error@+1 {{needs operands that are divided alike, and whole along the dimension: 0}}
    %0 = tensor.concat dim(0) %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%x: tensor<?x4xf32>, %i: tensor<3x1xi64>) -> tensor<3x4xf32> attributes {dist.arguments = [tensor<8x4xf32>, tensor<3x1xi64>], dist.layouts = [#dist.layout<@mesh, dims = [["r"], []]>, #dist.layout<@mesh, dims = [[], []]>]} {
    // expected-error@+1 {{takes rows of a dimension that is divided over ranks: 0}}
    %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<?x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }
}

// -----

func.func @main() -> tensor<2xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error@+1 {{takes elements of a tensor that nothing fills}}
  %0 = tensor.extract_slice %e[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  // expected-error@+1 {{a layout of other dimensions than its argument: #dist.layout<@mesh, dims = [["r"]]>}}
  func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {dist.arguments = [tensor<8x4xf32>], dist.layouts = [#dist.layout<@mesh, dims = [["r"]]>]} {
    return %x : tensor<?x4xf32>
  }
}
