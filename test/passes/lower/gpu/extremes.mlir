// Minima and maxima in threads: NaN is the largest number, true is after false. test/python/gpu runs these kernels.
// Sources: passes/lower/gpu/thread_sinks.cpp
// RUN: headrace-opt %s --lower-gpu-kernels | FileCheck %s
// RUN: headrace-translate --kernel-to-ptx %s | FileCheck %s --check-prefix=PTX

pipe.state @all scalar [#pipe.field<"least", f64, min>, #pipe.field<"most", f64, max>, #pipe.field<"every", i1, min>, #pipe.field<"any", i1, max>]
pipe.state @by_key group [#pipe.field<"key", i32, key>, #pipe.field<"least", f64, min>, #pipe.field<"most", f64, max>, #pipe.field<"every", i1, min>, #pipe.field<"any", i1, max>] holds <expected = 10, p95 = 20, max = 100>

// CHECK-LABEL: llvm.func internal @fold_all.superstep0
// CHECK-DAG: arith.minnumf
// CHECK-DAG: arith.maximumf
// CHECK-DAG: arith.andi {{.*}} : i1
// CHECK-DAG: arith.ori {{.*}} : i1
// PTX-DAG: .entry fold_all(
pipe.pipeline @fold_all {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "key", file = "key">, #pipe.scan_column<column = "value", file = "value">] : !pipe.rows<"key": i32, "value": f64>
  %1 = pipe.map %0 ["least", "most", "every", "any"] ["value"] {
  ^bb0(%value: f64):
    %zero = arith.constant 0.0 : f64
    %positive = arith.cmpf ugt, %value, %zero : f64
    pipe.yield %value, %value, %positive, %positive : f64, f64, i1, i1
  } : !pipe.rows<"key": i32, "value": f64> -> !pipe.rows<"least": f64, "most": f64, "every": i1, "any": i1>
  pipe.combine %1, @all keys [] : !pipe.rows<"least": f64, "most": f64, "every": i1, "any": i1>
}

// CHECK-LABEL: llvm.func internal @fold_groups.superstep1
// CHECK-DAG: llvm.atomicrmw fmin
// CHECK-DAG: llvm.atomicrmw fmaximum
// CHECK-DAG: llvm.atomicrmw _and
// CHECK-DAG: llvm.atomicrmw _or
// PTX-DAG: .entry fold_groups(
pipe.pipeline @fold_groups {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "key", file = "key">, #pipe.scan_column<column = "value", file = "value">] : !pipe.rows<"key": i32, "value": f64>
  %1 = pipe.map %0 ["least", "most", "every", "any"] ["value"] {
  ^bb0(%value: f64):
    %zero = arith.constant 0.0 : f64
    %positive = arith.cmpf ugt, %value, %zero : f64
    pipe.yield %value, %value, %positive, %positive : f64, f64, i1, i1
  } : !pipe.rows<"key": i32, "value": f64> -> !pipe.rows<"key": i32, "least": f64, "most": f64, "every": i1, "any": i1>
  pipe.combine %1, @by_key keys ["key"] : !pipe.rows<"key": i32, "least": f64, "most": f64, "every": i1, "any": i1>
}
