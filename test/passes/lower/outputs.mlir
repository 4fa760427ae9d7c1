// Rows written to chunks: one output, or one for each rank by the hash of the keys.
// Sources: passes/lower/cpu/kernel_sinks.cpp
// RUN: headrace-opt %s --lower-kernels | FileCheck %s

pipe.state @groups group [#pipe.field<"k", i32, key>, #pipe.field<"t", !pipe.string, key>]

// A full output ends the call with 1, and the kernel goes on there when it is called again: it begins with that choice.
// CHECK-LABEL: llvm.func @one
// CHECK: llvm.cond_br %{{.*}}, ^[[FRESH:.*]], ^[[RESUME:.*]]
// CHECK: %[[FULL:.*]] = arith.cmpi uge, %{{.*}}, %{{.*}} : i32
// CHECK: llvm.cond_br %[[FULL]]
// CHECK: %[[OUTPUT_FULL:.*]] = arith.constant 1 : i32
// CHECK: llvm.return %[[OUTPUT_FULL]] : i32
pipe.pipeline @one {
  %0 = pipe.receive @in : !pipe.rows<"v": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"v": i64>
}

// The rank of a row is 32 bits of its hash times the number of ranks, without the lower half. Texts are copied behind each other.
// CHECK-LABEL: llvm.func @by_rank
// CHECK: arith.constant -2960836687051489901 : i64
// CHECK: arith.xori
// CHECK: %[[HASH:.*]] = arith.shrui
// CHECK: %[[PART:.*]] = arith.andi %[[HASH]], %{{.*}} : i64
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[PART]], %{{.*}} : i64
// CHECK: arith.shrui %[[PRODUCT]], %{{.*}} : i64
// CHECK: arith.cmpi ugt, %{{.*}}, %{{.*}} : i64
// CHECK: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
pipe.pipeline @by_rank {
  %0 = pipe.read @groups : !pipe.rows<"k": i32, "t": !pipe.string>
  pipe.emit %0, @out keys ["k"] : !pipe.rows<"k": i32, "t": !pipe.string>
}
