// Expressions that no kernel computes yet are refused, with their place.
// RUN: headrace-opt %s --form --split-input-file --verify-diagnostics

!t = !frame.table<"a": !frame.decimal<10, 4>, "b": !frame.decimal<10, 0>>
!r = !frame.table<"m": !frame.decimal<10, 2>>
func.func @main() -> !r {
  %0 = frame.scan "t" ["a", "b"] : !t
  %1 = frame.project %0 keep [] compute ["m"] columns ["a", "b"] {
  ^bb0(%a: !frame.decimal<10, 4>, %b: !frame.decimal<10, 0>):
    // expected-error@+1 {{division to a smaller scale is not supported: '!frame.decimal<10, 2>'}}
    %m = frame.divide %a, %b : (!frame.decimal<10, 4>, !frame.decimal<10, 0>) -> !frame.decimal<10, 2>
    frame.yield %m : !frame.decimal<10, 2>
  } : !t -> !r
  return %1 : !r
}

// -----

!t = !frame.table<"a": f64>
!r = !frame.table<"m": i1>
func.func @main() -> !r {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.project %0 keep [] compute ["m"] columns ["a"] {
  ^bb0(%a: f64):
    // expected-error@+1 {{this cast is not supported: 'f64' to 'i1'}}
    %m = frame.cast %a : f64 -> i1
    frame.yield %m : i1
  } : !t -> !r
  return %1 : !r
}

// -----

!t = !frame.table<"a": !frame.decimal<12, 10>>
!r = !frame.table<"m": !frame.decimal<38, 0>>
func.func @main() -> !r {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.project %0 keep [] compute ["m"] columns ["a"] {
  ^bb0(%a: !frame.decimal<12, 10>):
    // expected-error@+1 {{rounds away more than 38 digits: -30}}
    %m = frame.number round %a digits -30 : (!frame.decimal<12, 10>) -> !frame.decimal<38, 0>
    frame.yield %m : !frame.decimal<38, 0>
  } : !t -> !r
  return %1 : !r
}

// -----

!t = !frame.table<"a": i64>
!u = !frame.table<"b": i64>
func.func @main() -> !t {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.scan "u" ["b"] : !u
  %2 = frame.filter %0 columns ["a"] {
  ^bb0(%a: i64):
    // expected-error@+1 {{not supported in expressions yet: frame.scalar_subquery}}
    %b = frame.scalar_subquery %1 : !u -> !frame.nullable<i64>
    %p = frame.compare lt %a, %b : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !t
  return %2 : !t
}
