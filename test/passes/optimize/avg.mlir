// avg becomes sum and count, shared with measures that are there; count_distinct two aggregates.
// RUN: headrace-opt --optimize-avg %s | FileCheck %s

// CHECK-LABEL: func.func @decimal
// CHECK: frame.aggregate %{{.*}} keys ["k"] measures [#frame.measure<sum("x") -> "total">, #frame.measure<count_star -> "count_x">]
// CHECK: frame.project %{{.*}} keep ["k", "total"] compute ["mean"] columns ["total", "count_x"]
// CHECK: %[[N:.*]] = frame.cast %count_x : i64 -> !frame.decimal<19, 0>
// CHECK: frame.divide %total, %[[N]] : (!frame.decimal<25, 2>, !frame.decimal<19, 0>) -> !frame.decimal<19, 6>
func.func @decimal(%t: !frame.table<"k": i64, "x": !frame.decimal<15, 2>>)
    -> !frame.table<"k": i64, "mean": !frame.decimal<19, 6>, "total": !frame.decimal<25, 2>> {
  %0 = frame.aggregate %t keys ["k"]
      measures [#frame.measure<avg("x") -> "mean">, #frame.measure<sum("x") -> "total">]
      : !frame.table<"k": i64, "x": !frame.decimal<15, 2>>
      -> !frame.table<"k": i64, "mean": !frame.decimal<19, 6>, "total": !frame.decimal<25, 2>>
  return %0 : !frame.table<"k": i64, "mean": !frame.decimal<19, 6>, "total": !frame.decimal<25, 2>>
}

// An average of nothing is NULL, as its sum is. Integers are added up exactly.
// CHECK-LABEL: func.func @nullable
// CHECK: measures [#frame.measure<sum("x") -> "sum_x">, #frame.measure<count("x") -> "count_x">]
// CHECK: frame.divide %sum_x, %count_x : (!frame.nullable<i128>, i64) -> !frame.nullable<f64>
func.func @nullable(%t: !frame.table<"x": !frame.nullable<i64>>) -> !frame.table<"mean": !frame.nullable<f64>> {
  %0 = frame.aggregate %t keys [] measures [#frame.measure<avg("x") -> "mean">]
      : !frame.table<"x": !frame.nullable<i64>> -> !frame.table<"mean": !frame.nullable<f64>>
  return %0 : !frame.table<"mean": !frame.nullable<f64>>
}

// A decimal average as a double shares the sum as DuckDB types it.
// CHECK-LABEL: func.func @real_average
// CHECK: measures [#frame.measure<sum("x") -> "total">, #frame.measure<count_star -> "count_x">]
// CHECK: frame.divide %total, %count_x : (!frame.decimal<38, 2>, i64) -> f64
func.func @real_average(%t: !frame.table<"k": i64, "x": !frame.decimal<15, 2>>)
    -> !frame.table<"k": i64, "mean": f64, "total": !frame.decimal<38, 2>> {
  %0 = frame.aggregate %t keys ["k"]
      measures [#frame.measure<avg("x") -> "mean">, #frame.measure<sum("x") -> "total">]
      : !frame.table<"k": i64, "x": !frame.decimal<15, 2>>
      -> !frame.table<"k": i64, "mean": f64, "total": !frame.decimal<38, 2>>
  return %0 : !frame.table<"k": i64, "mean": f64, "total": !frame.decimal<38, 2>>
}

// A decimal average of nothing is NULL: the division is not reached.
// CHECK-LABEL: func.func @decimal_of_nothing
// CHECK: %[[SOME:.*]] = frame.compare gt %count_x
// CHECK: %[[Q:.*]] = frame.divide
// CHECK: frame.case when %[[SOME]] then %[[Q]]
func.func @decimal_of_nothing(%t: !frame.table<"x": !frame.decimal<15, 2>>)
    -> !frame.table<"mean": !frame.nullable<!frame.decimal<19, 6>>> {
  %0 = frame.aggregate %t keys [] measures [#frame.measure<avg("x") -> "mean">]
      : !frame.table<"x": !frame.decimal<15, 2>> -> !frame.table<"mean": !frame.nullable<!frame.decimal<19, 6>>>
  return %0 : !frame.table<"mean": !frame.nullable<!frame.decimal<19, 6>>>
}

// CHECK-LABEL: func.func @distinct
// CHECK: frame.aggregate %{{.*}} keys ["k", "x"] measures [#frame.measure<count_star -> "partial_n">]
// CHECK: frame.aggregate %{{.*}} keys ["k"] measures [#frame.measure<count("x") -> "d">, #frame.measure<sum("partial_n") -> "n">]
func.func @distinct(%t: !frame.table<"k": i64, "x": !frame.nullable<i64>>)
    -> !frame.table<"k": i64, "d": i64, "n": i64> {
  %0 = frame.aggregate %t keys ["k"]
      measures [#frame.measure<count_distinct("x") -> "d">, #frame.measure<count_star -> "n">]
      : !frame.table<"k": i64, "x": !frame.nullable<i64>> -> !frame.table<"k": i64, "d": i64, "n": i64>
  return %0 : !frame.table<"k": i64, "d": i64, "n": i64>
}

// Sums of a column plus constants are its sum and its count.
// CHECK-LABEL: func.func @shifted
// CHECK: frame.project %{{.*}} keep ["k", "x"]
// CHECK: frame.aggregate %{{.*}} keys ["k"] measures [#frame.measure<sum("z") -> "far">, #frame.measure<sum("x") -> "sum_x">, #frame.measure<count_star -> "count_x">]
// CHECK: %[[PLUS:.*]] = frame.constant 7 : i128
// CHECK: %[[COUNT:.*]] = frame.cast %count_x : i64 -> i128
// CHECK: %[[ALL:.*]] = frame.multiply %[[COUNT]], %[[PLUS]] : (i128, i128) -> i128
// CHECK: frame.add %sum_x, %[[ALL]] : (i128, i128) -> i128
// CHECK: frame.constant -3 : i128
func.func @shifted(%t: !frame.table<"k": i64, "x": i16>) -> !frame.table<"k": i64, "a": i128, "b": i128, "far": i128> {
  %0 = frame.project %t keep ["k"] compute ["y", "w", "z"] columns ["x"] {
  ^bb0(%x: i16):
    %wide = frame.cast %x : i16 -> i32
    %seven = frame.constant 7 : i32
    %y = frame.add %seven, %wide : (i32, i32) -> i32
    %three = frame.constant 3 : i32
    %w = frame.subtract %wide, %three : (i32, i32) -> i32
    %one = frame.constant 1 : i16
    %z = frame.add %x, %one : (i16, i16) -> i16
    frame.yield %y, %w, %z : i32, i32, i16
  } : !frame.table<"k": i64, "x": i16> -> !frame.table<"k": i64, "y": i32, "w": i32, "z": i16>
  %1 = frame.aggregate %0 keys ["k"]
      measures [#frame.measure<sum("y") -> "a">, #frame.measure<sum("w") -> "b">, #frame.measure<sum("z") -> "far">]
      : !frame.table<"k": i64, "y": i32, "w": i32, "z": i16>
      -> !frame.table<"k": i64, "a": i128, "b": i128, "far": i128>
  return %1 : !frame.table<"k": i64, "a": i128, "b": i128, "far": i128>
}
