// `pipe.date_part`: year, month or day of a date (days since 1970-01-01).
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.date_part  year %{{.*}}
func.func @body(%date: i32) -> i64 {
  %0 = pipe.date_part year %date
  return %0 : i64
}

// -----

func.func @body(%date: i32) -> i64 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.date_part year %date {unknown}
  return %0 : i64
}
