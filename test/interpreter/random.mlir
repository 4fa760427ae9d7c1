// What random() draws, of the rows' numbers and of the run's, which is 0 here, in every stage of the compiler.
// Sources: passes/analysis/scalar_evaluation.cpp, passes/form/scalar_functions.cpp
// RUN: headrace-interpret %s --check --tables %S/tables --layouts 8 --mesh ranks:1 --mesh ranks:3 | FileCheck %s

// CHECK:      a,seed,x
// CHECK:      compared {{[1-9][0-9]+}} stages
!n = !frame.table<"a": i64>
!r = !frame.table<"a": i64, "seed": i64, "x": i64>
func.func @drawn() -> !r {
  %v = frame.values [[0], [1], [9223372036854775807]] : !n
  %p = frame.project %v keep ["a"] compute ["seed", "x"] columns ["a"] {
  ^bb0(%a: i64):
    %seed = frame.run_seed : i64
    %x = frame.math "scramble" %a, %seed : (i64, i64) -> i64
    frame.yield %seed, %x : i64, i64
  } : !n -> !r
  return %p : !r
}
