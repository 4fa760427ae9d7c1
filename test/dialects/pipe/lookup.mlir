// `pipe.lookup`: finds the rows of a join state with equal keys.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.lookup %{{.*}}, @nations  inner keys ["s_nationkey"] payload ["n_name"] columns []
pipe.state @nations join [#pipe.field<"n_nationkey", i32, key>, #pipe.field<"n_name", !pipe.string, payload>]
pipe.stream @in local : !pipe.rows<"s_nationkey": i32>
pipe.stream @out result : !pipe.rows<"n_name": !pipe.string>
pipe.pipeline @named {
  %0 = pipe.receive @in : <"s_nationkey": i32>
  %1 = pipe.lookup %0, @nations inner keys ["s_nationkey"] payload ["n_name"] columns [] {
  } : <"s_nationkey": i32> -> <"n_name": !pipe.string>
  pipe.emit %1, @out keys [] : <"n_name": !pipe.string>
}

// -----

pipe.state @nations join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C1: the selectivity is negative: -1.000000e+00}}
  %1 = pipe.lookup %0, @nations semi keys ["a"] payload [] columns [] {
  } {selectivity = -1.0 : f64} : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.state @nations join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{requires attribute 'kind'}}
  %1 = "pipe.lookup"(%0) <{columns = [], keys = ["a"], payload = [], state = @nations}> ({
  }) : (!pipe.rows<"a": i32>) -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.state @nations join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C2: exactly the kinds mark, full and seen mark something, got semi}}
  %1 = pipe.lookup %0, @nations semi keys ["a"] payload [] mark "m" columns [] {
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}
