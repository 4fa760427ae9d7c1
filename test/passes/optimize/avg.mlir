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
