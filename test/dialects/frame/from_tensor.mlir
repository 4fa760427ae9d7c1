// `frame.from_tensor`: turns the columns of a tensor into a table.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.from_tensor %{{.*}} : tensor<?x2xf64> -> <"x": f64, "y": f64>
func.func @from_tensor(%t: tensor<?x2xf64>) {
  %0 = frame.from_tensor %t : tensor<?x2xf64> -> !frame.table<"x": f64, "y": f64>
  return
}

// -----

func.func @from_tensor_c1(%t: tensor<?x?xf64>) {
  // expected-error @+1 {{needs a tensor of rank 1, or of rank 2 with a static second dimension, got 'tensor<?x?xf64>'}}
  %0 = frame.from_tensor %t : tensor<?x?xf64> -> !frame.table<"a": f64>
  return
}

// -----

func.func @from_tensor_c2(%t: tensor<?x2xf64>) {
  // expected-error @+1 {{needs a result of 2 columns of type 'f64', got '!frame.table<"a": f64, "b": f32>'}}
  %0 = frame.from_tensor %t : tensor<?x2xf64> -> !frame.table<"a": f64, "b": f32>
  return
}
