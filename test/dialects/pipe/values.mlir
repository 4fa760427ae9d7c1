// `pipe.values`: source: literal rows.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.values {{\[\[}}1 : i128, "one"], [2 : i128, unit]] [i64, !frame.string] : <"n": i32, "word": !pipe.string?>
pipe.stream @out result : !pipe.rows<"n": i32, "word": !pipe.string?>
pipe.pipeline @p0 {
  %0 = pipe.values [[1 : i128, "one"], [2 : i128, unit]] [i64, !frame.string] : <"n": i32, "word": !pipe.string?>
  pipe.emit %0, @out keys [] : <"n": i32, "word": !pipe.string?>
}

// -----

pipe.stream @s local : !pipe.rows<"n": i32>
pipe.pipeline @p0 {
  // expected-error@+1 {{has a type for each column of its rows, got []}}
  %0 = pipe.values [[1 : i128]] [] : <"n": i32>
  pipe.emit %0, @s keys [] : <"n": i32>
}
