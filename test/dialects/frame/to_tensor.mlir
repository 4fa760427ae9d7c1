// `frame.to_tensor`: turns numeric columns into tensors whose rows align.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.to_tensor %{{.*}} {{\[\[}}"x", "y"], ["weight"]] : <"x": f64, "y": f64, "weight": !frame.decimal<15, 2>> -> tensor<?x2xf64>, tensor<?xf64>
!points = !frame.table<"x": f64, "y": f64, "weight": !frame.decimal<15, 2>>
func.func @to_tensor(%t: !points) {
  %xy, %w = frame.to_tensor %t [["x", "y"], ["weight"]]
      : !points -> tensor<?x2xf64>, tensor<?xf64>
  return
}

// -----

func.func @to_tensor_c1(%t: !frame.table<"a": f64>) {
  // expected-error @+1 {{needs one group of columns per result, got 2 for 1}}
  %0 = frame.to_tensor %t [["a"], ["a"]] : !frame.table<"a": f64> -> tensor<?xf64>
  return
}

// -----

func.func @to_tensor_c1_empty(%t: !frame.table<"a": f64>) {
  // expected-error @+1 {{a group of columns must not be empty}}
  %0 = frame.to_tensor %t [[]] : !frame.table<"a": f64> -> tensor<?x0xf64>
  return
}

// -----

func.func @to_tensor_c2(%t: !frame.table<"a": !frame.string>) {
  // expected-error @+1 {{needs numeric columns of the input, got: "a"}}
  %0 = frame.to_tensor %t [["a"]] : !frame.table<"a": !frame.string> -> tensor<?xf64>
  return
}

// -----

func.func @to_tensor_c3(%t: !frame.table<"a": f64, "b": f64>) {
  // expected-error @+1 {{a group of 2 columns needs a result tensor<?x2xT> (or tensor<?xT> for one column), got 'tensor<?x3xf64>'}}
  %0 = frame.to_tensor %t [["a", "b"]] : !frame.table<"a": f64, "b": f64> -> tensor<?x3xf64>
  return
}

// -----

func.func @to_tensor_c4(%t: !frame.table<"a": f64>) {
  // expected-error @+1 {{element type must be f32 or f64, or i64 for whole numbers, got 'i32' for column "a": 'f64'}}
  %0 = frame.to_tensor %t [["a"]] : !frame.table<"a": f64> -> tensor<?xi32>
  return
}
