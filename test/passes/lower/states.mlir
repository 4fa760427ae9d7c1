// Folds into aggregates, and rows appended to buffers.
// Sources: passes/lower/cpu/kernel_sinks.cpp, passes/lower/cpu/kernel_groups.cpp, passes/analysis/physical.cpp
// RUN: headrace-opt %s --lower-kernels | FileCheck %s

pipe.state @all scalar [#pipe.field<"n", i64, sum>, #pipe.field<"least", f64, min, nullable = true>]
pipe.state @wide group [#pipe.field<"k", i32, key>, #pipe.field<"total", i128, sum>, #pipe.field<"most", f64, max>]
pipe.state @build join [#pipe.field<"k", i32, key>, #pipe.field<"v", i64, payload>]
pipe.state @ordered sort [#pipe.field<"v", i64, payload>] order [#pipe.sort_key<"v", descending = true, nulls_first = false>]

// The one row of a state is worked on in slots, and written back after all rows. A NULL input changes nothing; the
// least of numbers passes over NaN.
// CHECK-LABEL: llvm.func @fold
// CHECK: llvm.alloca
// CHECK: arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: arith.minnumf
pipe.pipeline @fold {
  %0 = pipe.receive @in : !pipe.rows<"n": i64, "least": f64?>
  pipe.combine %0, @all keys [] : !pipe.rows<"n": i64, "least": f64?>
}

// Groups are found for 64 rows first, in a table that is touched ahead when it is large: its slots, then the rows, of 40
// bytes, with both lines that one may be on; then every row is folded.
// NaN is the largest number.
// CHECK-LABEL: llvm.func @groups
// CHECK: arith.constant -7046029254386353131 : i64
// CHECK: llvm.intr.prefetch
// CHECK: %[[ROW:.*]] = llvm.inttoptr
// CHECK-NEXT: llvm.intr.prefetch"(%[[ROW]])
// CHECK-NEXT: %[[LAST:.*]] = llvm.getelementptr %[[ROW]][39]
// CHECK-NEXT: llvm.intr.prefetch"(%[[LAST]])
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: arith.extsi %{{.*}} : i64 to i128
// CHECK: arith.addi %{{.*}}, %{{.*}} : i128
// CHECK: arith.maximumf
pipe.pipeline @groups {
  %0 = pipe.receive @in : !pipe.rows<"k": i32, "total": i64, "most": f64>
  pipe.combine %0, @wide keys ["k"] : !pipe.rows<"k": i32, "total": i64, "most": f64>
}

// Rows with a NULL key are left out of a join table; its rows begin with a link and the hash.
// CHECK-LABEL: llvm.func @fill
// CHECK: arith.constant -7046029254386353131 : i64
// CHECK: llvm.cond_br %{{.*}}, ^[[DONE:.*]], ^[[APPEND:.*]]
// CHECK: llvm.icmp "uge"
pipe.pipeline @fill {
  %0 = pipe.receive @in : !pipe.rows<"k": i32?, "v": i64>
  pipe.insert %0, @build keys ["k"] drop_null_keys : !pipe.rows<"k": i32?, "v": i64>
}

// Rows to be sorted need no hash.
// CHECK-LABEL: llvm.func @keep
// CHECK-NOT: arith.constant -7046029254386353131
// CHECK: llvm.icmp "uge"
// CHECK-NOT: arith.constant -7046029254386353131
pipe.pipeline @keep {
  %0 = pipe.receive @in : !pipe.rows<"v": i64>
  pipe.insert %0, @ordered keys [] : !pipe.rows<"v": i64>
}
