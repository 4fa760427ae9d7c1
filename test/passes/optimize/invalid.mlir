// RUN: headrace-opt %s --pass-pipeline="builtin.module(func.func(optimize-scalar-subqueries))" --verify-diagnostics

!u = !frame.table<"m": !frame.nullable<i64>>
func.func @in_a_tensor(%u: !frame.table<"b": i64>) -> tensor<4xi1> {
  %0 = frame.aggregate %u keys [] measures [#frame.measure<max("b") -> "m">] : !frame.table<"b": i64> -> !u
  %max = frame.scalar_subquery %0 : !u -> !frame.nullable<i64>
  %e = tensor.empty() : tensor<4xi1>
  // expected-error@+1 {{a scalar subquery in this place is not supported, got: linalg.generic}}
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xi1>) {
  ^bb0(%out: i1):
    %unknown = frame.is_null %max : !frame.nullable<i64>
    linalg.yield %unknown : i1
  } -> tensor<4xi1>
  return %1 : tensor<4xi1>
}
