// Filters move to where their columns come from; what can fail stays behind what drops rows.
// RUN: headrace-opt --optimize-pushdown %s | FileCheck %s

!l = !frame.table<"a": i64, "x": i64>
!r = !frame.table<"b": i64, "y": i64>
!j = !frame.table<"a": i64, "x": i64, "b": i64, "y": i64>

// One conjunct for each side, one that becomes a key, one that can fail.
// CHECK-LABEL: func.func @inner
// CHECK-DAG: %[[L:.*]] = frame.filter %arg0 columns ["x"]
// CHECK-DAG: %[[R:.*]] = frame.filter %arg1 columns ["y"]
// CHECK: frame.join inner %[[L]], %[[R]] on ["a", "x"] = ["b", "y"]
// CHECK: frame.filter %{{.*}} columns ["a", "y"]
// CHECK: frame.divide
// CHECK: return
func.func @inner(%l: !l, %r: !r) -> !j {
  %0 = frame.join inner %l, %r on ["a"] = ["b"] : !l, !r -> !j
  %1 = frame.filter %0 columns ["x", "y", "a"] {
  ^bb0(%x: i64, %y: i64, %a: i64):
    %c = frame.constant 3 : i64
    %p = frame.compare gt %x, %c : (i64, i64) -> i1
    %q = frame.compare ne %y, %c : (i64, i64) -> i1
    %k = frame.compare eq %y, %x : (i64, i64) -> i1
    %d = frame.divide %a, %y : (i64, i64) -> i64
    %e = frame.compare lt %d, %c : (i64, i64) -> i1
    %all = frame.and %p, %q, %k, %e : (i1, i1, i1, i1) -> i1
    frame.yield %all : i1
  } : !j
  return %1 : !j
}

// A filter on a key holds for the other key too.
// CHECK-LABEL: func.func @keys
// CHECK-DAG: frame.filter %arg0 columns ["a"]
// CHECK-DAG: frame.filter %arg1 columns ["b"]
// CHECK: frame.join semi
// CHECK-NEXT: return
func.func @keys(%l: !l, %r: !r) -> !l {
  %0 = frame.join semi %l, %r on ["a"] = ["b"] : !l, !r -> !l
  %1 = frame.filter %0 columns ["a"] {
  ^bb0(%a: i64):
    %c = frame.constant 3 : i64
    %p = frame.compare gt %a, %c : (i64, i64) -> i1
    frame.yield %p : i1
  } : !l
  return %1 : !l
}

// The right side of a left join: not below, its rows come out without a match too.
// CHECK-LABEL: func.func @left
// CHECK-NEXT: frame.join left
// CHECK-NEXT: frame.filter
func.func @left(%l: !l, %r: !r) -> !frame.table<"a": i64, "x": i64, "b": !frame.nullable<i64>, "y": !frame.nullable<i64>> {
  %0 = frame.join left %l, %r on ["a"] = ["b"] : !l, !r
      -> !frame.table<"a": i64, "x": i64, "b": !frame.nullable<i64>, "y": !frame.nullable<i64>>
  %1 = frame.filter %0 columns ["y"] {
  ^bb0(%y: !frame.nullable<i64>):
    %p = frame.is_null %y : !frame.nullable<i64>
    frame.yield %p : i1
  } : !frame.table<"a": i64, "x": i64, "b": !frame.nullable<i64>, "y": !frame.nullable<i64>>
  return %1 : !frame.table<"a": i64, "x": i64, "b": !frame.nullable<i64>, "y": !frame.nullable<i64>>
}

// Through a project (over its inputs), an aggregate (on a key) and a sort.
// CHECK-LABEL: func.func @unary
// CHECK-NEXT: frame.filter %arg0 columns ["a"]
// CHECK: frame.extract
// CHECK: frame.project
// CHECK: frame.aggregate
// CHECK: frame.filter %{{.*}} columns ["n"]
// CHECK: frame.sort
// CHECK-NEXT: return
func.func @unary(%t: !frame.table<"a": !frame.date>) -> !frame.table<"year": i32, "n": i64> {
  %0 = frame.project %t keep [] compute ["year"] columns ["a"] {
  ^bb0(%a: !frame.date):
    %y = frame.extract year %a : (!frame.date) -> i32
    frame.yield %y : i32
  } : !frame.table<"a": !frame.date> -> !frame.table<"year": i32>
  %1 = frame.aggregate %0 keys ["year"] measures [#frame.measure<count_star -> "n">]
      : !frame.table<"year": i32> -> !frame.table<"year": i32, "n": i64>
  %2 = frame.sort %1 by [#frame.sort_key<"n" asc nulls_last>] : !frame.table<"year": i32, "n": i64>
  %3 = frame.filter %2 columns ["year", "n"] {
  ^bb0(%y: i32, %n: i64):
    %c = frame.constant 1995 : i32
    %five = frame.constant 5 : i64
    %p = frame.compare ge %y, %c : (i32, i32) -> i1
    %q = frame.compare ge %n, %five : (i64, i64) -> i1
    %pq = frame.and %p, %q : (i1, i1) -> i1
    frame.yield %pq : i1
  } : !frame.table<"year": i32, "n": i64>
  return %3 : !frame.table<"year": i32, "n": i64>
}

// The residual of an anti join: what is about the right side goes there, nothing to the left.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT: %[[R:.*]] = frame.filter %arg1 columns ["y"]
// CHECK: frame.join anti %arg0, %[[R]] on ["a"] = ["b"] residual ["x"]
func.func @residual(%l: !l, %r: !r) -> !l {
  %0 = frame.join anti %l, %r on ["a"] = ["b"] residual ["x", "y"] {
  ^bb0(%x: i64, %y: i64):
    %c = frame.constant 3 : i64
    %p = frame.compare gt %x, %c : (i64, i64) -> i1
    %q = frame.compare ne %y, %c : (i64, i64) -> i1
    %pq = frame.and %p, %q : (i1, i1) -> i1
    frame.yield %pq : i1
  } : !l, !r -> !l
  return %0 : !l
}

// A filter by a mark is a semi join, by its opposite an anti join: NOT IN where the mark may be NULL.
// CHECK-LABEL: func.func @marked
// CHECK: %[[L:.*]] = frame.filter %arg0 columns ["x"]
// CHECK: %[[S:.*]] = frame.join semi %[[L]], %arg1 on ["a"] = ["b"] :
// CHECK: %[[K:.*]] = frame.project %[[S]] keep ["a", "x"] compute ["m"]
// CHECK-NEXT: frame.constant true : !frame.nullable<i1>
func.func @marked(%l: !l, %r: !r) -> !frame.table<"a": i64, "x": i64, "m": !frame.nullable<i1>> {
  %0 = frame.join mark %l, %r null_aware on ["a"] = ["b"] : !l, !r -> !frame.table<"a": i64, "x": i64, "m": !frame.nullable<i1>>
  %1 = frame.filter %0 columns ["m", "x"] {
  ^bb0(%m: !frame.nullable<i1>, %x: i64):
    %zero = frame.constant 0 : i64
    %p = frame.compare gt %x, %zero : (i64, i64) -> i1
    %both = frame.and %m, %p : (!frame.nullable<i1>, i1) -> !frame.nullable<i1>
    frame.yield %both : !frame.nullable<i1>
  } : !frame.table<"a": i64, "x": i64, "m": !frame.nullable<i1>>
  return %1 : !frame.table<"a": i64, "x": i64, "m": !frame.nullable<i1>>
}

// CHECK-LABEL: func.func @not_marked
// CHECK: frame.join anti %arg0, %arg1 null_aware on ["a"] = ["b"] :
func.func @not_marked(%l: !l, %r: !r) -> !frame.table<"a": i64, "x": i64, "m": !frame.nullable<i1>> {
  %0 = frame.join mark %l, %r null_aware on ["a"] = ["b"] : !l, !r -> !frame.table<"a": i64, "x": i64, "m": !frame.nullable<i1>>
  %1 = frame.filter %0 columns ["m"] {
  ^bb0(%m: !frame.nullable<i1>):
    %not = frame.not %m : !frame.nullable<i1>
    frame.yield %not : !frame.nullable<i1>
  } : !frame.table<"a": i64, "x": i64, "m": !frame.nullable<i1>>
  return %1 : !frame.table<"a": i64, "x": i64, "m": !frame.nullable<i1>>
}
