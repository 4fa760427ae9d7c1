// RUN: not headrace-opt --optimize-avg %s 2>&1 | FileCheck %s

func.func @two_columns(%t: !frame.table<"x": i64, "y": i64>) -> !frame.table<"a": i64, "b": i64> {
  // CHECK: count_distinct of several columns in one aggregate is not supported, got "x" and "y"
  %0 = frame.aggregate %t keys []
      measures [#frame.measure<count_distinct("x") -> "a">, #frame.measure<count_distinct("y") -> "b">]
      : !frame.table<"x": i64, "y": i64> -> !frame.table<"a": i64, "b": i64>
  return %0 : !frame.table<"a": i64, "b": i64>
}
