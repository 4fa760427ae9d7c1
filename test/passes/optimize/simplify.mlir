// Constants are folded, ops that do nothing go, projects merge.
// Sources: passes/optimize/constant_folding.cpp
// RUN: headrace-opt --optimize-simplify %s | FileCheck %s

!t = !frame.table<"a": i64, "b": i64>

// CHECK-LABEL: func.func @constants
// CHECK: %[[FOUR:.*]] = frame.constant 4 : i64
// CHECK: %[[LESS:.*]] = frame.compare ge %a, %[[FOUR]]
// CHECK: frame.divide
// CHECK: frame.and %[[LESS]], %{{.*}} : (i1, i1) -> i1
func.func @constants(%t: !t) -> !t {
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: i64):
    %one = frame.constant 1 : i64
    %three = frame.constant 3 : i64
    %zero = frame.constant 0 : i64
    %four = frame.add %one, %three : (i64, i64) -> i64
    %p = frame.compare lt %a, %four : (i64, i64) -> i1
    %not = frame.not %p : i1
    %true = frame.compare lt %one, %three : (i64, i64) -> i1
    // What fails is left to fail.
    %bad = frame.divide %one, %zero : (i64, i64) -> i64
    %q = frame.compare eq %bad, %a : (i64, i64) -> i1
    %all = frame.and %not, %true, %q : (i1, i1, i1) -> i1
    frame.yield %all : i1
  } : !t
  return %0 : !t
}

// What fails is NULL in a region that is tried, but not what is only too long to be made here.
// CHECK-LABEL: func.func @tried
// CHECK: frame.constant null : !frame.nullable<i64>
// CHECK: frame.try {
// CHECK: frame.constant 3 : i64
// CHECK-NOT: frame.add
// CHECK: frame.text "repeat"
// CHECK: frame.try captures(%a)
// CHECK: frame.constant 4 : i64
// CHECK-NOT: frame.add
// CHECK: frame.divide
func.func @tried(%t: !t) -> !frame.table<"n": !frame.nullable<i64>, "l": !frame.nullable<i64>, "q": !frame.nullable<i64>> {
  %0 = frame.project %t keep [] compute ["n", "l", "q"] columns ["a"] {
  ^bb0(%a: i64):
    %n = frame.try {
      %one = frame.constant 1 : i64
      %zero = frame.constant 0 : i64
      %bad = frame.divide %one, %zero : (i64, i64) -> i64
      frame.yield %bad : i64
    } : () -> !frame.nullable<i64>
    %l = frame.try {
      %s = frame.constant "a long text" : !frame.string
      %many = frame.constant 100000 : i64
      %one = frame.constant 1 : i64
      %two = frame.constant 2 : i64
      %three = frame.add %one, %two : (i64, i64) -> i64
      %all = frame.text "repeat"(%s, %many) : (!frame.string, i64) -> !frame.string
      %length = frame.text "length"(%all) : (!frame.string) -> i64
      %more = frame.multiply %length, %three : (i64, i64) -> i64
      frame.yield %more : i64
    } : () -> !frame.nullable<i64>
    %q = frame.try captures(%a) {
    ^bb0(%x: i64):
      %one = frame.constant 1 : i64
      %three = frame.constant 3 : i64
      %four = frame.add %one, %three : (i64, i64) -> i64
      %q = frame.divide %four, %x : (i64, i64) -> i64
      frame.yield %q : i64
    } : (i64) -> !frame.nullable<i64>
    frame.yield %n, %l, %q : !frame.nullable<i64>, !frame.nullable<i64>, !frame.nullable<i64>
  } : !t -> !frame.table<"n": !frame.nullable<i64>, "l": !frame.nullable<i64>, "q": !frame.nullable<i64>>
  return %0 : !frame.table<"n": !frame.nullable<i64>, "l": !frame.nullable<i64>, "q": !frame.nullable<i64>>
}

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: return %arg0
func.func @nothing(%t: !t) -> !t {
  %0 = frame.filter %t columns [] {
    %true = frame.constant true : i1
    frame.yield %true : i1
  } : !t
  %1 = frame.project %0 keep ["a", "b"] compute [] columns [] {
    frame.yield
  } : !t -> !t
  %2 = frame.limit %1 : !t
  return %2 : !t
}

// CHECK-LABEL: func.func @projects
// CHECK: frame.project %arg0 keep ["b"] compute ["d"] columns ["a"]
// CHECK: %[[C:.*]] = frame.add %a, %a
// CHECK: frame.negate %[[C]]
// CHECK-NOT: frame.project
// CHECK: return
func.func @projects(%t: !t) -> !frame.table<"d": i64, "b": i64> {
  %0 = frame.project %t keep ["a", "b"] compute ["c"] columns ["a"] {
  ^bb0(%a: i64):
    %c = frame.add %a, %a : (i64, i64) -> i64
    frame.yield %c : i64
  } : !t -> !frame.table<"a": i64, "b": i64, "c": i64>
  %1 = frame.project %0 keep ["b"] compute ["d"] columns ["c"] {
  ^bb0(%c: i64):
    %d = frame.negate %c : i64
    frame.yield %d : i64
  } : !frame.table<"a": i64, "b": i64, "c": i64> -> !frame.table<"d": i64, "b": i64>
  return %1 : !frame.table<"d": i64, "b": i64>
}

// CHECK-LABEL: func.func @distinct_topk
// CHECK: frame.aggregate %arg0 keys ["a", "b"] measures []
// CHECK: frame.topk %{{.*}} by [#frame.sort_key<"a" asc nulls_last>] offset 2 count 3
func.func @distinct_topk(%t: !t) -> !t {
  %0 = frame.distinct %t : !t
  %1 = frame.sort %0 by [#frame.sort_key<"a" asc nulls_last>] : !t
  %2 = frame.limit %1 offset 2 count 3 : !t
  return %2 : !t
}

// CHECK-LABEL: func.func @limit_of_nothing
// CHECK-NEXT: frame.values []
// CHECK-NEXT: return
func.func @limit_of_nothing(%t: !t) -> !t {
  %0 = frame.sort %t by [#frame.sort_key<"a" asc nulls_last>] : !t
  %1 = frame.limit %0 count 0 : !t
  return %1 : !t
}

// CHECK-LABEL: func.func @false_filter
// CHECK-NEXT: frame.values []
func.func @false_filter(%t: !t) -> !t {
  %0 = frame.filter %t columns [] {
    %never = frame.constant false : i1
    frame.yield %never : i1
  } : !t
  return %0 : !t
}

// The columns stay in their places.
// CHECK-LABEL: func.func @right_join
// CHECK: %[[LEFT:.*]] = frame.join left %arg1, %arg0 on ["c"] = ["a"]
// CHECK: frame.project %[[LEFT]] keep ["a", "b", "c"]
func.func @right_join(%t: !t, %u: !frame.table<"c": i64>)
    -> !frame.table<"a": !frame.nullable<i64>, "b": !frame.nullable<i64>, "c": i64> {
  %0 = frame.join right %t, %u on ["a"] = ["c"] : !t, !frame.table<"c": i64>
      -> !frame.table<"a": !frame.nullable<i64>, "b": !frame.nullable<i64>, "c": i64>
  return %0 : !frame.table<"a": !frame.nullable<i64>, "b": !frame.nullable<i64>, "c": i64>
}

// CHECK-LABEL: func.func @limits
// CHECK: frame.topk %arg0 by [#frame.sort_key<"a" asc nulls_last>] offset 3 count 2
// CHECK-NEXT: frame.project
func.func @limits(%t: !t) -> !frame.table<"a": i64> {
  %0 = frame.topk %t by [#frame.sort_key<"a" asc nulls_last>] offset 1 count 4 : !t
  %1 = frame.project %0 keep ["a"] compute [] columns [] {
    frame.yield
  } : !t -> !frame.table<"a": i64>
  %2 = frame.limit %1 offset 2 count 7 : !frame.table<"a": i64>
  return %2 : !frame.table<"a": i64>
}

// A comparison of a widening cast is one of what is cast; a constant between two values moves to one of them.
// CHECK-LABEL: func.func @casts
// CHECK: frame.constant "1993-10-01" : !frame.date
// CHECK: frame.compare ge %d, %{{.*}} : (!frame.date, !frame.date) -> i1
// CHECK: frame.constant 2401 : !frame.decimal<15, 2>
// CHECK: frame.compare lt %p, %{{.*}} : (!frame.decimal<15, 2>, !frame.decimal<15, 2>) -> i1
// CHECK: frame.constant 3 : i32
// CHECK: frame.compare eq %i, %{{.*}} : (i32, i32) -> i1
// CHECK: frame.in %i [3] : (i32) -> i1
// CHECK: frame.and %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (i1, i1, i1, i1) -> i1
func.func @casts(%t: !frame.table<"d": !frame.date, "p": !frame.decimal<15, 2>, "i": i32>)
    -> !frame.table<"d": !frame.date, "p": !frame.decimal<15, 2>, "i": i32> {
  %0 = frame.filter %t columns ["d", "p", "i"] {
  ^bb0(%d: !frame.date, %p: !frame.decimal<15, 2>, %i: i32):
    %text = frame.constant "1993-07-01" : !frame.string
    %day = frame.cast %text : !frame.string -> !frame.date
    %first = frame.cast %day : !frame.date -> !frame.timestamp
    %last = frame.shift_date %first months 3 days 0 : !frame.timestamp
    %moment = frame.cast %d : !frame.date -> !frame.timestamp
    %p0 = frame.compare ge %moment, %last : (!frame.timestamp, !frame.timestamp) -> i1
    %x = frame.cast %p : !frame.decimal<15, 2> -> f64
    %limit = frame.constant 2.400500e+01 : f64
    %p1 = frame.compare lt %x, %limit : (f64, f64) -> i1
    %wide = frame.cast %i : i32 -> !frame.decimal<12, 1>
    %three = frame.constant 30 : !frame.decimal<12, 1>
    %p2 = frame.compare eq %three, %wide : (!frame.decimal<12, 1>, !frame.decimal<12, 1>) -> i1
    %half = frame.constant 35 : !frame.decimal<12, 1>
    %p3 = frame.compare ne %wide, %half : (!frame.decimal<12, 1>, !frame.decimal<12, 1>) -> i1
    %p4 = frame.in %wide [30, 35] : (!frame.decimal<12, 1>) -> i1
    %all = frame.and %p0, %p1, %p2, %p3, %p4 : (i1, i1, i1, i1, i1) -> i1
    frame.yield %all : i1
  } : !frame.table<"d": !frame.date, "p": !frame.decimal<15, 2>, "i": i32>
  return %0 : !frame.table<"d": !frame.date, "p": !frame.decimal<15, 2>, "i": i32>
}

// A large integer is no double: nothing exact can be said.
// CHECK-LABEL: func.func @rounded
// CHECK: frame.cast
func.func @rounded(%t: !t) -> !t {
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: i64):
    %x = frame.cast %a : i64 -> f64
    %limit = frame.constant 1.000000e+18 : f64
    %p = frame.compare eq %x, %limit : (f64, f64) -> i1
    frame.yield %p : i1
  } : !t
  return %0 : !t
}

// A column in two keys.
// CHECK-LABEL: func.func @repeated
// CHECK: frame.join left %arg0, %arg1 on ["a"] = ["c"] residual ["a", "b"]
// CHECK: frame.compare eq %a, %b
func.func @repeated(%t: !t, %u: !frame.table<"c": i64>) -> !frame.table<"a": i64, "b": i64, "c": !frame.nullable<i64>> {
  %0 = frame.join left %t, %u on ["a", "b", "a"] = ["c", "c", "c"] : !t, !frame.table<"c": i64>
      -> !frame.table<"a": i64, "b": i64, "c": !frame.nullable<i64>>
  return %0 : !frame.table<"a": i64, "b": i64, "c": !frame.nullable<i64>>
}

!stored = !frame.table<"a": i64, "row": i64>

// Rows of a table come in its order by themselves.
// CHECK-LABEL: func.func @sort_as_stored
// CHECK-NOT: frame.sort
// CHECK: frame.filter
// CHECK: return
func.func @sort_as_stored() -> !frame.table<"a": i64> {
  %0 = frame.scan "t" ["a"] ordinals : !stored
  %1 = frame.filter %0 columns ["a"] {
  ^bb0(%a: i64):
    %one = frame.constant 1 : i64
    %p = frame.compare lt %a, %one : (i64, i64) -> i1
    frame.yield %p : i1
  } : !stored
  %2 = frame.sort %1 by [#frame.sort_key<"row" asc nulls_last>] : !stored
  %3 = frame.project %2 keep ["a"] compute [] columns [] {
    frame.yield
  } : !stored -> !frame.table<"a": i64>
  return %3 : !frame.table<"a": i64>
}

// Not the other way, and not where the rows are chosen by it: a limit.
// CHECK-LABEL: func.func @sort_that_counts
// CHECK: frame.sort
// CHECK: frame.topk
func.func @sort_that_counts() -> (!stored, !stored) {
  %0 = frame.scan "t" ["a"] ordinals : !stored
  %1 = frame.sort %0 by [#frame.sort_key<"row" desc nulls_last>] : !stored
  %2 = frame.scan "t" ["a"] ordinals : !stored
  %3 = frame.sort %2 by [#frame.sort_key<"row" asc nulls_last>] : !stored
  %4 = frame.limit %3 count 3 : !stored
  return %1, %4 : !stored, !stored
}

// The number of a run is known in the run alone; calls that are told apart by their numbers stay apart.
// CHECK-LABEL: func.func @run_seed
// CHECK: frame.run_seed : i64
// CHECK: frame.math "scramble" %{{.*}}, %[[SEED:.*]] : (i64, i64) -> i64
// CHECK: frame.math "scramble" %a
// CHECK: frame.math "scramble"
// CHECK: frame.math "scramble" %a
func.func @run_seed(%t: !t) -> !frame.table<"x": i64, "y": i64> {
  %0 = frame.project %t keep [] compute ["x", "y"] columns ["a"] {
  ^bb0(%a: i64):
    %seed = frame.run_seed : i64
    %first = frame.constant 0 : i64
    %second = frame.constant 1 : i64
    %p = frame.math "scramble" %first, %seed : (i64, i64) -> i64
    %x = frame.math "scramble" %a, %p : (i64, i64) -> i64
    %q = frame.math "scramble" %second, %seed : (i64, i64) -> i64
    %y = frame.math "scramble" %a, %q : (i64, i64) -> i64
    frame.yield %x, %y : i64, i64
  } : !t -> !frame.table<"x": i64, "y": i64>
  return %0 : !frame.table<"x": i64, "y": i64>
}
