// `pipe.read`: source: the rows of a finished state.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.read @count : <"n": i64>
pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.stream @out result : !pipe.rows<"n": i64>
pipe.pipeline @p1 {
  %0 = pipe.read @count : <"n": i64>
  pipe.emit %0, @out keys [] : <"n": i64>
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.stream @out result : !pipe.rows<"n": i64>
pipe.pipeline @p1 {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %0 = pipe.read @count {unknown} : <"n": i64>
  pipe.emit %0, @out keys [] : <"n": i64>
}
