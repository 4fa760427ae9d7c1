// Comparisons: numbers as the machine has them; of floats NaN is the largest and equals itself; a NULL makes NULL.
// Sources: passes/form/comparisons.cpp
// RUN: headrace-opt %s --form --split-input-file | FileCheck %s

// CHECK: %[[NAN_B:.*]] = arith.cmpf uno, %[[B:.*]], %[[B]]
// CHECK: %[[NAN_A:.*]] = arith.cmpf uno, %[[A:.*]], %[[A]]
// CHECK: %[[NUMBER_A:.*]] = arith.xori %[[NAN_A]]
// CHECK: %[[BELOW_NAN:.*]] = arith.andi %[[NAN_B]], %[[NUMBER_A]]
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[A]], %[[B]]
// CHECK: arith.ori %[[BELOW]], %[[BELOW_NAN]]
!t = !frame.table<"a": f64, "b": f64>
func.func @main() -> !t {
  %0 = frame.scan "t" ["a", "b"] : !t
  %1 = frame.filter %0 columns ["a", "b"] {
  ^bb0(%a: f64, %b: f64):
    %p = frame.compare lt %a, %b : (f64, f64) -> i1
    frame.yield %p : i1
  } : !t
  return %1 : !t
}

// -----

// Both are NULL, or neither and they are equal.
// CHECK: ^bb0(%[[A:.*]]: i64, %[[VALID_A:.*]]: i1, %[[B:.*]]: i64, %[[VALID_B:.*]]: i1):
// CHECK: %[[EQUAL:.*]] = arith.cmpi eq, %[[A]], %[[B]]
// CHECK: %[[ANY:.*]] = arith.ori %[[VALID_A]], %[[VALID_B]]
// CHECK: %[[NONE:.*]] = arith.xori %[[ANY]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[VALID_A]], %[[VALID_B]]
// CHECK: %[[SAME:.*]] = arith.andi %[[BOTH]], %[[EQUAL]]
// CHECK: arith.ori %[[NONE]], %[[SAME]]
!t = !frame.table<"a": !frame.nullable<i64>, "b": !frame.nullable<i64>>
func.func @main() -> !t {
  %0 = frame.scan "t" ["a", "b"] : !t
  %1 = frame.filter %0 columns ["a", "b"] {
  ^bb0(%a: !frame.nullable<i64>, %b: !frame.nullable<i64>):
    %p = frame.compare is_not_distinct_from %a, %b : (!frame.nullable<i64>, !frame.nullable<i64>) -> i1
    frame.yield %p : i1
  } : !t
  return %1 : !t
}

// -----

// Texts are compared by an op of their own; the row groups that cannot have such a text are bounded out.
// CHECK: bounds [#pipe.bound<"a" ge "m">]
// CHECK: %[[TEXT:.*]] = pipe.literal "m"
// CHECK: pipe.string_compare ge %{{.*}}, %[[TEXT]]
!t = !frame.table<"a": !frame.string>
func.func @main() -> !t {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.filter %0 columns ["a"] {
  ^bb0(%a: !frame.string):
    %b = frame.constant "m" : !frame.string
    %p = frame.compare ge %a, %b : (!frame.string, !frame.string) -> i1
    frame.yield %p : i1
  } : !t
  return %1 : !t
}
