// `pipe.filter`: keeps the rows for which the body yields 1.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.filter %{{.*}} ["a"]
pipe.stream @in local : !pipe.rows<"a": i32?>
pipe.stream @out result : !pipe.rows<"a": i32?>
pipe.pipeline @positive {
  %0 = pipe.receive @in : <"a": i32?>
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i32, %valid: i1):
    %zero = arith.constant 0 : i32
    %positive = arith.cmpi sgt, %a, %zero : i32
    %keep = arith.andi %positive, %valid : i1
    pipe.yield %keep : i1
  } : <"a": i32?> -> <"a": i32?>
  pipe.emit %1, @out keys [] : <"a": i32?>
}

// -----

pipe.state @s scalar [#pipe.field<"a", i32, min>]
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error @+1 {{body arguments must be the columns' values and validities}}
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i64):
    %c = arith.constant true
    pipe.yield %c : i1
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.combine %1, @s keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{unknown column: "b"}}
  %1 = pipe.filter %0 ["b"] {
  ^bb0(%b: i32):
    %c = arith.constant true
    pipe.yield %c : i1
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C1: the body must yield one i1}}
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C2: the selectivity is negative: -5.000000e-01}}
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i32):
    %c = arith.constant true
    pipe.yield %c : i1
  } {selectivity = -0.5 : f64} : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}
