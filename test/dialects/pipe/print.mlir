// `pipe.print`: a number, date, time, timestamp or boolean as text.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.print  integer %{{.*}} scale 2 : i128
func.func @body(%cents: i128) -> !pipe.string {
  %0 = pipe.print integer %cents scale 2 : i128
  return %0 : !pipe.string
}

// -----

func.func @body(%a: i64) -> !pipe.string {
  // expected-error@+1 {{C1: integer is of another type than 'i64'}}
  %0 = pipe.print integer %a scale 0 : i64
  return %0 : !pipe.string
}
