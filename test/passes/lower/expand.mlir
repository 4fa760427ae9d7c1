// Copies of a row: what is made of a text is made once for the row and kept in the scratch, also in a map above; cheap arithmetic
// for each copy.
// Sources: passes/lower/cpu/kernel_expand.cpp, passes/lower/code/row_values.cpp
// RUN: headrace-opt %s --lower-kernels | FileCheck %s

pipe.stream @in local : !pipe.rows<"s": !pipe.string, "n": i64>
pipe.stream @out result : !pipe.rows<"m": i64, "p": i64>

// CHECK-LABEL: llvm.func @repeated
// CHECK: %[[SCRATCH:.*]] = llvm.load %arg1 {{.*}} -> !llvm.ptr
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[SCRATCH]][26752]
// CHECK: %[[NUMBERS:.*]] = llvm.getelementptr %[[SCRATCH]][28992]
// CHECK: %[[KEPT:.*]] = llvm.getelementptr %[[SCRATCH]][37760]
// Of no row when a morsel begins; rows of the next batch have other numbers.
// CHECK: llvm.cond_br %{{.*}}, ^[[INIT:.*]], ^
// CHECK: ^[[INIT]]:
// CHECK-DAG: llvm.store %c0_i64{{.*}}, %[[KEPT]] {alignment = 8 : i64}
// CHECK-DAG: llvm.store %c0_i64{{.*}}, %[[FIRST]] {alignment = 8 : i64}
// CHECK: %[[BEFORE:.*]] = llvm.load %[[FIRST]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[BEFORE]], %c1088_i64
// CHECK: llvm.store %[[NEXT]], %[[FIRST]]
// The row, its number, and whether the text was made for it.
// CHECK: %[[BATCH:.*]] = llvm.load %[[FIRST]]
// CHECK: %[[NUMBER:.*]] = arith.addi %[[BATCH]], %{{.*}} : i64
// CHECK: %[[LAST:.*]] = llvm.load %[[KEPT]]
// CHECK: %[[OTHER:.*]] = arith.cmpi ne, %[[NUMBER]], %[[LAST]]
// CHECK: llvm.cond_br %[[OTHER]], ^[[MAKE:.*]], ^[[MADE:[a-z0-9]+]]
// CHECK: llvm.store %[[NUMBER]], %[[KEPT]]
// CHECK: llvm.br ^[[MADE]]
pipe.pipeline @repeated {
  %0 = pipe.receive @in : <"s": !pipe.string, "n": i64>
  %1 = pipe.map %0 ["l", "p"] ["s", "n"] {
  ^bb0(%s: !pipe.string, %n: i64):
    %l = pipe.text "upper"(%s) : (!pipe.string) -> !pipe.string
    %p = arith.addi %n, %n : i64
    pipe.yield %l, %p : !pipe.string, i64
  } : <"s": !pipe.string, "n": i64> -> <"n": i64, "l": !pipe.string, "p": i64>
  %2 = pipe.expand %1 by "n" number "i" : <"n": i64, "l": !pipe.string, "p": i64> -> <"l": !pipe.string, "p": i64, "i": i64>
  %3 = pipe.map %2 ["m"] ["l", "i"] {
  ^bb0(%l: !pipe.string, %i: i64):
    %length = pipe.text "length"(%l) : (!pipe.string) -> i64
    %m = arith.addi %length, %i : i64
    pipe.yield %m : i64
  } : <"l": !pipe.string, "p": i64, "i": i64> -> <"m": i64, "p": i64>
  pipe.emit %3, @out keys [] : <"m": i64, "p": i64>
}

// CHECK-LABEL: llvm.func @above
// CHECK: arith.cmpi uge
// The text of the row alone.
// CHECK: %[[OTHER:.*]] = arith.cmpi ne, %{{.*}}, %{{.*}} : i64
// CHECK: llvm.cond_br %[[OTHER]], ^[[MAKE:.*]], ^[[MADE:[a-z0-9]+]]
// CHECK: ^[[MAKE]]:
// CHECK: llvm.call {{.*}}i32, !llvm.ptr, i32, !llvm.ptr) -> i32
// CHECK: ^[[MADE]]:
// The text of the row and of the copy's number; no other is kept.
// CHECK: llvm.call {{.*}}i32, !llvm.ptr, i32, !llvm.ptr) -> i32
// CHECK-NOT: arith.cmpi ne, %{{.*}}, %{{.*}} : i64
pipe.pipeline @above {
  %0 = pipe.receive @in : <"s": !pipe.string, "n": i64>
  %1 = pipe.expand %0 by "n" number "i" : <"s": !pipe.string, "n": i64> -> <"s": !pipe.string, "i": i64>
  %2 = pipe.map %1 ["m", "p"] ["s", "i"] {
  ^bb0(%s: !pipe.string, %i: i64):
    %length = pipe.text "length"(%s) : (!pipe.string) -> i64
    %sum = arith.addi %length, %i : i64
    pipe.yield %length, %sum : i64, i64
  } : <"s": !pipe.string, "i": i64> -> <"m": i64, "p": i64>
  pipe.emit %2, @out keys [] : <"m": i64, "p": i64>
}
