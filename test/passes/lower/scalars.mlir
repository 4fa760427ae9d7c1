// Scalars of bodies: what LLVM has stays as it is, the rest calls the primitives; what fails says where.
// Sources: passes/lower/code/scalar_ops.cpp, passes/lower/code/pipeline_code.cpp, passes/lower/code/code_builder.cpp
// RUN: headrace-opt %s --lower-kernels | FileCheck %s

// All failures of a kernel go to one block, which stores kind and place and returns 3; this one before the division.
// CHECK-LABEL: llvm.func @division
// CHECK: ^[[LEAVE:bb[0-9]+]](%[[KIND:[0-9]+]]: i32, %[[PLACE:[0-9]+]]: i32):
// CHECK: llvm.store %[[KIND]]
// CHECK: llvm.store %[[PLACE]]
// CHECK: %[[LEFT:.*]] = arith.constant 3 : i32
// CHECK: llvm.return %[[LEFT]] : i32
// CHECK: %[[ZERO:.*]] = arith.cmpi ule, %{{.*}}, %{{.*}} : i64
// CHECK: llvm.cond_br %[[ZERO]], ^[[FAILED:bb[0-9]+]], ^[[GOES_ON:bb[0-9]+]]
// CHECK: ^[[FAILED]]:
// CHECK: %[[BY_ZERO:.*]] = arith.constant 2 : i32
// CHECK: llvm.br ^[[LEAVE]](%[[BY_ZERO]], %{{.*}} : i32, i32)
// CHECK: ^[[GOES_ON]]:
// CHECK: arith.divsi
pipe.pipeline @division {
  %0 = pipe.receive @in : !pipe.rows<"a": i64, "b": i64>
  %1 = pipe.map %0 ["c"] ["a", "b"] {
  ^bb0(%a: i64, %b: i64):
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %is = arith.cmpi ule, %b, %zero : i64
    pipe.fail_if %is, division_by_zero
    %safe = arith.select %is, %one, %b : i64
    %c = arith.divsi %a, %safe : i64
    pipe.yield %c : i64
  } : !pipe.rows<"a": i64, "b": i64> -> !pipe.rows<"c": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"c": i64>
}

// Products of 128 bits are made in memory, by a primitive that tells whether they overflow.
// CHECK-LABEL: llvm.func @product
// CHECK: llvm.store %{{.*}} : i128, !llvm.ptr
// CHECK: %[[OVERFLOW:.*]] = llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i128
// CHECK: %[[FAILS:.*]] = arith.cmpi ne, %[[OVERFLOW]], %{{.*}} : i32
// CHECK: llvm.cond_br %[[FAILS]]
pipe.pipeline @product {
  %0 = pipe.receive @in : !pipe.rows<"a": i128>
  %1 = pipe.map %0 ["c"] ["a"] {
  ^bb0(%a: i128):
    %p, %overflow = pipe.multiply %a, %a
    pipe.fail_if %overflow, overflow
    pipe.yield %p : i128
  } : !pipe.rows<"a": i128> -> !pipe.rows<"c": i128>
  pipe.emit %1, @out keys [] : !pipe.rows<"c": i128>
}

// The order of texts is asked of a primitive.
// CHECK-LABEL: llvm.func @order
// CHECK: %[[ORDER:.*]] = llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, !llvm.ptr) -> i32
// CHECK: arith.cmpi slt, %[[ORDER]], %{{.*}} : i32
pipe.pipeline @order {
  %0 = pipe.receive @in : !pipe.rows<"s": !pipe.string>
  %1 = pipe.map %0 ["less"] ["s"] {
  ^bb0(%s: !pipe.string):
    %m = pipe.literal "m"
    %less = pipe.string_compare lt %s, %m
    pipe.yield %less : i1
  } : !pipe.rows<"s": !pipe.string> -> !pipe.rows<"less": i1>
  pipe.emit %1, @out keys [] : !pipe.rows<"less": i1>
}

// The number of the run is the worker's.
// CHECK-LABEL: llvm.func @seed
// CHECK: llvm.getelementptr %arg1[72]
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i64
pipe.pipeline @seed {
  %0 = pipe.receive @in : !pipe.rows<"a": i64>
  %1 = pipe.map %0 ["c"] ["a"] {
  ^bb0(%a: i64):
    %seed = pipe.run_seed
    %c = arith.xori %a, %seed : i64
    pipe.yield %c : i64
  } : !pipe.rows<"a": i64> -> !pipe.rows<"c": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"c": i64>
}
