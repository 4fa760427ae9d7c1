// Rows that are made of a row's list carry its other columns in place of a join.
// Sources: passes/optimize/laterals.cpp
// RUN: headrace-opt --optimize-laterals %s | FileCheck %s

!l = !frame.list<i64>
!o = !frame.table<"l": !l, "x": i64, "k": i64>
!e = !frame.table<"l": !l, "n": i64, "i": i64>
!r = !frame.table<"l": !l, "x": i64, "k": i64, "l_1": !l, "e": i64>

// CHECK-LABEL: @list
// CHECK-NOT: frame.join
// CHECK: %[[O:.*]] = frame.rename %arg0 : <"l": !frame.list<i64>, "x": i64, "k": i64> -> <"outer_0": !frame.list<i64>, "outer_1": i64, "outer_2": i64>
// CHECK: %[[S:.*]] = frame.project %[[O]] keep ["outer_0", "outer_1", "outer_2"] compute ["l"] columns ["outer_0"]
// CHECK: %[[N:.*]] = frame.project %[[S]] keep ["l", "outer_0", "outer_1", "outer_2"] compute ["n"]
// CHECK: %[[E:.*]] = frame.expand %[[N]] by "n" number "i"
// CHECK: %[[F:.*]] = frame.filter %[[E]] columns ["i"]
// CHECK: %[[R:.*]] = frame.rename %[[F]] : {{.*}} -> <"l_1": !frame.list<i64>, "n": i64, "outer_0": !frame.list<i64>, "outer_1": i64, "outer_2": i64, "e": i64>
// CHECK: %[[P:.*]] = frame.project %[[R]] keep ["outer_0", "outer_1", "outer_2", "l_1", "n", "e"] compute []
// CHECK: frame.rename %[[P]] : {{.*}} -> <"l": !frame.list<i64>, "x": i64, "k": i64, "l_1": !frame.list<i64>, "n": i64, "e": i64>
func.func @list(%o: !o) -> !r {
  %d = frame.aggregate %o keys ["l"] measures [] : !o -> !frame.table<"l": !l>
  %n = frame.project %d keep ["l"] compute ["n"] columns ["l"] {
  ^bb0(%list: !l):
    %size = frame.text "list_length"(%list) : (!l) -> i64
    frame.yield %size : i64
  } : !frame.table<"l": !l> -> !frame.table<"l": !l, "n": i64>
  %e = frame.expand %n by "n" number "i" : !frame.table<"l": !l, "n": i64> -> !e
  %some = frame.filter %e columns ["i"] {
  ^bb0(%i: i64):
    %two = frame.constant 2 : i64
    %p = frame.compare gt %i, %two : (i64, i64) -> i1
    frame.yield %p : i1
  } : !e
  %named = frame.rename %some : !e -> !frame.table<"l_1": !l, "n": i64, "e": i64>
  %0 = frame.join inner %o, %named on ["l"] = ["l_1"] : !o, !frame.table<"l_1": !l, "n": i64, "e": i64> -> !frame.table<"l": !l, "x": i64, "k": i64, "l_1": !l, "n": i64, "e": i64>
  %1 = frame.project %0 keep ["l", "x", "k", "l_1", "e"] compute [] columns [] {
    frame.yield
  } : !frame.table<"l": !l, "x": i64, "k": i64, "l_1": !l, "n": i64, "e": i64> -> !r
  return %1 : !r
}

!w = !frame.table<"l": !l, "m": i64, "row": i64>
!j = !frame.table<"l": !l, "m": i64, "row": i64, "r": i64, "i": i64>

// A number of the row stands for all of its columns.
// CHECK-LABEL: @numbered
// CHECK-NOT: frame.join
// CHECK: frame.expand
func.func @numbered(%o: !frame.table<"l": !l, "m": i64>) -> !j {
  %w = frame.window %o partition [] order [] functions [#frame.window_function<row_number -> "row">] : !frame.table<"l": !l, "m": i64> -> !w
  %d = frame.aggregate %w keys ["row", "m"] measures [] : !w -> !frame.table<"row": i64, "m": i64>
  %e = frame.expand %d by "m" number "i" : !frame.table<"row": i64, "m": i64> -> !frame.table<"row": i64, "m": i64, "i": i64>
  %s = frame.project %e keep ["i"] compute ["r"] columns ["row"] {
  ^bb0(%row: i64):
    frame.yield %row : i64
  } : !frame.table<"row": i64, "m": i64, "i": i64> -> !frame.table<"r": i64, "i": i64>
  %0 = frame.join inner %s, %w on ["r"] = ["row"] : !frame.table<"r": i64, "i": i64>, !w -> !frame.table<"r": i64, "i": i64, "l": !l, "m": i64, "row": i64>
  %1 = frame.project %0 keep ["l", "m", "row", "r", "i"] compute [] columns [] {
    frame.yield
  } : !frame.table<"r": i64, "i": i64, "l": !l, "m": i64, "row": i64> -> !j
  return %1 : !j
}

// What no number stands for may be another row's.
// CHECK-LABEL: @other_column
// CHECK: frame.join inner
func.func @other_column(%o: !frame.table<"k": i64, "m": i64>) -> !frame.table<"k": i64, "m": i64, "r": i64, "i": i64> {
  %d = frame.aggregate %o keys ["k", "m"] measures [] : !frame.table<"k": i64, "m": i64> -> !frame.table<"k": i64, "m": i64>
  %e = frame.expand %d by "m" number "i" : !frame.table<"k": i64, "m": i64> -> !frame.table<"k": i64, "m": i64, "i": i64>
  %s = frame.project %e keep ["i"] compute ["r"] columns ["k"] {
  ^bb0(%k: i64):
    frame.yield %k : i64
  } : !frame.table<"k": i64, "m": i64, "i": i64> -> !frame.table<"r": i64, "i": i64>
  %0 = frame.join inner %o, %s on ["k"] = ["r"] : !frame.table<"k": i64, "m": i64>, !frame.table<"r": i64, "i": i64> -> !frame.table<"k": i64, "m": i64, "r": i64, "i": i64>
  return %0 : !frame.table<"k": i64, "m": i64, "r": i64, "i": i64>
}

// NULL has no partner here, and would have rows.
// CHECK-LABEL: @null
// CHECK: frame.join inner
// CHECK-LABEL: @null_safe
// CHECK-NOT: frame.join
!n = !frame.table<"k": !frame.nullable<i64>>
!m = !frame.table<"k_1": !frame.nullable<i64>, "two": i64, "i": i64>
func.func @null(%o: !n) -> !frame.table<"k": !frame.nullable<i64>, "k_1": !frame.nullable<i64>, "two": i64, "i": i64> {
  %d = frame.aggregate %o keys ["k"] measures [] : !n -> !n
  %t = frame.project %d keep [] compute ["k_1", "two"] columns ["k"] {
  ^bb0(%k: !frame.nullable<i64>):
    %two = frame.constant 2 : i64
    frame.yield %k, %two : !frame.nullable<i64>, i64
  } : !n -> !frame.table<"k_1": !frame.nullable<i64>, "two": i64>
  %e = frame.expand %t by "two" number "i" : !frame.table<"k_1": !frame.nullable<i64>, "two": i64> -> !m
  %0 = frame.join inner %o, %e on ["k"] = ["k_1"] : !n, !m -> !frame.table<"k": !frame.nullable<i64>, "k_1": !frame.nullable<i64>, "two": i64, "i": i64>
  return %0 : !frame.table<"k": !frame.nullable<i64>, "k_1": !frame.nullable<i64>, "two": i64, "i": i64>
}
func.func @null_safe(%o: !n) -> !frame.table<"k": !frame.nullable<i64>, "k_1": !frame.nullable<i64>, "two": i64, "i": i64> {
  %d = frame.aggregate %o keys ["k"] measures [] : !n -> !n
  %t = frame.project %d keep [] compute ["k_1", "two"] columns ["k"] {
  ^bb0(%k: !frame.nullable<i64>):
    %two = frame.constant 2 : i64
    frame.yield %k, %two : !frame.nullable<i64>, i64
  } : !n -> !frame.table<"k_1": !frame.nullable<i64>, "two": i64>
  %e = frame.expand %t by "two" number "i" : !frame.table<"k_1": !frame.nullable<i64>, "two": i64> -> !m
  %0 = frame.join inner %o, %e on ["k"] = ["k_1"] null_safe [true] : !n, !m -> !frame.table<"k": !frame.nullable<i64>, "k_1": !frame.nullable<i64>, "two": i64, "i": i64>
  return %0 : !frame.table<"k": !frame.nullable<i64>, "k_1": !frame.nullable<i64>, "two": i64, "i": i64>
}

// Left rows without elements stay; a filter of the outer table's rows goes along.
// CHECK-LABEL: @left
// CHECK: frame.join left
func.func @left(%o: !n) -> !frame.table<"k": !frame.nullable<i64>, "k_1": !frame.nullable<i64>, "two": !frame.nullable<i64>, "i": !frame.nullable<i64>> {
  %d = frame.aggregate %o keys ["k"] measures [] : !n -> !n
  %t = frame.project %d keep [] compute ["k_1", "two"] columns ["k"] {
  ^bb0(%k: !frame.nullable<i64>):
    %two = frame.constant 2 : i64
    frame.yield %k, %two : !frame.nullable<i64>, i64
  } : !n -> !frame.table<"k_1": !frame.nullable<i64>, "two": i64>
  %e = frame.expand %t by "two" number "i" : !frame.table<"k_1": !frame.nullable<i64>, "two": i64> -> !m
  %0 = frame.join left %o, %e on ["k"] = ["k_1"] null_safe [true] : !n, !m -> !frame.table<"k": !frame.nullable<i64>, "k_1": !frame.nullable<i64>, "two": !frame.nullable<i64>, "i": !frame.nullable<i64>>
  return %0 : !frame.table<"k": !frame.nullable<i64>, "k_1": !frame.nullable<i64>, "two": !frame.nullable<i64>, "i": !frame.nullable<i64>>
}

// CHECK-LABEL: @filtered
// CHECK-NOT: frame.join
// CHECK: %[[SOME:.*]] = frame.filter %arg0
// CHECK: frame.rename %[[SOME]]
func.func @filtered(%o: !o) -> !frame.table<"l": !l, "x": i64, "k": i64, "k_1": i64, "i": i64> {
  %d = frame.aggregate %o keys ["k"] measures [] : !o -> !frame.table<"k": i64>
  %k = frame.rename %d : !frame.table<"k": i64> -> !frame.table<"k_1": i64>
  %e = frame.expand %k by "k_1" number "i" : !frame.table<"k_1": i64> -> !frame.table<"k_1": i64, "i": i64>
  %some = frame.filter %o columns ["x"] {
  ^bb0(%x: i64):
    %two = frame.constant 2 : i64
    %p = frame.compare gt %x, %two : (i64, i64) -> i1
    frame.yield %p : i1
  } : !o
  %0 = frame.join inner %some, %e on ["k"] = ["k_1"] : !o, !frame.table<"k_1": i64, "i": i64> -> !frame.table<"l": !l, "x": i64, "k": i64, "k_1": i64, "i": i64>
  return %0 : !frame.table<"l": !l, "x": i64, "k": i64, "k_1": i64, "i": i64>
}

// Both are made of a column that is computed.
// CHECK-LABEL: @computed
// CHECK-NOT: frame.join
// CHECK: %[[S:.*]] = frame.project %arg0
// CHECK: frame.rename %[[S]]
// CHECK: frame.expand
func.func @computed(%o: !frame.table<"x": i64>) -> !frame.table<"k": i64, "k_1": i64, "i": i64> {
  %s = frame.project %o keep [] compute ["k"] columns ["x"] {
  ^bb0(%x: i64):
    %two = frame.constant 2 : i64
    %k = frame.add %x, %two : (i64, i64) -> i64
    frame.yield %k : i64
  } : !frame.table<"x": i64> -> !frame.table<"k": i64>
  %d = frame.aggregate %s keys ["k"] measures [] : !frame.table<"k": i64> -> !frame.table<"k": i64>
  %n = frame.rename %d : !frame.table<"k": i64> -> !frame.table<"k_1": i64>
  %e = frame.expand %n by "k_1" number "i" : !frame.table<"k_1": i64> -> !frame.table<"k_1": i64, "i": i64>
  %0 = frame.join inner %s, %e on ["k"] = ["k_1"] : !frame.table<"k": i64>, !frame.table<"k_1": i64, "i": i64> -> !frame.table<"k": i64, "k_1": i64, "i": i64>
  return %0 : !frame.table<"k": i64, "k_1": i64, "i": i64>
}
