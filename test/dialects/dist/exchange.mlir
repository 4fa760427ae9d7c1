// `dist.exchange`: moves rows between the ranks along mesh axes.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.exchange  hash %{{.*}} keys ["k"] over ["r"] : <"k": i64, "x": f64>
!t = !frame.table<"k": i64, "x": f64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @exchange(%t: !t) -> !t {
    %0 = dist.exchange hash %t keys ["k"] over ["r"] : !t
    %1 = dist.exchange range %0 order [#frame.sort_key<"x" desc nulls_last>] over ["r"] : !t
    %2 = dist.exchange gather %1 over ["r"] : !t
    // CHECK: dist.exchange  hash %{{.*}} keys ["k"] cycle 1000 over ["r"]
    %3 = dist.exchange hash %t keys ["k"] cycle 1000 over ["r"] : !t
    return %2 : !t
  }
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

!t = !frame.table<"k": i64>
func.func @f(%t: !t) -> !t {
  // expected-error@+1 {{dist.choose is a dictionary with at_most, cycle and three levels on a frame.join, got 3 : i64}}
  %0 = dist.exchange gather %t over ["r"] {dist.choose = 3 : i64} : !t
  return %0 : !t
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

// -----

func.func @f(%x: !frame.table<"a": i64, "b": i64>) {
  // expected-error@+1 {{has a cycle, and no single key that is an integer, a date or a timestamp}}
  %0 = dist.exchange hash %x keys ["a", "b"] cycle 10 over ["r"] : !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{has a cycle and skew}}
  %0 = dist.exchange hash %x keys ["a"] cycle 10 over ["r"] skew <pair = 0, heavy = spread> : !frame.table<"a": i64>
  return
}
