// Conditions on numbers are evaluated 64 rows at a time; what survives of a column is decoded after them.
// Sources: passes/lower/cpu/kernel_emitter.cpp, passes/lower/code/row_values.cpp
// RUN: headrace-opt %s --lower-kernels | FileCheck %s

pipe.state @count scalar [#pipe.field<"v", i64, sum>]

// A mask of 64 bits goes to memory; the rows that are left are then counted, and only they are read.
// CHECK-LABEL: llvm.func @numbers
// CHECK: %[[ROWS:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<64xi32>
// CHECK: %[[BITS:.*]] = arith.cmpi slt, %[[ROWS]], %{{.*}} : vector<64xi32>
// CHECK: %[[MASK:.*]] = llvm.bitcast %[[BITS]] : vector<64xi1> to i64
// CHECK: llvm.store %[[MASK]]
pipe.pipeline @numbers {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">, #pipe.scan_column<column = "v", file = "v">] : !pipe.rows<"k": i32, "v": i64>
  %1 = pipe.filter %0 ["k"] {
  ^bb0(%k: i32):
    %limit = arith.constant 7 : i32
    %less = arith.cmpi slt, %k, %limit : i32
    pipe.yield %less : i1
  } : !pipe.rows<"k": i32, "v": i64> -> !pipe.rows<"v": i64>
  pipe.combine %1, @count keys [] : !pipe.rows<"v": i64>
}

// The validity of a nullable column takes part as a mask of its own.
// CHECK-LABEL: llvm.func @nullable
// CHECK: arith.cmpi sgt, {{.*}} : vector<64xi64>
// CHECK: arith.andi {{.*}} : vector<64xi1>
pipe.pipeline @nullable {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "v", file = "v">] : !pipe.rows<"v": i64?>
  %1 = pipe.filter %0 ["v"] {
  ^bb0(%v: i64, %valid: i1):
    %limit = arith.constant 7 : i64
    %more = arith.cmpi sgt, %v, %limit : i64
    %keep = arith.andi %more, %valid : i1
    pipe.yield %keep : i1
  } : !pipe.rows<"v": i64?> -> !pipe.rows<"v": i64?>
  pipe.emit %1, @out keys [] : !pipe.rows<"v": i64?>
}

// A condition on one text is evaluated for the entries of a dictionary, before the tiles of a morsel, and again for
// each row of pages without one.
// CHECK-LABEL: llvm.func @texts
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: %[[FLAGS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<64xi8>
// CHECK: arith.cmpi ne, %[[FLAGS]], %{{.*}} : vector<64xi8>
pipe.pipeline @texts {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "s", file = "s">] : !pipe.rows<"s": !pipe.string>
  %1 = pipe.filter %0 ["s"] {
  ^bb0(%s: !pipe.string):
    %wanted = pipe.literal "BUILDING"
    %equal = pipe.string_compare eq %s, %wanted
    pipe.yield %equal : i1
  } : !pipe.rows<"s": !pipe.string> -> !pipe.rows<"s": !pipe.string>
  pipe.emit %1, @out keys [] : !pipe.rows<"s": !pipe.string>
}
