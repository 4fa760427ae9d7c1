// A body computes scalars: other ops of the dialect have no code in it.
// RUN: headrace-opt %s --lower-kernels --verify-diagnostics
// RUN: headrace-opt %s --lower-gpu-kernels --verify-diagnostics

pipe.state @all scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "a", file = "a">] : !pipe.rows<"a": i64>
  %1 = pipe.map %0 ["n"] ["a"] {
  ^bb0(%a: i64):
    // expected-error@+1 {{cannot be lowered here}}
    %rows = pipe.scan "u" [#pipe.scan_column<column = "n", file = "b">] : !pipe.rows<"n": i64>
    pipe.combine %rows, @all keys [] : !pipe.rows<"n": i64>
    pipe.yield %a : i64
  } : !pipe.rows<"a": i64> -> !pipe.rows<"n": i64>
  pipe.combine %1, @all keys [] : !pipe.rows<"n": i64>
}
