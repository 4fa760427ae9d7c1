// What optimize may rely on is refused where it does not hold.
// Sources: passes/import/verify_import.cpp
// RUN: headrace-opt %s --verify-import --split-input-file --verify-diagnostics

!t = !frame.table<"a": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%t: !t) -> !t {
    // expected-error@+1 {{belongs to a later level than import}}
    %0 = dist.exchange gather %t over ["r"] : !t
    return %0 : !t
  }
}

// -----

!t = !frame.table<"a": i64>
func.func @main() -> !t {
  // expected-error@+1 {{must not carry layouts before shard: "dist.split"}}
  %0 = frame.scan "t" ["a"] {dist.split = ["r"]} : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
func.func @main(%t: !t) -> !t {
  // expected-error@+1 {{must be complete before shard, got partial}}
  %0 = frame.aggregate stage partial %t keys ["a"] measures [] : !t -> !t
  return %0 : !t
}

// -----

// expected-error@+1 {{needs exactly one block, got 2}}
func.func @main() {
  cf.br ^bb1
^bb1:
  return
}

// -----

!t = !frame.table<"a": i64>
func.func @main() -> (!t, !t) {
  %0 = frame.scan "t" ["a"] : !t
  // expected-error@+1 {{defines a column whose name is taken in the program; rename it: "a"}}
  %1 = frame.scan "t" ["a"] : !t
  return %0, %1 : !t, !t
}
