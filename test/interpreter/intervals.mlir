// Intervals: made of numbers, their parts, texts, keys and means, in every stage of the compiler.
// Sources: runtime/base/interval_values.cpp, runtime/base/interval_text.cpp, passes/form/expressions.cpp, passes/analysis/scalar_evaluation.cpp
// RUN: headrace-interpret %s --check --mesh ranks:1 --mesh ranks:3 --layouts 8 | FileCheck %s

// CHECK:      n,i,text,days
// CHECK-NEXT: 1,"00:00:00","00:00:00",0
// CHECK-NEXT: 1,"1 month -1 day -00:00:00.5","1 month -1 day -00:00:00.5",-1
// CHECK-NEXT: 3,"1 month","1 month",0
// CHECK:      compared {{[1-9][0-9]+}} stages
!i = !frame.interval
!t = !frame.table<"m": i64, "d": i64, "u": i64>
!k = !frame.table<"m": i64, "d": i64, "u": i64, "i": !i, "key": !frame.binary>
!g = !frame.table<"key": !frame.binary, "n": i64, "i": !i>
!o = !frame.table<"n": i64, "i": !i, "text": !frame.string, "days": i64>
func.func @lengths() -> !o {
  %t = frame.values [[1, 0, 0], [1, -1, -500000], [1, 0, 0], [1, 0, 0], [0, 0, 0]] : !t
  %k = frame.project %t keep ["m", "d", "u"] compute ["i", "key"] columns ["m", "d", "u"] {
  ^bb0(%m: i64, %d: i64, %u: i64):
    %i = frame.text "interval_make"(%m, %d, %u) : (i64, i64, i64) -> !i
    %s = frame.cast %i : !i -> !frame.string
    %b = frame.cast %s : !frame.string -> !i
    %y = frame.text "interval_key"(%b) : (!i) -> !frame.binary
    frame.yield %b, %y : !i, !frame.binary
  } : !t -> !k
  %g = frame.aggregate %k keys ["key"] measures [#frame.measure<count_star -> "n">, #frame.measure<min("i") -> "i">] : !k -> !g
  %s = frame.sort %g by [#frame.sort_key<"key" asc nulls_last>] : !g
  %r = frame.project %s keep ["n", "i"] compute ["text", "days"] columns ["i"] {
  ^bb0(%i: !i):
    %x = frame.cast %i : !i -> !frame.string
    %d = frame.text "interval_days"(%i) : (!i) -> i64
    frame.yield %x, %d : !frame.string, i64
  } : !g -> !o
  return %r : !o
}
