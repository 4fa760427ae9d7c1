// `frame.field`: a field of a struct.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.field %{{.*}}[1] : !frame.struct<"a": i64, "b": !frame.string> -> !frame.nullable<!frame.string>
func.func @field(%s: !frame.struct<"a": i64, "b": !frame.string>) {
  %0 = frame.field %s[1] : !frame.struct<"a": i64, "b": !frame.string> -> !frame.nullable<!frame.string>
  return
}

// -----

func.func @field_c1(%s: !frame.struct<"a": i64>) {
  // expected-error @+1 {{has no field 1}}
  %0 = frame.field %s[1] : !frame.struct<"a": i64> -> !frame.nullable<i64>
  return
}

// -----

func.func @field_c2(%s: !frame.struct<"a": i64>) {
  // expected-error @+1 {{result must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.field %s[0] : !frame.struct<"a": i64> -> i64
  return
}
