// RUN: headrace-opt %s --form -split-input-file -verify-diagnostics

!t = !frame.table<"a": i64>
func.func @main() -> !frame.table<"a": !frame.nullable<i64>, "b": i64> {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.scan "u" ["b"] : !frame.table<"b": i64>
  // expected-error @+1 {{a right join must be a left join before pipelines are formed}}
  %2 = frame.join right %0, %1 on ["a"] = ["b"] : !t, !frame.table<"b": i64> -> !frame.table<"a": !frame.nullable<i64>, "b": i64>
  return %2 : !frame.table<"a": !frame.nullable<i64>, "b": i64>
}

// -----

// expected-error @+1 {{tables as function arguments are not supported; scan them}}
func.func @main(%t: !frame.table<"a": i64>) -> !frame.table<"a": i64> {
  return %t : !frame.table<"a": i64>
}

// -----

!t = !frame.table<"a": i64>
func.func @main() -> !t {
  %0 = frame.scan "t" ["a"] : !t
  // expected-error @+1 {{not supported in pipelines yet: frame.distinct}}
  %1 = frame.distinct %0 : !t
  return %1 : !t
}

// -----

!t = !frame.table<"a": i64>
// expected-error @+1 {{a relational program returns one table}}
func.func @main() -> (!t, !t) {
  %0 = frame.scan "t" ["a"] : !t
  return %0, %0 : !t, !t
}

// -----

// expected-error @+1 {{the program has no function: main}}
module {
}

// -----

!t = !frame.table<"a": i64>
!u = !frame.table<"b": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> !t {
    %0 = frame.scan "t" ["a"] : !t
    %1 = frame.scan "u" ["b"] : !u
    // expected-error @+1 {{chooses between other ops than joins}}
    %2 = dist.choose %1 at_most 5 {
      dist.yield %0 : !t
    } else {
      dist.yield %0 : !t
    } : !u -> !t
    return %2 : !t
  }
}

// -----

!t = !frame.table<"a": i64>
!u = !frame.table<"b": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> !t {
    %s = frame.scan "t" ["a"] : !t
    %u = frame.scan "u" ["b"] : !u
    %e = dist.exchange hash %s keys ["a"] over ["r"] : !t
    %t = frame.filter %e columns ["a"] {
    ^bb0(%a: i64):
      %c = frame.constant 3 : i64
      %p = frame.compare lt %a, %c : (i64, i64) -> i1
      frame.yield %p : i1
    } : !t
    // expected-error @+1 {{its left side comes from an exchange; only scans and states can be read twice: pipe.receive}}
    %0 = dist.choose %u at_most 5 {
      %1 = dist.exchange broadcast %u over ["r"] : !u
      %2 = frame.join semi %t, %1 on ["a"] = ["b"] : !t, !u -> !t
      dist.yield %2 : !t
    } else {
      %1 = dist.exchange hash %t keys ["a"] over ["r"] : !t
      %2 = dist.exchange hash %u keys ["b"] over ["r"] : !u
      %3 = frame.join semi %1, %2 on ["a"] = ["b"] : !t, !u -> !t
      dist.yield %3 : !t
    } : !u -> !t
    return %0 : !t
  }
}

// -----

!t = !frame.table<"a": i64>
!w = !frame.table<"a": i64, "n": !frame.nullable<f64>>
func.func @main() -> !w {
  %0 = frame.scan "t" ["a"] : !t
  // expected-error @+1 {{over a window is not supported: avg}}
  %1 = frame.window %0 partition [] order [] functions [#frame.window_function<aggregate avg("a") -> "n" over <rows unbounded_preceding to unbounded_following>>] : !t -> !w
  return %1 : !w
}
