// `frame.struct`: a struct of values.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.struct %{{.*}}, %{{.*}} : (i64, !frame.nullable<!frame.string>) -> !frame.struct<"a": i64, "b": !frame.string>
func.func @struct(%a: i64, %b: !frame.nullable<!frame.string>) {
  %0 = frame.struct %a, %b
      : (i64, !frame.nullable<!frame.string>) -> !frame.struct<"a": i64, "b": !frame.string>
  return
}

// -----

func.func @struct_c1_count(%a: i64) {
  // expected-error @+1 {{needs a value for each of its fields, got 1}}
  %0 = frame.struct %a : (i64) -> !frame.struct<"a": i64, "b": i64>
  return
}

// -----

func.func @struct_c1(%a: i32) {
  // expected-error @+1 {{needs a field of type 'i64', got 'i32'}}
  %0 = frame.struct %a : (i32) -> !frame.struct<"a": i64>
  return
}
