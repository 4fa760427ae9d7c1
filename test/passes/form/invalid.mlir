// RUN: headrace-opt %s --form -split-input-file -verify-diagnostics

!t = !frame.table<"a": i64>
func.func @main() -> !frame.table<"a": !frame.nullable<i64>, "b": i64> {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.scan "u" ["b"] : !frame.table<"b": i64>
  // expected-error @+1 {{a right join must be a left join before pipelines are formed}}
  %2 = frame.join right %0, %1 on ["a"] = ["b"] : !t, !frame.table<"b": i64> -> !frame.table<"a": !frame.nullable<i64>, "b": i64>
  return %2 : !frame.table<"a": !frame.nullable<i64>, "b": i64>
}
