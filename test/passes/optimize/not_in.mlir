// NOT IN over values that may be NULL: what the right side is like is one value, by which the left rows are filtered.
// RUN: headrace-opt --optimize-not-in %s | FileCheck %s

!l = !frame.table<"a": !frame.nullable<i64>>
!r = !frame.table<"b": !frame.nullable<i64>>
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
