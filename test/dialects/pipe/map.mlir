// `pipe.map`: computes columns from columns of the same row.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.map %{{.*}} ["b"] ["a"]
pipe.stream @in local : !pipe.rows<"a": i32>
pipe.stream @out result : !pipe.rows<"a": i32, "b": i32>
pipe.pipeline @doubled {
  %0 = pipe.receive @in : <"a": i32>
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    %b = arith.addi %a, %a : i32
    pipe.yield %b : i32
  } : <"a": i32> -> <"a": i32, "b": i32>
  pipe.emit %1, @out keys [] : <"a": i32, "b": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{the body must end with pipe.yield}}
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    %b = arith.addi %a, %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{computed column missing in the result: "c"}}
  %1 = pipe.map %0 ["c"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{the body must yield the values and validities of the computed columns}}
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32?>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32?>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{gives a column that it neither gets nor computes: "b"}}
  %1 = pipe.map %0 ["c"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32, "c": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32, "c": i32>
}
