// `dist.place`: adds a column with the place of this rank along mesh axes.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.place %{{.*}} as "rank" over ["r"] : <"x": f64> -> <"x": f64, "rank": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @place(%t: !frame.table<"x": f64>) -> !frame.table<"x": f64, "rank": i64> {
    %0 = dist.place %t as "rank" over ["r"] : !frame.table<"x": f64> -> !frame.table<"x": f64, "rank": i64>
    return %0 : !frame.table<"x": f64, "rank": i64>
  }
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{must give the columns of its input and an i64 named "rank", got}}
  %0 = dist.place %x as "rank" over ["r"] : !frame.table<"a": i64> -> !frame.table<"rank": i64, "a": i64>
  return
}
