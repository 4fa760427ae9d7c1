// `pipe.to_tensor`: the rows of a stream as tensors of this rank, aligned.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.to_tensor @points {{\[\[}}"x", "y"]] -> tensor<?x2xf64>
pipe.stream @points to_tensor logical [f64, f64] : !pipe.rows<"x": f64, "y": f64>
func.func @main() -> tensor<?x2xf64> {
  %xy = pipe.to_tensor @points [["x", "y"]] -> tensor<?x2xf64>
  return %xy : tensor<?x2xf64>
}

// -----

pipe.stream @points to_tensor logical [f64, f64] : !pipe.rows<"x": f64, "y": f64>
func.func @main() -> tensor<?x2xf64> {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %xy = pipe.to_tensor @points [["x", "y"]] {unknown} -> tensor<?x2xf64>
  return %xy : tensor<?x2xf64>
}
