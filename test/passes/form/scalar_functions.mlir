// Functions of numbers: decimals by integers, halves away from zero; floats by math; the least integer has no absolute value.
// Sources: passes/form/scalar_functions.cpp
// RUN: headrace-opt %s --form --split-input-file | FileCheck %s

// The quotient by 100, one more or less where the rest is a half or beyond; 999999.95 has no room in seven digits.
// CHECK: %[[WHOLE:.*]] = arith.divsi
// CHECK: %[[REST:.*]] = arith.subi
// CHECK: arith.cmpi sge, %[[REST]], %c50_i64
// CHECK: arith.cmpi sle, %[[REST]], %c-50_i64
// CHECK: pipe.fail_if %{{.*}}, overflow
!t = !frame.table<"a": !frame.decimal<9, 3>>
!r = !frame.table<"m": !frame.decimal<7, 1>>
func.func @main() -> !r {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.project %0 keep [] compute ["m"] columns ["a"] {
  ^bb0(%a: !frame.decimal<9, 3>):
    %m = frame.number round %a digits 1 : (!frame.decimal<9, 3>) -> !frame.decimal<7, 1>
    frame.yield %m : !frame.decimal<7, 1>
  } : !t -> !r
  return %1 : !r
}

// -----

// Numbers beyond 2^52 are whole; below, the conversion to an integer truncates, and a negative rest asks for one less.
// CHECK: %[[SIZE:.*]] = math.absf
// CHECK: arith.cmpf olt, %[[SIZE]]
// CHECK: arith.fptosi
// CHECK: math.copysign
// CHECK: arith.addf %{{.*}}, %{{.*}} : f64
// CHECK: arith.select
!t = !frame.table<"a": f64>
!r = !frame.table<"m": f64>
func.func @main() -> !r {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.project %0 keep [] compute ["m"] columns ["a"] {
  ^bb0(%a: f64):
    %m = frame.number floor %a : (f64) -> f64
    frame.yield %m : f64
  } : !t -> !r
  return %1 : !r
}

// -----

// CHECK: arith.subi %{{.*}}, %{{.*}} : i128
// CHECK: arith.cmpi sgt, %{{.*}}, %c9223372036854775807_i128
// CHECK: pipe.fail_if %{{.*}}, overflow
!t = !frame.table<"a": i64>
func.func @main() -> !t {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.project %0 keep [] compute ["m"] columns ["a"] {
  ^bb0(%a: i64):
    %m = frame.number abs %a : (i64) -> i64
    frame.yield %m : i64
  } : !t -> !frame.table<"m": i64>
  %2 = frame.rename %1 : !frame.table<"m": i64> -> !t
  return %2 : !t
}

// -----

// What random() draws by is multiplied and shifted in place; the number of the run comes from outside.
// CHECK: %[[SEED:.*]] = pipe.run_seed
// CHECK: arith.addi %[[SEED]], %{{.*}} : i64
// CHECK: arith.muli
// CHECK: arith.shrui %{{.*}}, %c12_i64
// CHECK-NOT: pipe.integer_math
!t = !frame.table<"a": i64>
!r = !frame.table<"m": i64>
func.func @main() -> !r {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.project %0 keep [] compute ["m"] columns ["a"] {
  ^bb0(%a: i64):
    %seed = frame.run_seed : i64
    %m = frame.math "scramble" %a, %seed : (i64, i64) -> i64
    frame.yield %m : i64
  } : !t -> !r
  return %1 : !r
}
