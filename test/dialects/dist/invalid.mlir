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

// expected-error@+1 {{dist.within is an array of axis names, got []}}
func.func private @f() attributes {dist.within = []}

// -----

// expected-error@+1 {{dist.within stands on a frame.window without partition keys}}
func.func private @f() attributes {dist.within = ["r"]}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%t: !frame.table<"a": i64>) {
    // expected-error@+1 {{dist.within stands on a frame.window without partition keys}}
    %0 = frame.window %t partition ["a"] order [] functions [#frame.window_function<row_number -> "n">] {dist.within = ["r"]} : !frame.table<"a": i64> -> !frame.table<"a": i64, "n": i64>
    return
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%t: !frame.table<"a": i64>) {
    // expected-error@+1 {{names an axis that the mesh does not have: "rank"}}
    %0 = frame.window %t partition [] order [] functions [#frame.window_function<row_number -> "n">] {dist.within = ["rank"]} : !frame.table<"a": i64> -> !frame.table<"a": i64, "n": i64>
    return
  }
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

// expected-error@+1 {{dist.resident is the layout of a tensor in even parts, got #dist.layout<@mesh, dims = [["r"] ragged]>}}
func.func private @f(tensor<8xf32> {dist.resident = #dist.layout<@mesh, dims = [["r"] ragged]>})

// -----

// expected-error@+1 {{dist.resident is the layout of a tensor in even parts, got #dist.layout<@mesh, dims = [["r"]]>}}
func.func private @f(f32 {dist.resident = #dist.layout<@mesh, dims = [["r"]]>})

// -----

// expected-error@+1 {{has an unknown attribute of dialect dist: "dist.colour"}}
func.func private @f(tensor<8xf32> {dist.colour = 3 : i64})

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  // expected-error@+1 {{names an axis that the mesh does not have: "rank"}}
  func.func private @f(tensor<8xf32> {dist.resident = #dist.layout<@mesh, dims = [["rank"]]>})
}

// -----

// expected-error@+1 {{rows go in a cycle of a number of one key, got 10 for 2 keys}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, rows = hash<["a", "b"] cycle 10> over ["h"]>]}

// -----

// expected-error@+1 {{rows go in a cycle of a number of one key, got -10 for 1 keys}}
func.func private @f() attributes {dist.layouts = [#dist.layout<@m, rows = hash<["a"] cycle -10> over ["h"]>]}
