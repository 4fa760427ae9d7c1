// `pipe.place`: the place of this rank along axes of the mesh.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.place over ["ranks"]
func.func @body() -> i32 {
  %0 = pipe.place over ["ranks"]
  return %0 : i32
}

// -----

func.func @body() -> i32 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.place over ["ranks"] {unknown}
  return %0 : i32
}
