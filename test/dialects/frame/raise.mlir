// `frame.raise`: fails the query for the rows that reach it.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.raise more_than_one_row "more than one row returned by a subquery" : i64
func.func @raise(%many: i1, %a: i64) {
  %e = frame.raise more_than_one_row "more than one row returned by a subquery" : i64
  %0 = frame.case when %many then %e else %a : (i1), (i64), i64 -> i64
  return
}

// -----

func.func @raise_c1() {
  // expected-error @+1 {{needs a message}}
  %0 = frame.raise user "" : i64
  return
}
