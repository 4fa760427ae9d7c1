// Sources: passes/optimize/long_lists.cpp
// RUN: headrace-opt %s --pass-pipeline='builtin.module(func.func(optimize-long-lists))' | FileCheck %s

!t = !frame.table<"a": i64, "b": !frame.nullable<i64>>
!out = !frame.table<"a": i64, "in": !frame.nullable<i1>>

// A condition is a semi join; the rest of it is looked at behind.
// CHECK-LABEL: @condition
// CHECK: %[[LIST:.*]] = frame.values {{.*}}<"member": i64>
// CHECK: %[[KEPT:.*]] = frame.join semi %arg0, %[[LIST]] on ["b"] = ["member"]
// CHECK: frame.filter %[[KEPT]] columns ["a"]
// CHECK-NOT: frame.in
func.func @condition(%t: !t) -> !t {
  %0 = frame.filter %t columns ["a", "b"] {
  ^bb0(%a: i64, %b: !frame.nullable<i64>):
    %1 = frame.in %b [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129] : (!frame.nullable<i64>) -> !frame.nullable<i1>
    %2 = frame.constant 7 : i64
    %3 = frame.compare lt %a, %2 : (i64, i64) -> i1
    %4 = frame.and %1, %3 : (!frame.nullable<i1>, i1) -> !frame.nullable<i1>
    frame.yield %4 : !frame.nullable<i1>
  } : !t
  return %0 : !t
}

// Anywhere else it is a mark, not known of NULL. The column of the mark does not come out.
// CHECK-LABEL: @negation
// CHECK: %[[MARKED:.*]] = frame.join mark %arg0, %{{.*}} on ["b"] = ["member"]
// CHECK: %[[FILTER:.*]] = frame.filter %[[MARKED]] columns ["b", "is_member"]
// CHECK: frame.is_null
// CHECK: frame.case
// CHECK: frame.project %[[FILTER]] keep ["a", "b"]
func.func @negation(%t: !t) -> !t {
  %0 = frame.filter %t columns ["b"] {
  ^bb0(%b: !frame.nullable<i64>):
    %1 = frame.in %b [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129] : (!frame.nullable<i64>) -> !frame.nullable<i1>
    %2 = frame.not %1 : !frame.nullable<i1>
    frame.yield %2 : !frame.nullable<i1>
  } : !t
  return %0 : !t
}

// CHECK-LABEL: @value
// CHECK: %[[MARKED:.*]] = frame.join mark %arg0
// CHECK: frame.project %[[MARKED]] keep ["a"] compute ["in"] columns ["b", "is_member"]
// CHECK-LABEL: @short
// CHECK: frame.in
func.func @value(%t: !t) -> !out {
  %0 = frame.project %t keep ["a"] compute ["in"] columns ["b"] {
  ^bb0(%b: !frame.nullable<i64>):
    %1 = frame.in %b [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129] : (!frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %1 : !frame.nullable<i1>
  } : !t -> !out
  return %0 : !out
}
func.func @short(%t: !t) -> !t {
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: i64):
    %1 = frame.in %a [1, 2, 3] : (i64) -> i1
    frame.yield %1 : i1
  } : !t
  return %0 : !t
}
