// `pipe.parse`: a number, date, time, timestamp or boolean from text, and whether it is one.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.parse  integer %{{.*}} scale 2 : i128
func.func @body(%text: !pipe.string) -> i1 {
  %value, %valid = pipe.parse integer %text scale 2 : i128
  return %valid : i1
}

// -----

func.func @body(%a: !pipe.string) -> i128 {
  // expected-error@+1 {{C2: the scale of an integer is 0 to 38, of a time or timestamp 0, 3, 6 or 9, of others 0, got 3}}
  %0, %1 = pipe.parse date %a scale 3 : i128
  return %0 : i128
}
