// Constants are folded, ops that do nothing go, projects merge.
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
