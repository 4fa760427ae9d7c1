// What is made of a repeated row's texts and lists, and read together with what changes from copy to copy, is a column of
// its own; ops of a loop that read nothing of it stand before it.
// Sources: passes/form/hoist_invariants.cpp
// RUN: headrace-opt %s --split-input-file --hoist-invariants | FileCheck %s

// The list's sum is made once for its row. What follows from the number alone, or is not long, stays where it is.
// CHECK-LABEL: pipe.pipeline @mixed
// CHECK: %[[COPIES:.*]] = pipe.expand
// CHECK: %[[KEPT:.*]] = pipe.map %[[COPIES]] ["of_row1", "of_row2"] ["l"] {
// CHECK-NEXT: ^bb0(%[[L:.*]]: !pipe.string, %{{.*}}: i1):
// CHECK-NEXT:   %[[SUM:.*]], %[[NONE:.*]] = pipe.text "list_sum"(%[[L]])
// CHECK-NEXT:   %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-NEXT:   %[[VALUE:.*]] = pipe.text "list_integer"(%[[SUM]], %[[ONE]])
// CHECK-NEXT:   pipe.yield %[[VALUE]], %[[NONE]] : i64, i1
// CHECK-NEXT: } {text_bytes = 8.000000e+00 : f64} : <"l": !pipe.string?, "n": i64, "of_row0": i64> -> <"l": !pipe.string?, "n": i64, "of_row0": i64, "of_row1": i64, "of_row2": i1>
// CHECK-NEXT: pipe.filter %[[KEPT]] ["l", "n", "of_row0", "of_row1", "of_row2"] {
// CHECK-NEXT: ^bb0(%{{.*}}: !pipe.string, %[[VALID:.*]]: i1, %[[N:.*]]: i64, %[[NUMBER:.*]]: i64, %[[KEPT_VALUE:.*]]: i64, %[[KEPT_NONE:.*]]: i1):
// CHECK-NOT:    pipe.text
// CHECK:        arith.addi %[[N]]
// CHECK:        arith.cmpi slt, %[[NUMBER]], %[[KEPT_VALUE]]
// CHECK:        pipe.fail_if %[[KEPT_NONE]]
pipe.stream @in local : !pipe.rows<"l": !pipe.string?, "n": i64>
pipe.stream @out result : !pipe.rows<"of_row0": i64>
pipe.pipeline @mixed {
  %0 = pipe.receive @in : <"l": !pipe.string?, "n": i64>
  %1 = pipe.expand %0 by "n" number "of_row0" : <"l": !pipe.string?, "n": i64> -> <"l": !pipe.string?, "n": i64, "of_row0": i64>
  %2 = pipe.filter %1 ["l", "n", "of_row0"] {
  ^bb0(%l: !pipe.string, %valid: i1, %n: i64, %number: i64):
    %sum, %none = pipe.text "list_sum"(%l) : (!pipe.string) -> (!pipe.string, i1)
    %one = arith.constant 1 : i64
    %value = pipe.text "list_integer"(%sum, %one) : (!pipe.string, i64) -> i64
    %next = arith.addi %n, %one : i64
    %less = arith.cmpi slt, %number, %value : i64
    %few = arith.cmpi slt, %number, %next : i64
    %both = arith.andi %less, %few : i1
    %known = arith.andi %both, %valid : i1
    pipe.fail_if %none, raised
    pipe.yield %known : i1
  } {text_bytes = 8.0 : f64} : <"l": !pipe.string?, "n": i64, "of_row0": i64> -> <"of_row0": i64>
  pipe.emit %2, @out keys [] : <"of_row0": i64>
}

// -----
// A map of the row alone stays as it is, and its column is the row's; an element of it is the copy's.
// CHECK-LABEL: pipe.pipeline @computed
// CHECK: pipe.expand
// CHECK-NEXT: pipe.map %{{.*}} ["made"] ["l"]
// CHECK: pipe.map %{{.*}} ["of_row0"] ["made"]
// CHECK-NEXT: ^bb0(%[[MADE:.*]]: !pipe.string):
// CHECK-NEXT:   pipe.text "list_product"(%[[MADE]])
// CHECK-NEXT:   pipe.yield
// CHECK: pipe.map %{{.*}} ["e"] ["i", "of_row0"] {
// CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[REVERSED:.*]]: !pipe.string):
// CHECK-NEXT:   pipe.text "list_integer"(%[[REVERSED]], %[[I]])
// CHECK-NEXT:   pipe.yield
// CHECK-NEXT: } {text_bytes = 8.000000e+00 : f64}
// CHECK-NEXT: pipe.emit
pipe.stream @in local : !pipe.rows<"l": !pipe.string, "n": i64>
pipe.stream @out result : !pipe.rows<"e": i64>
pipe.pipeline @computed {
  %0 = pipe.receive @in : <"l": !pipe.string, "n": i64>
  %1 = pipe.expand %0 by "n" number "i" : <"l": !pipe.string, "n": i64> -> <"l": !pipe.string, "i": i64>
  %2 = pipe.map %1 ["made"] ["l"] {
  ^bb0(%l: !pipe.string):
    %sorted = pipe.text "list_distinct"(%l) : (!pipe.string) -> !pipe.string
    pipe.yield %sorted : !pipe.string
  } {text_bytes = 8.0 : f64} : <"l": !pipe.string, "i": i64> -> <"made": !pipe.string, "i": i64>
  %3 = pipe.map %2 ["e"] ["made", "i"] {
  ^bb0(%made: !pipe.string, %i: i64):
    %reversed = pipe.text "list_product"(%made) : (!pipe.string) -> !pipe.string
    %e = pipe.text "list_integer"(%reversed, %i) : (!pipe.string, i64) -> i64
    pipe.yield %e : i64
  } {text_bytes = 8.0 : f64} : <"made": !pipe.string, "i": i64> -> <"e": i64>
  pipe.emit %3, @out keys [] : <"e": i64>
}

// -----
// Two levels: of the outer row, then of the inner one. A match that a lookup finds is no part of either.
// CHECK-LABEL: pipe.pipeline @twice
// CHECK: pipe.expand {{.*}} number "i"
// CHECK-NEXT: pipe.expand {{.*}} number "j"
// CHECK-NEXT: pipe.lookup
// CHECK: %[[OUTER:.*]] = pipe.map %{{.*}} ["of_row0"] ["s"]
// CHECK: pipe.text "list_distinct"
// CHECK: %[[INNER:.*]] = pipe.map %[[OUTER]] ["of_row1"] ["i", "of_row0"]
// CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[ONCE:.*]]: !pipe.string):
// CHECK-NEXT: pipe.text "list_slice"(%[[ONCE]], %[[I]], %[[I]])
// CHECK: pipe.map %[[INNER]] ["r"] ["j", "name", "of_row1"]
// CHECK-DAG: pipe.text "list_slice"
// CHECK-DAG: pipe.text "lower"
// CHECK: pipe.emit
pipe.stream @in local : !pipe.rows<"s": !pipe.string, "n": i64>
pipe.stream @out result : !pipe.rows<"r": !pipe.string>
pipe.state @names join [#pipe.field<"key", i64, key>, #pipe.field<"name", !pipe.string, payload>]
pipe.pipeline @twice {
  %0 = pipe.receive @in : <"s": !pipe.string, "n": i64>
  %1 = pipe.expand %0 by "n" number "i" : <"s": !pipe.string, "n": i64> -> <"s": !pipe.string, "n": i64, "i": i64>
  %2 = pipe.expand %1 by "n" number "j" : <"s": !pipe.string, "n": i64, "i": i64> -> <"s": !pipe.string, "i": i64, "j": i64>
  %3 = pipe.lookup %2, @names inner keys ["j"] payload ["name"] columns [] {
  } : <"s": !pipe.string, "i": i64, "j": i64> -> <"s": !pipe.string, "i": i64, "j": i64, "name": !pipe.string>
  %4 = pipe.map %3 ["r"] ["s", "i", "j", "name"] {
  ^bb0(%s: !pipe.string, %i: i64, %j: i64, %name: !pipe.string):
    %once = pipe.text "list_distinct"(%s) : (!pipe.string) -> !pipe.string
    %part = pipe.text "list_slice"(%once, %i, %i) : (!pipe.string, i64, i64) -> !pipe.string
    %less = pipe.text "list_slice"(%part, %j, %j) : (!pipe.string, i64, i64) -> !pipe.string
    %low = pipe.text "lower"(%name) : (!pipe.string) -> !pipe.string
    %r = pipe.text "list_join"(%less, %low) : (!pipe.string, !pipe.string) -> !pipe.string
    pipe.yield %r : !pipe.string
  } {text_bytes = 8.0 : f64} : <"s": !pipe.string, "i": i64, "j": i64, "name": !pipe.string> -> <"r": !pipe.string>
  pipe.emit %4, @out keys [] : <"r": !pipe.string>
}

// -----
// CHECK-LABEL: func.func @loops
// CHECK-SAME: (%[[L:.*]]: !pipe.string, %[[N:.*]]: i64) -> i64
// CHECK: %[[REVERSED:.*]] = pipe.text "list_product"(%[[L]])
// CHECK: pipe.loop %[[N]] from
// CHECK-NEXT: ^bb0(%[[OUTER:.*]]: i64, %{{.*}}: i64):
// CHECK-NEXT: %[[ELEMENT:.*]] = pipe.text "list_integer"(%[[REVERSED]], %[[OUTER]])
// CHECK-NEXT: pipe.loop %[[N]] from
// CHECK-NEXT: ^bb0(%{{.*}}: i64, %[[BEFORE:.*]]: i64):
// CHECK-NEXT: arith.addi %[[BEFORE]], %[[ELEMENT]]
func.func @loops(%l: !pipe.string, %n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %0 = pipe.loop %n from (%zero) {
  ^bb0(%outer: i64, %sum: i64):
    %1 = pipe.loop %n from (%sum) {
    ^bb0(%inner: i64, %before: i64):
      %reversed = pipe.text "list_product"(%l) : (!pipe.string) -> !pipe.string
      %element = pipe.text "list_integer"(%reversed, %outer) : (!pipe.string, i64) -> i64
      %after = arith.addi %before, %element : i64
      pipe.yield %after : i64
    } : (i64) -> i64
    pipe.yield %1 : i64
  } : (i64) -> i64
  return %0 : i64
}
