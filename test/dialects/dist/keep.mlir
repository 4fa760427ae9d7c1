// `dist.keep`: this rank's part of a table that every rank has whole; no bytes move.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.keep %{{.*}} keys ["k"] over ["r"] : <"k": i64, "x": f64>
!t = !frame.table<"k": i64, "x": f64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @keep(%t: !t) -> (!t, !t) {
    %0 = dist.keep %t keys ["k"] over ["r"] : !t
    %1 = dist.keep %t over ["r"] : !t
    // CHECK: dist.keep %{{.*}} keys ["k"] cycle 1000 over ["r"]
    %2 = dist.keep %t keys ["k"] cycle 1000 over ["r"] : !t
    return %0, %1 : !t, !t
  }
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

func.func @f(%t: !frame.table<"a": i64>) {
  // expected-error@+1 {{'dist.keep' op has an unknown attribute: "axis"}}
  %0 = dist.keep %t over ["r"] {axis = "r"} : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%t: !frame.table<"a": i64>) {
  // expected-error@+1 {{dist.levels is an array of booleans, got [true]}}
  %0 = dist.keep %t over ["r"] {dist.levels = [true]} : !frame.table<"a": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": !frame.string>) {
  // expected-error@+1 {{has a cycle, and no single key that is an integer, a date or a timestamp}}
  %0 = dist.keep %x keys ["a"] cycle 10 over ["r"] : !frame.table<"a": !frame.string>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{needs a cycle of one key or more, got 0}}
  %0 = dist.keep %x keys ["a"] cycle 0 over ["r"] : !frame.table<"a": i64>
  return
}
