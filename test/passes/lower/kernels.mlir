// Every pipeline becomes a kernel of its name, and a function adds two copies of each state that is combined; no pipeline is left.
// Sources: passes/lower/lower.cpp
// RUN: headrace-opt %s --lower-kernels | FileCheck %s
// CHECK-NOT: pipe.pipeline

pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"v", i64, sum>]
// CHECK-LABEL: llvm.func @filled(
// CHECK-SAME: !llvm.ptr
// CHECK-SAME: -> i32
pipe.pipeline @filled {
  %0 = pipe.receive @in : !pipe.rows<"k": i32, "v": i64>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32, "v": i64>
}
// CHECK: llvm.func @merged(
pipe.pipeline @merged merges @totals {
  %0 = pipe.read @totals : !pipe.rows<"k": i32, "v": i64>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32, "v": i64>
}
// CHECK: llvm.func @sent(
pipe.pipeline @sent {
  %0 = pipe.read @totals : !pipe.rows<"k": i32, "v": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"k": i32, "v": i64>
}
