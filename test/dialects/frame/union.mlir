// `frame.union`: the rows of all inputs, duplicates kept.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.union %{{.*}}, %{{.*}} : !frame.table<"a": i64>, !frame.table<"b": !frame.nullable<i64>> -> <"u": !frame.nullable<i64>>
func.func @union(%a: !frame.table<"a": i64>, %b: !frame.table<"b": !frame.nullable<i64>>) {
  %0 = frame.union %a, %b : !frame.table<"a": i64>, !frame.table<"b": !frame.nullable<i64>>
      -> !frame.table<"u": !frame.nullable<i64>>
  return
}

// -----

func.func @union_c1(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{needs at least two inputs, got 1}}
  %0 = frame.union %t : !frame.table<"a": i64> -> !frame.table<"u": i64>
  return
}

// -----

func.func @union_c1_columns(%t: !frame.table<"a": i64>, %s: !frame.table<>) {
  // expected-error @+1 {{needs inputs with as many columns as the result, got '!frame.table<>'}}
  %0 = frame.union %t, %s : !frame.table<"a": i64>, !frame.table<> -> !frame.table<"u": i64>
  return
}

// -----

func.func @union_c2(%t: !frame.table<"a": i64>, %s: !frame.table<"b": !frame.nullable<i64>>) {
  // expected-error @+1 {{result column does not have the type of the inputs' columns: "u": 'i64'}}
  %0 = frame.union %t, %s : !frame.table<"a": i64>, !frame.table<"b": !frame.nullable<i64>>
      -> !frame.table<"u": i64>
  return
}
