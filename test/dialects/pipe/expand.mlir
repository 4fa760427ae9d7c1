// `pipe.expand`: each row as often as a column says, numbered.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.expand %{{.*}} by "n" number "i" : <"a": i32, "n": i64> -> <"a": i32, "i": i64>
pipe.stream @in local : !pipe.rows<"a": i32, "n": i64>
pipe.stream @out result : !pipe.rows<"a": i32, "i": i64>
pipe.pipeline @expanded {
  %0 = pipe.receive @in : <"a": i32, "n": i64>
  %1 = pipe.expand %0 by "n" number "i" : <"a": i32, "n": i64> -> <"a": i32, "i": i64>
  pipe.emit %1, @out keys [] : <"a": i32, "i": i64>
}

// -----

pipe.stream @in local : !pipe.rows<"n": i64?>
pipe.stream @out result : !pipe.rows<"i": i64>
pipe.pipeline @expand_c1 {
  %0 = pipe.receive @in : <"n": i64?>
  // expected-error@+1 {{C1: needs an integer that is not nullable to expand by, got "n"}}
  %1 = pipe.expand %0 by "n" number "i" : <"n": i64?> -> <"i": i64>
  pipe.emit %1, @out keys [] : <"i": i64>
}

// -----

pipe.stream @in local : !pipe.rows<"n": i64>
pipe.stream @out result : !pipe.rows<"i": i32>
pipe.pipeline @expand_c2 {
  %0 = pipe.receive @in : <"n": i64>
  // expected-error@+1 {{C2: needs an i64 for the number, got "i"}}
  %1 = pipe.expand %0 by "n" number "i" : <"n": i64> -> <"i": i32>
  pipe.emit %1, @out keys [] : <"i": i32>
}

// -----

pipe.stream @in local : !pipe.rows<"n": i64>
pipe.stream @out result : !pipe.rows<"i": i64>
pipe.pipeline @expand_c3 {
  %0 = pipe.receive @in : <"n": i64>
  // expected-error@+1 {{C3: the selectivity}}
  %1 = pipe.expand %0 by "n" number "i" {selectivity = -1.0 : f64} : <"n": i64> -> <"i": i64>
  pipe.emit %1, @out keys [] : <"i": i64>
}
