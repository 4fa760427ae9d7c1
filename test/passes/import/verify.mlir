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

// -----

!i = !frame.interval
!t = !frame.table<"i": !i>
func.func @keys_that_are_intervals(%t: !t) -> !t {
  // expected-error @+1 {{must compare what interval_key makes of intervals, got '!frame.interval'}}
  %0 = frame.distinct %t : !t
  return %0 : !t
}

// -----

!l = !frame.list<!frame.interval>
!t = !frame.table<"l": !l>
func.func @orders_of_intervals(%t: !t) -> !t {
  // expected-error @+1 {{must compare what interval_key makes of intervals, got '!frame.list<!frame.interval>'}}
  %0 = frame.sort %t by [#frame.sort_key<"l" asc nulls_last>] : !t
  return %0 : !t
}

// -----

!i = !frame.interval
!t = !frame.table<"i": !i>
func.func @comparisons_of_intervals(%t: !t) -> !t {
  %0 = frame.filter %t columns ["i"] {
  ^bb0(%i: !i):
    // expected-error @+1 {{must compare what interval_key makes of intervals, got '!frame.interval'}}
    %c = frame.compare eq %i, %i : (!i, !i) -> i1
    frame.yield %c : i1
  } : !t
  return %0 : !t
}
