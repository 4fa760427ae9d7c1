// `pipe.scan`: source: the columns of an input table, as storage promises them.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.scan split ["ranks"] "nation" [#pipe.scan_column<file = "n_nationkey", column = "n_nationkey", min = 0 : i64, max = 24 : i64>] holds 25 :
pipe.state @all join [#pipe.field<"n_nationkey", i32, key>]
pipe.pipeline @p0 {
  %0 = pipe.scan split ["ranks"] "nation" [#pipe.scan_column<file = "n_nationkey", column = "n_nationkey", min = 0 : i64, max = 24 : i64>] holds 25 : <"n_nationkey": i32>
  pipe.insert %0, @all keys ["n_nationkey"] : <"n_nationkey": i32>
}

// CHECK: pipe.scan split ["ranks"] resident ["n_nationkey"] "nation"
pipe.pipeline @p1 {
  %0 = pipe.scan split ["ranks"] resident ["n_nationkey"] "nation" [#pipe.scan_column<file = "n_nationkey", column = "n_nationkey">] : <"n_nationkey": i32>
  pipe.insert %0, @all keys ["n_nationkey"] : <"n_nationkey": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C1: columns must be those of the rows, got [#pipe.scan_column<file = "a", column = "b">]}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "b">] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C2: bounds a column that is not read: #pipe.bound<"b" lt 3 : i64>}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] bounds [#pipe.bound<"b" lt 3 : i64>] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C3: a table holds no negative number of rows: -3}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] holds -3 : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{a bound of the column "a" is an i64, a float or a string, got 3 : i32}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] bounds [#pipe.bound<"a" lt 3 : i32>] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C1: statistics are a least and a greatest i64, of the column "a"}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a", min = 3 : i64>] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C2: a figure of the column "a" is negative: -1.000000e+00 : f64}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a", page_bytes = -1.0 : f64>] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error @+1 {{C4: ordinals are i64 without statistics, got those of "row"}}
  %0 = pipe.scan "t" [#pipe.scan_column<column = "row", logical = i32>] : !pipe.rows<"row": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C5: what is split is resident, by columns of the scan, got ["a"]}}
  %0 = pipe.scan resident ["a"] "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C5: what is split is resident, by columns of the scan, got ["b"]}}
  %0 = pipe.scan split ["r"] resident ["b"] "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}
