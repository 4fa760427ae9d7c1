// What is made of one text alone is computed for the entries of its dictionary, before the tiles of a morsel, and looked up by rows.
// Sources: passes/lower/cpu/entry_maps.cpp, passes/lower/cpu/kernel_entry_maps.cpp, passes/lower/code/row_values.cpp
// RUN: headrace-opt %s --lower-kernels | FileCheck %s

pipe.state @groups group [#pipe.field<"k", !pipe.string, key>, #pipe.field<"n", i64, sum>]
pipe.state @sums scalar [#pipe.field<"n", i64, sum>]

// 25 bytes an entry: the texts, the lengths, and whether an entry has no value.
// CHECK-LABEL: llvm.func @values
// CHECK: %[[BYTES:.*]] = arith.constant 25 : i32
// CHECK: %[[MAP:.*]] = llvm.call %{{.*}}(%arg1, %{{.*}}, %[[COLUMN:.*]], %[[BYTES]], %[[TODO:.*]]) : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
// CHECK: %[[NONE:.*]] = llvm.icmp "eq" %[[MAP]], %{{.*}} : !llvm.ptr
// CHECK: llvm.cond_br %[[NONE]], ^[[ALL:.*]], ^
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i64
// CHECK: %[[TEXTS:.*]] = llvm.getelementptr %[[MAP]][%[[ENTRIES:.*]]] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<0 x i8>
// CHECK: %[[LENGTHS:.*]] = llvm.getelementptr %[[MAP]][%[[ENTRIES]]] : (!llvm.ptr, i64) -> !llvm.ptr, i128
// CHECK: %[[WRONG:.*]] = llvm.getelementptr %[[MAP]][%[[ENTRIES]]] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<24 x i8>
// Where there is no map, the column has the dictionary that it had.
// CHECK: ^[[ALL]]:
// CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, !llvm.ptr
// What fails for an entry fails for rows alone: the map is given up, and asked for again.
// CHECK: ^[[GIVE:.*]]:  // 3 preds
// CHECK: llvm.call %{{.*}}(%arg1, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32) -> ()
// A text is kept before others see where it is.
// CHECK: %[[REPLACE:.*]] = arith.constant 27 : i32
// CHECK: llvm.call %{{.*}}(%arg1, %{{.*}}, %[[REPLACE]]
// CHECK: llvm.br ^[[GIVE]]
// CHECK: %[[KEPT:.*]] = llvm.call %{{.*}}(%arg1, %{{.*}}, %[[TEXT:.*]]) : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr) -> i32
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[TEXTS]]
// CHECK: %[[HEAD:.*]] = llvm.load %[[TEXT]]
// CHECK: llvm.store %[[HEAD]], %[[PLACE]]
// CHECK: llvm.getelementptr %[[LENGTHS]]
// CHECK: llvm.getelementptr %[[WRONG]]
// Rows of pages without codes compute the numbers for the tile; the texts where they are read, if this tile has none.
// CHECK: %[[AGAIN:.*]] = arith.constant 27 : i32
// CHECK: llvm.call %{{.*}}(%arg1, %{{.*}}, %[[AGAIN]]
// CHECK: %[[COMPUTED:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i64
// CHECK: llvm.cond_br %[[COMPUTED]]
// CHECK: %[[READ:.*]] = arith.constant 27 : i32
// CHECK: llvm.call %{{.*}}(%arg1, %{{.*}}, %[[READ]]
pipe.pipeline @values {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "s", file = "s", pages = gathered, tried_entries = 0.01 : f64>] : !pipe.rows<"s": !pipe.string>
  %1 = pipe.map %0 ["k", "n"] ["s"] {
  ^bb0(%s: !pipe.string):
    %pattern = pipe.literal "^a"
    %by = pipe.literal "b"
    %k, %none = pipe.text "regexp_replace"(%s, %pattern, %by) : (!pipe.string, !pipe.string, !pipe.string) -> (!pipe.string, i1)
    %n = pipe.text "length"(%s) : (!pipe.string) -> i64
    pipe.fail_if %none, raised
    pipe.yield %k, %n : !pipe.string, i64
  } : !pipe.rows<"s": !pipe.string> -> !pipe.rows<"k": !pipe.string, "n": i64>
  pipe.combine %1, @groups keys ["k"] : !pipe.rows<"k": !pipe.string, "n": i64>
}

// Of two texts, of a number, and of what is drawn for the run only the parts that one text makes; four bytes and a flag.
// CHECK-LABEL: llvm.func @parts
// CHECK: arith.constant 9 : i32
// CHECK: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
// CHECK-NOT: (!llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
pipe.pipeline @parts {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "s", file = "s", pages = gathered, tried_entries = 0.01 : f64>, #pipe.scan_column<column = "u", file = "u">, #pipe.scan_column<column = "x", file = "x">] : !pipe.rows<"s": !pipe.string, "u": !pipe.string, "x": i64>
  %1 = pipe.map %0 ["n"] ["s", "u", "x"] {
  ^bb0(%s: !pipe.string, %u: !pipe.string, %x: i64):
    %upper = pipe.text "upper"(%s) : (!pipe.string) -> !pipe.string
    %n = pipe.text "length"(%upper) : (!pipe.string) -> i64
    %by = pipe.literal "b"
    %is = pipe.string_compare eq %s, %by
    %both = pipe.string_compare lt %s, %u
    %seed = pipe.run_seed
    %more = arith.select %both, %x, %seed : i64
    %sum = arith.addi %n, %more : i64
    %all = arith.select %is, %sum, %x : i64
    pipe.yield %all : i64
  } : !pipe.rows<"s": !pipe.string, "u": !pipe.string, "x": i64> -> !pipe.rows<"n": i64>
  pipe.combine %1, @sums keys [] : !pipe.rows<"n": i64>
}

// Where a filter leaves fewer rows than there are entries, where nobody knows how many there are, and for texts that may be NULL:
// for rows.
// CHECK-LABEL: llvm.func @rows
// CHECK-NOT: (!llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
pipe.pipeline @rows {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "s", file = "s", pages = gathered, tried_entries = 0.01 : f64>, #pipe.scan_column<column = "u", file = "u">, #pipe.scan_column<column = "v", file = "v", tried_entries = 0.001 : f64>, #pipe.scan_column<column = "x", file = "x">] : !pipe.rows<"s": !pipe.string, "u": !pipe.string, "v": !pipe.string?, "x": i64>
  %1 = pipe.filter %0 ["x"] {
  ^bb0(%x: i64):
    %limit = arith.constant 7 : i64
    %less = arith.cmpi slt, %x, %limit : i64
    pipe.yield %less : i1
  } {selectivity = 0.01 : f64} : !pipe.rows<"s": !pipe.string, "u": !pipe.string, "v": !pipe.string?, "x": i64> -> !pipe.rows<"s": !pipe.string, "u": !pipe.string, "v": !pipe.string?>
  %2 = pipe.map %1 ["n"] ["s", "u", "v"] {
  ^bb0(%s: !pipe.string, %u: !pipe.string, %v: !pipe.string, %valid: i1):
    %a = pipe.text "length"(%s) : (!pipe.string) -> i64
    %b = pipe.text "length"(%u) : (!pipe.string) -> i64
    %c = pipe.text "length"(%v) : (!pipe.string) -> i64
    %ab = arith.addi %a, %b : i64
    %abc = arith.addi %ab, %c : i64
    %n = arith.select %valid, %abc, %ab : i64
    pipe.yield %n : i64
  } : !pipe.rows<"s": !pipe.string, "u": !pipe.string, "v": !pipe.string?> -> !pipe.rows<"n": i64>
  pipe.combine %2, @sums keys [] : !pipe.rows<"n": i64>
}

pipe.state @many group [#pipe.field<"s", !pipe.string, key>, #pipe.field<"x", i64, sum>] holds #pipe.cardinality<expected = 50000, p95 = 60000, max = 70000>
pipe.state @few group [#pipe.field<"s", !pipe.string, key>, #pipe.field<"x", i64, sum>] holds #pipe.cardinality<expected = 50, p95 = 60, max = 70>

// A key is hashed once for each entry: eight bytes.
// CHECK-LABEL: llvm.func @hashes
// CHECK: arith.constant 8 : i32
// CHECK: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
pipe.pipeline @hashes {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "s", file = "s", pages = gathered, tried_entries = 0.01 : f64>, #pipe.scan_column<column = "x", file = "x">] : !pipe.rows<"s": !pipe.string, "x": i64>
  pipe.combine %0, @many keys ["s"] : !pipe.rows<"s": !pipe.string, "x": i64>
}

// Few groups are found by codes.
// CHECK-LABEL: llvm.func @codes
// CHECK-NOT: (!llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
pipe.pipeline @codes {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "s", file = "s", pages = gathered, tried_entries = 0.01 : f64>, #pipe.scan_column<column = "x", file = "x">] : !pipe.rows<"s": !pipe.string, "x": i64>
  pipe.combine %0, @few keys ["s"] : !pipe.rows<"s": !pipe.string, "x": i64>
}
