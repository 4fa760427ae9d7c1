// Distinct measures of several columns: an aggregate each, joined on the keys, of which one may be NULL.
// RUN: headrace-opt --optimize-avg %s | FileCheck %s

!t = !frame.table<"g": !frame.nullable<i64>, "x": i64, "y": i64>
// CHECK-LABEL: @two_columns
func.func @two_columns(%t: !t) -> !frame.table<"g": !frame.nullable<i64>, "a": i64, "b": i64> {
  // CHECK: frame.aggregate %{{.*}} keys ["g", "x"] measures []
  // CHECK: %[[X:.*]] = frame.aggregate %{{.*}} keys ["g"] measures [#frame.measure<count("x") -> "a">]
  // CHECK: frame.aggregate %{{.*}} keys ["g", "y"] measures []
  // CHECK: frame.aggregate %{{.*}} keys ["g"] measures [#frame.measure<sum("y") -> "b">]
  // CHECK: frame.join inner {{.*}} on ["g"] = ["g.1"] null_safe [true]
  %0 = frame.aggregate %t keys ["g"]
      measures [#frame.measure<count_distinct("x") -> "a">, #frame.measure<sum_distinct("y") -> "b">]
      : !t -> !frame.table<"g": !frame.nullable<i64>, "a": i64, "b": i64>
  return %0 : !frame.table<"g": !frame.nullable<i64>, "a": i64, "b": i64>
}
