// A table that rounds of another state fill and look into has the rows of one round: rows that meet in it must be of one
// part, by all keys of the divided state. Else the state's rows are kept, or it is not divided.
// Sources: passes/form/piece_order.cpp, passes/form/divide_states.cpp
// RUN: headrace-opt %s --split-input-file --divide-states=memory-bytes=1000000 | FileCheck %s

// Groups meet those with the next key.
// CHECK: pipe.state @totals_kept rows
// CHECK: pipe.pipeline @totals_keeps repeats @totals_rounds
// CHECK: pipe.pipeline @fill {
// CHECK: pipe.read @totals_kept
// CHECK: pipe.pipeline @probe {
// CHECK: pipe.read @totals_kept
pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>] holds <expected = 100000, p95 = 120000, max = 200000>
pipe.state @build join [#pipe.field<"next", i32, key>] holds <expected = 10, p95 = 20, max = 1000>
pipe.stream @out result names ["total"] logical [i64] : !pipe.rows<"total": i64>
pipe.pipeline @scan {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">, #pipe.scan_column<column = "total", file = "total">] : !pipe.rows<"k": i32, "total": i64>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32, "total": i64>
}
pipe.pipeline @merge_totals merges @totals {
  %0 = pipe.read @totals : !pipe.rows<"k": i32, "total": i64>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32, "total": i64>
}
pipe.pipeline @fill {
  %0 = pipe.read @totals : !pipe.rows<"k": i32>
  %1 = pipe.map %0 ["next"] ["k"] {
  ^bb0(%k: i32):
    %one = arith.constant 1 : i32
    %next = arith.addi %k, %one : i32
    pipe.yield %next : i32
  } : !pipe.rows<"k": i32> -> !pipe.rows<"next": i32>
  pipe.insert %1, @build keys ["next"] : !pipe.rows<"next": i32>
}
pipe.pipeline @probe {
  %0 = pipe.read @totals : !pipe.rows<"k": i32, "total": i64>
  %1 = pipe.lookup %0, @build semi keys ["k"] payload [] columns [] {
  } : !pipe.rows<"k": i32, "total": i64> -> !pipe.rows<"total": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"total": i64>
}

// -----

// Groups meet those with the same keys, which are copied and passed on with their NULLs, in another order.
// CHECK-NOT: rows [
// CHECK: pipe.pipeline @fill repeats @totals_rounds {
// CHECK: pipe.pipeline @probe repeats @totals_rounds {
pipe.state @totals group [#pipe.field<"k", i32, key, nullable = true>, #pipe.field<"l", i32, key>, #pipe.field<"total", i64, sum>] holds <expected = 100000, p95 = 120000, max = 200000>
pipe.state @build join [#pipe.field<"l", i32, key>, #pipe.field<"again", i32, key, nullable = true>] holds <expected = 10, p95 = 20, max = 1000>
pipe.stream @out result names ["total"] logical [i64] : !pipe.rows<"total": i64>
pipe.pipeline @scan {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">, #pipe.scan_column<column = "l", file = "l">, #pipe.scan_column<column = "total", file = "total">] : !pipe.rows<"k": i32?, "l": i32, "total": i64>
  pipe.combine %0, @totals keys ["k", "l"] : !pipe.rows<"k": i32?, "l": i32, "total": i64>
}
pipe.pipeline @merge_totals merges @totals {
  %0 = pipe.read @totals : !pipe.rows<"k": i32?, "l": i32, "total": i64>
  pipe.combine %0, @totals keys ["k", "l"] : !pipe.rows<"k": i32?, "l": i32, "total": i64>
}
pipe.pipeline @fill {
  %0 = pipe.read @totals : !pipe.rows<"k": i32?, "l": i32>
  %1 = pipe.map %0 ["sum", "again"] ["l", "k"] {
  ^bb0(%l: i32, %k: i32, %valid: i1):
    %sum = arith.addi %l, %k : i32
    pipe.yield %sum, %k, %valid : i32, i32, i1
  } : !pipe.rows<"k": i32?, "l": i32> -> !pipe.rows<"l": i32, "sum": i32, "again": i32?>
  %2 = pipe.filter %1 ["sum"] {
  ^bb0(%sum: i32):
    %zero = arith.constant 0 : i32
    %more = arith.cmpi sgt, %sum, %zero : i32
    pipe.yield %more : i1
  } : !pipe.rows<"l": i32, "sum": i32, "again": i32?> -> !pipe.rows<"l": i32, "again": i32?>
  pipe.insert %2, @build keys ["l", "again"] drop_null_keys : !pipe.rows<"l": i32, "again": i32?>
}
pipe.pipeline @probe {
  %0 = pipe.read @totals : !pipe.rows<"k": i32?, "l": i32, "total": i64>
  %1 = pipe.lookup %0, @build semi keys ["l", "k"] payload [] columns [] {
  } : !pipe.rows<"k": i32?, "l": i32, "total": i64> -> !pipe.rows<"total": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"total": i64>
}

// -----

// Rows that were looked up meet by the keys of that: in rounds.
// CHECK: pipe.pipeline @fill_rounds repeats @large_rounds {
// CHECK: pipe.insert %{{.*}}, @build keys ["b"]
// CHECK: pipe.pipeline @probe_rounds repeats @large_rounds {
// CHECK: pipe.lookup %{{.*}}, @build semi keys ["c"]
pipe.state @large join [#pipe.field<"a", i32, key>] holds <expected = 100000, p95 = 120000, max = 200000>
pipe.state @build join [#pipe.field<"b", i32, key>] holds <expected = 10, p95 = 20, max = 1000>
pipe.stream @out result names ["c"] logical [i32] : !pipe.rows<"c": i32>
pipe.pipeline @scan {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "a", file = "a">] : !pipe.rows<"a": i32>
  pipe.insert %0, @large keys ["a"] : !pipe.rows<"a": i32>
}
pipe.pipeline @fill {
  %0 = pipe.scan "u" [#pipe.scan_column<column = "b", file = "b">] : !pipe.rows<"b": i32>
  %1 = pipe.lookup %0, @large semi keys ["b"] payload [] columns [] {
  } : !pipe.rows<"b": i32> -> !pipe.rows<"b": i32>
  pipe.insert %1, @build keys ["b"] : !pipe.rows<"b": i32>
}
pipe.pipeline @probe {
  %0 = pipe.scan "v" [#pipe.scan_column<column = "c", file = "c">] : !pipe.rows<"c": i32>
  %1 = pipe.lookup %0, @large semi keys ["c"] payload [] columns [] {
  } : !pipe.rows<"c": i32> -> !pipe.rows<"c": i32>
  %2 = pipe.lookup %1, @build semi keys ["c"] payload [] columns [] {
  } : !pipe.rows<"c": i32> -> !pipe.rows<"c": i32>
  pipe.emit %2, @out keys [] : !pipe.rows<"c": i32>
}

// -----

// By what was found there: it is not divided, but the table in which they meet is.
// CHECK: module
// CHECK-NOT: pipe.repeat @large_rounds
// CHECK: pipe.repeat @build_rounds
pipe.state @large join [#pipe.field<"a", i32, key>, #pipe.field<"p", i32, payload>] holds <expected = 100000, p95 = 120000, max = 200000>
pipe.state @build join [#pipe.field<"p", i32, key>] holds <expected = 10, p95 = 20, max = 1000>
pipe.stream @out result names ["c"] logical [i32] : !pipe.rows<"c": i32>
pipe.pipeline @scan {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "a", file = "a">, #pipe.scan_column<column = "p", file = "p">] : !pipe.rows<"a": i32, "p": i32>
  pipe.insert %0, @large keys ["a"] : !pipe.rows<"a": i32, "p": i32>
}
pipe.pipeline @fill {
  %0 = pipe.scan "u" [#pipe.scan_column<column = "b", file = "b">] : !pipe.rows<"b": i32>
  %1 = pipe.lookup %0, @large inner keys ["b"] payload ["p"] columns [] {
  } : !pipe.rows<"b": i32> -> !pipe.rows<"p": i32>
  pipe.insert %1, @build keys ["p"] : !pipe.rows<"p": i32>
}
pipe.pipeline @probe {
  %0 = pipe.scan "v" [#pipe.scan_column<column = "c", file = "c">] : !pipe.rows<"c": i32>
  %1 = pipe.lookup %0, @large semi keys ["c"] payload [] columns [] {
  } : !pipe.rows<"c": i32> -> !pipe.rows<"c": i32>
  %2 = pipe.lookup %1, @build semi keys ["c"] payload [] columns [] {
  } : !pipe.rows<"c": i32> -> !pipe.rows<"c": i32>
  pipe.emit %2, @out keys [] : !pipe.rows<"c": i32>
}

// -----

// Rows that nobody met are read behind all rounds: the table has those of all, and the groups are kept.
// CHECK: pipe.state @totals_kept rows
// CHECK: pipe.pipeline @fill {
// CHECK: pipe.pipeline @probe {
// CHECK: pipe.pipeline @others after @probe {
pipe.state @totals group [#pipe.field<"k", i32, key>] holds <expected = 100000, p95 = 120000, max = 200000>
pipe.state @build join [#pipe.field<"again", i32, key>, #pipe.field<"met", i1, payload>] holds <expected = 10, p95 = 20, max = 1000>
pipe.stream @both result names ["again"] logical [i32] : !pipe.rows<"again": i32?>
pipe.stream @out result names ["again"] logical [i32] : !pipe.rows<"again": i32>
pipe.pipeline @scan {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">] : !pipe.rows<"k": i32>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32>
}
pipe.pipeline @merge_totals merges @totals {
  %0 = pipe.read @totals : !pipe.rows<"k": i32>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32>
}
pipe.pipeline @fill {
  %0 = pipe.read @totals : !pipe.rows<"k": i32>
  %1 = pipe.map %0 ["again", "met"] ["k"] {
  ^bb0(%k: i32):
    %false = arith.constant false
    pipe.yield %k, %false : i32, i1
  } : !pipe.rows<"k": i32> -> !pipe.rows<"again": i32, "met": i1>
  pipe.insert %1, @build keys ["again"] : !pipe.rows<"again": i32, "met": i1>
}
pipe.pipeline @probe {
  %0 = pipe.read @totals : !pipe.rows<"k": i32>
  %1 = pipe.lookup %0, @build full keys ["k"] payload ["again"] mark "met" columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"again": i32?>
  pipe.emit %1, @both keys [] : !pipe.rows<"again": i32?>
}
pipe.pipeline @others after @probe {
  %0 = pipe.read @build : !pipe.rows<"again": i32, "met": i1>
  %1 = pipe.filter %0 ["met"] {
  ^bb0(%met: i1):
    %true = arith.constant true
    %other = arith.xori %met, %true : i1
    pipe.yield %other : i1
  } : !pipe.rows<"again": i32, "met": i1> -> !pipe.rows<"again": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"again": i32>
}
