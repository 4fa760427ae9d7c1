// Keys for which NULL equals NULL: ordinary ones where a side has no NULL, else two, a flag and the value.
// RUN: headrace-opt --optimize-null-safe %s | FileCheck %s
// RUN: headrace-opt --pass-pipeline="builtin.module(func.func(optimize-null-safe{as-two-keys=true}))" %s | FileCheck %s --check-prefix=TWO

!l = !frame.table<"a": !frame.nullable<i64>, "x": i64>
!r = !frame.table<"b": !frame.nullable<i64>, "y": i64>

// CHECK-LABEL: @by_type
// CHECK: on ["a", "x"] = ["b", "y"] null_safe [true, false]
// TWO-LABEL: @by_type
// TWO: %[[L:.*]] = frame.project %arg0 keep ["a", "x"] compute ["a.left.null", "a.left.value"]
// TWO: %[[R:.*]] = frame.project %arg1 keep ["b", "y"] compute ["b.right.null", "b.right.value"]
// TWO: %[[J:.*]] = frame.join semi %[[L]], %[[R]] on ["a.left.null", "a.left.value", "x"] = ["b.right.null", "b.right.value", "y"] :
// TWO: frame.project %[[J]] keep ["a", "x"]
func.func @by_type(%l: !l, %r: !r) -> !l {
  %0 = frame.join semi %l, %r on ["a", "x"] = ["b", "y"] null_safe [true, true] : !l, !r -> !l
  return %0 : !l
}

// CHECK-LABEL: @by_filter
// CHECK: frame.join semi %arg0, %{{.*}} on ["a"] = ["b"] :
func.func @by_filter(%l: !l, %r: !r) -> !l {
  %0 = frame.filter %r columns ["b"] {
  ^bb0(%b: !frame.nullable<i64>):
    %null = frame.is_null %b : !frame.nullable<i64>
    %p = frame.not %null : i1
    frame.yield %p : i1
  } : !r
  %1 = frame.aggregate %0 keys ["b"] measures [] : !r -> !frame.table<"b": !frame.nullable<i64>>
  %2 = frame.join semi %l, %1 on ["a"] = ["b"] null_safe [true] : !l, !frame.table<"b": !frame.nullable<i64>> -> !l
  return %2 : !l
}

// CHECK-LABEL: @by_join
// CHECK: frame.join left %{{.*}}, %arg1 on ["a"] = ["b"] :
func.func @by_join(%l: !l, %r: !r, %m: !frame.table<"c": i64>)
    -> !frame.table<"a": !frame.nullable<i64>, "x": i64, "b": !frame.nullable<i64>, "y": !frame.nullable<i64>> {
  %0 = frame.join semi %l, %m on ["a"] = ["c"] : !l, !frame.table<"c": i64> -> !l
  %1 = frame.join left %0, %r on ["a"] = ["b"] null_safe [true] : !l, !r
      -> !frame.table<"a": !frame.nullable<i64>, "x": i64, "b": !frame.nullable<i64>, "y": !frame.nullable<i64>>
  return %1 : !frame.table<"a": !frame.nullable<i64>, "x": i64, "b": !frame.nullable<i64>, "y": !frame.nullable<i64>>
}
