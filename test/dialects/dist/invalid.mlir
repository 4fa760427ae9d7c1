// RUN: headrace-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{a layout uses every mesh axis at most once, got twice: "g"}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, dims = [["g"], ["g"]]>]}

// -----

// expected-error@+1 {{a layout uses every mesh axis at most once, got twice: "g"}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, dims = [["g"]], unreduced = {"g": sum}>]}

// -----

// expected-error@+1 {{a layout splits dims or rows, not both}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, dims = [["g"]], rows = block over ["h"]>]}

// -----

// expected-error@+1 {{a pair of exchanges has a number from 0 on, got -1}}
func.func private @f() attributes {heavy = #dist.skew<pair = -1, heavy = spread>}

// -----

// expected-error@+1 {{rows need keys for hash}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, rows = hash over ["h"]>]}

// -----

// expected-error@+1 {{rows need an order for range}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, rows = range<[]> over ["h"]>]}

// -----

// expected-error@+1 {{rows need an order for range}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, rows = range<["k"]> over ["h"]>]}

// -----

// expected-error@+1 {{rows take no keys for block}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, rows = block<["k"]> over ["h"]>]}

// -----

// expected-error@+1 {{rows must be split over at least one axis}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, rows = block over []>]}

// -----

// expected-error@+1 {{expected block, hash, range, scattered or root, got magic}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, rows = magic over ["h"]>]}

// -----

// expected-error@+1 {{unknown way to combine: mean}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, unreduced = {"h": mean}>]}

// -----

// expected-error@+1 {{expected dims, rows or unreduced, got columns}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, columns = []>]}

// -----

// expected-error@+1 {{dist.layouts must be an array of #dist.layout}}
func.func private @f() attributes {dist.layouts = [1]}

// -----

// expected-error@+1 {{dist.split is an array of axis names, got 3}}
func.func private @f() attributes {dist.split = 3 : i64}

// -----

// expected-error@+1 {{unknown attribute of dialect dist: dist.colour}}
func.func private @f() attributes {dist.colour = 3 : i64}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%x: tensor<8x4xf32>) {
    // expected-error@+1 {{a layout needs one entry in dims per dimension, got 1 for 'tensor<8x4xf32>'}}
    %0 = dist.constrain %x : tensor<8x4xf32> to #dist.layout<@mesh, dims = [["r"]]>
    return
  }
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{only a table has rows}}
  %0 = dist.constrain %x : tensor<8xf32> to #dist.layout<@mesh, rows = block over ["r"]>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{a table has rows, not dims}}
  %0 = dist.constrain %x : !frame.table<"a": i64> to #dist.layout<@mesh, dims = [["r"]]>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{the table has no column "b"}}
  %0 = dist.constrain %x : !frame.table<"a": i64> to #dist.layout<@mesh, rows = hash<["b"]> over ["r"]>
  return
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%x: tensor<8xf32>) {
    // expected-error@+1 {{has a layout on another mesh than the module's: @mush}}
    %0 = dist.constrain %x : tensor<8xf32> to #dist.layout<@mush, dims = [["r"]]>
    return
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%x: tensor<8xf32>) {
    // expected-error@+1 {{names an axis that the mesh does not have: "q"}}
    %0 = dist.constrain %x : tensor<8xf32> to #dist.layout<@mesh, dims = [["q"]]>
    return
  }
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{cannot make a value unreduced}}
  %0 = dist.reshard %x : tensor<8xf32> from #dist.layout<@mesh, dims = [["r"]]>
      to #dist.layout<@mesh, dims = [[]], unreduced = {"r": sum}>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{needs keys for hash}}
  %0 = dist.exchange hash %x over ["r"] : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{takes no keys for gather}}
  %0 = dist.exchange gather %x keys ["a"] over ["r"] : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{needs an order for range}}
  %0 = dist.exchange range %x over ["r"] : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{takes no skew for gather}}
  %0 = dist.exchange gather %x over ["r"] skew <pair = 0, heavy = spread> : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{takes no order for hash}}
  %0 = dist.exchange hash %x keys ["a"] order [#frame.sort_key<"a" asc nulls_last>] over ["r"] : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{key is not a column of the input: "b"}}
  %0 = dist.exchange range %x order [#frame.sort_key<"b" asc nulls_last>] over ["r"] : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{must give the columns of its input and an i64 named "rank", got}}
  %0 = dist.place %x as "rank" over ["r"] : !frame.table<"a": i64> -> !frame.table<"rank": i64, "a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{has a key that is not a column of the table: "b"}}
  %0 = dist.exchange hash %x keys ["b"] over ["r"] : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{needs at least one axis}}
  %0 = dist.exchange gather %x over [] : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{names an axis twice: "r"}}
  %0 = dist.exchange gather %x over ["r", "r"] : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{combines tensors by sum, max, min or product, got topk}}
  %0 = dist.all_reduce topk %x over ["r"] : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{has no dimension 1}}
  %0 = dist.all_gather %x dim 1 over ["r"] : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{changes the size of another dimension: 1}}
  %0 = dist.all_gather %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<16x3xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{needs input and result of the same rank and element type}}
  %0 = dist.slice %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf64>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{combines tensors by sum, max, min or product, got limit}}
  %0 = dist.reduce_scatter limit %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{splits and concatenates the same dimension: 0}}
  %0 = dist.all_to_all %x split 0 concat 0 over ["r"] : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%e: index) {
    // expected-error@+1 {{names an axis that the mesh does not have: "q"}}
    %0 = dist.local_extent %e over ["q"]
    return
  }
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{needs one layout per operand and result}}
  %0 = dist.manual (%x) in [] out [#dist.layout<@mesh, dims = [["r"]]>] {
  ^bb0(%local: tensor<?xf32>):
    dist.yield %local : tensor<?xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{needs as many block arguments as layouts, got 0}}
  %0 = dist.manual (%x) in [#dist.layout<@mesh, dims = [["r"]]>] out [#dist.layout<@mesh, dims = [[]]>] {
    %1 = tensor.empty() : tensor<8xf32>
    dist.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{needs local type 'tensor<?xf32>' among its block arguments, got 'tensor<8xf32>'}}
  %0 = dist.manual (%x) in [#dist.layout<@mesh, dims = [["r"]]>] out [#dist.layout<@mesh, dims = [[]]>] {
  ^bb0(%local: tensor<8xf32>):
    dist.yield %local : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

!t = !frame.table<"k": i64>
!u = !frame.table<"j": i64>
func.func @f(%t: !t, %u: !u) -> !t {
  // expected-error@+1 {{needs regions that yield a table of type '!frame.table<"k": i64>'}}
  %0 = dist.choose %t at_most 5 {
    dist.yield %t : !t
  } else {
    dist.yield %u : !u
  } : !t -> !t
  return %0 : !t
}

// -----

!t = !frame.table<"k": i64>
func.func @f(%t: !t) -> !t {
  // expected-error@+1 {{needs a bound of rows that is not negative, got -1}}
  %0 = dist.choose %t at_most -1 {
    dist.yield %t : !t
  } else {
    dist.yield %t : !t
  } : !t -> !t
  return %0 : !t
}

// -----

!t = !frame.table<"k": i64>
func.func @f(%t: !t) -> !t {
  // expected-error@+1 {{dist.choose is a dictionary with at_most and three levels on a frame.join, got 3 : i64}}
  %0 = dist.exchange gather %t over ["r"] {dist.choose = 3 : i64} : !t
  return %0 : !t
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{has a key that is not a column of the table: "b"}}
  %0 = dist.keep %x keys ["b"] over ["r"] : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": f64>) {
  // expected-error@+1 {{cannot keep rows by a float: "a"}}
  %0 = dist.keep %x keys ["a"] over ["r"] : !frame.table<"a": f64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{needs at least one axis}}
  %0 = dist.keep %x over [] : !frame.table<"a": i64>
  return
}

// -----

// expected-error@+1 {{dist.split stands on a frame.scan only}}
func.func private @f() attributes {dist.split = ["r"]}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f() {
    // expected-error@+1 {{names an axis that the mesh does not have: "rank"}}
    %0 = frame.scan "t" ["a"] {dist.split = ["rank"]} : !frame.table<"a": i64>
    return
  }
}

// -----

func.func @f(%t: !frame.table<"a": i64>) {
  // expected-error@+1 {{'dist.keep' op has an unknown attribute: "axis"}}
  %0 = dist.keep %t over ["r"] {axis = "r"} : !frame.table<"a": i64>
  return
}

// -----

// expected-error@+1 {{dist.arguments stands beside a layout for each of 1 arguments}}
func.func @f(%t: tensor<2x?xf32>) attributes {dist.arguments = [tensor<2x4xf32>]} {
  return
}

// -----

// expected-error@+1 {{dist.arguments is the types of a function's arguments, got [f32, f32]}}
func.func @f(%t: !frame.table<"a": i64>) attributes {dist.arguments = [f32, f32]} {
  return
}

// -----

func.func @f(%t: !frame.table<"a": i64>) {
  // expected-error@+1 {{dist.levels is an array of booleans, got [true]}}
  %0 = dist.keep %t over ["r"] {dist.levels = [true]} : !frame.table<"a": i64>
  return
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("node", 2), ("gpu", 4)]>} {
  func.func @toward_others(%x: !frame.table<"a": i64>) -> !frame.table<"a": i64> {
    // expected-error@+1 {{goes toward ranks along its own axes and others, in the order of the mesh, got ["gpu"] over ["node"]}}
    %0 = dist.exchange hash %x keys ["a"] over ["node"] toward ["gpu"] : !frame.table<"a": i64>
    return %0 : !frame.table<"a": i64>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("node", 2), ("gpu", 4)]>} {
  func.func @toward_in_another_order(%x: !frame.table<"a": i64>) -> !frame.table<"a": i64> {
    // expected-error@+1 {{in the order of the mesh, got ["gpu", "node"] over ["node"]}}
    %0 = dist.exchange hash %x keys ["a"] over ["node"] toward ["gpu", "node"] : !frame.table<"a": i64>
    return %0 : !frame.table<"a": i64>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("node", 2), ("gpu", 4)]>} {
  func.func @gathered_toward(%x: !frame.table<"a": i64>) -> !frame.table<"a": i64> {
    // expected-error@+1 {{goes toward ranks only by hash, without skew}}
    %0 = dist.exchange gather %x over ["node"] toward ["node", "gpu"] : !frame.table<"a": i64>
    return %0 : !frame.table<"a": i64>
  }
}
