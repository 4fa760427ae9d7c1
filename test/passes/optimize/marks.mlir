// IN and NOT IN over values that may be NULL, as joins that know only matches.
// RUN: headrace-opt --optimize-marks %s | FileCheck %s

!l = !frame.table<"a": !frame.nullable<i64>>
!r = !frame.table<"b": !frame.nullable<i64>>
// What the right side is like is one value, by which the left rows are filtered.
// CHECK-LABEL: @not_in
func.func @not_in(%l: !l, %r: !r) -> !l {
  // CHECK: frame.aggregate %{{.*}} keys [] measures [#frame.measure<count_star -> "b.rows">, #frame.measure<count("b") -> "b.values">]
  // CHECK: %[[KIND:.*]] = frame.scalar_subquery
  // CHECK: %[[LEFT:.*]] = frame.filter
  // CHECK: frame.compare eq %[[KIND]]
  // CHECK-NOT: null_aware
  // CHECK: frame.join anti %[[LEFT]], %{{.*}} on ["a"] = ["b"]
  %0 = frame.join anti %l, %r null_aware on ["a"] = ["b"] : !l, !r -> !l
  return %0 : !l
}

// CHECK-LABEL: @without_nulls
func.func @without_nulls(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) -> !frame.table<"a": i64> {
  // CHECK-NEXT: frame.join anti %{{.*}}, %{{.*}} on ["a"] = ["b"]
  %0 = frame.join anti %l, %r null_aware on ["a"] = ["b"]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64>
  return %0 : !frame.table<"a": i64>
}

!m = !frame.table<"a": !frame.nullable<i64>, "m": !frame.nullable<i1>>
// CHECK-LABEL: @mark
func.func @mark(%l: !l, %r: !r) -> !m {
  // CHECK: %[[KIND:.*]] = frame.scalar_subquery
  // CHECK: %[[JOIN:.*]] = frame.join mark %{{.*}}, %{{.*}} on ["a"] = ["b"] : {{.*}}"m.match": i1>
  // CHECK: frame.project %[[JOIN]] keep ["a"] compute ["m"]
  // CHECK: frame.case when %m.match, %{{.*}}, %{{.*}} then
  %0 = frame.join mark %l, %r null_aware on ["a"] = ["b"] : !l, !r -> !m
  return %0 : !m
}

// Rows and values are counted for each j.
// CHECK-LABEL: @correlated
func.func @correlated(%l: !frame.table<"k": i64, "a": i64>, %r: !frame.table<"j": i64, "b": !frame.nullable<i64>>)
    -> !frame.table<"k": i64, "a": i64, "m": !frame.nullable<i1>> {
  // CHECK: %[[COUNTS:.*]] = frame.aggregate %arg1 keys ["j"] measures [#frame.measure<count_star -> "m.rows">, #frame.measure<count("b") -> "m.values">]
  // CHECK: %[[NAMED:.*]] = frame.rename %[[COUNTS]]
  // CHECK: %[[JOIN:.*]] = frame.join mark %arg0, %arg1 on ["k", "a"] = ["j", "b"] null_safe [true, false]
  // CHECK: frame.join left %[[JOIN]], %[[NAMED]] on ["k"] = ["m.group0"] null_safe [true]
  %0 = frame.join mark %l, %r null_aware on ["k", "a"] = ["j", "b"] null_safe [true, false]
      : !frame.table<"k": i64, "a": i64>, !frame.table<"j": i64, "b": !frame.nullable<i64>>
      -> !frame.table<"k": i64, "a": i64, "m": !frame.nullable<i1>>
  return %0 : !frame.table<"k": i64, "a": i64, "m": !frame.nullable<i1>>
}

// a <> ANY (query): the pairs of which it is NULL are looked for by a second join.
// CHECK-LABEL: @any
func.func @any(%l: !l, %r: !r) -> !m {
  // CHECK: %[[TRUE:.*]] = frame.join mark %arg0, %arg1 on [] = [] residual ["a", "b"]
  // CHECK: frame.join mark %[[TRUE]], %arg1 on [] = [] residual ["a", "b"]
  // CHECK: frame.is_null
  // CHECK: frame.case when %m.match, %{{.*}}, %m.unknown then
  %0 = frame.join mark %l, %r null_aware on [] = [] residual ["a", "b"] {
  ^bb0(%a: !frame.nullable<i64>, %b: !frame.nullable<i64>):
    %p = frame.compare ne %a, %b : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !l, !r -> !m
  return %0 : !m
}

// Nothing can be NULL behind these filters.
// CHECK-LABEL: @filtered
func.func @filtered(%l: !l, %r: !r) -> !m {
  // CHECK-NOT: frame.scalar_subquery
  // CHECK: frame.join mark
  // CHECK: frame.cast %m.match : i1 -> !frame.nullable<i1>
  %0 = frame.filter %l columns ["a"] {
  ^bb0(%a: !frame.nullable<i64>):
    %null = frame.is_null %a : !frame.nullable<i64>
    %p = frame.not %null : i1
    frame.yield %p : i1
  } : !l
  %1 = frame.filter %r columns ["b"] {
  ^bb0(%b: !frame.nullable<i64>):
    %zero = frame.constant 0 : i64
    %p = frame.compare gt %b, %zero : (!frame.nullable<i64>, i64) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !r
  %2 = frame.join mark %0, %1 null_aware on ["a"] = ["b"] : !l, !r -> !m
  return %2 : !m
}
