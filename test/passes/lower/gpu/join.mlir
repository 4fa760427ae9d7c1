// A join in threads: the build side is appended by an atomic, linked by a kernel of its own, and probed by walking
// chains; test/python/gpu runs these kernels on TPC-H.
// Sources: passes/lower/gpu/thread_kernel.cpp, passes/lower/gpu/thread_lookup.cpp, passes/lower/gpu/thread_groups.cpp,
//   passes/lower/gpu/thread_block_groups.cpp, passes/lower/gpu/group_tables.cpp, passes/lower/gpu/thread_columns.cpp,
//   passes/lower/gpu/device_kernel.cpp, passes/lower/gpu/lower_gpu.cpp
// RUN: headrace-opt %s --lower-gpu-kernels | FileCheck %s
// RUN: headrace-translate --kernel-to-ptx %s | FileCheck %s --check-prefix=PTX

pipe.state @build0 join [#pipe.field<"c_custkey", i32, key>, #pipe.field<"c_nationkey", i32, payload>] direct <base = 1, extent = 1500>
pipe.state @marked join [#pipe.field<"c_custkey", i32, key>, #pipe.field<"seen", i1, payload>] direct <base = 1, extent = 1500>
pipe.state @by_nation group [#pipe.field<"c_nationkey", i32, key>, #pipe.field<"orders", i64, sum>, #pipe.field<"total", i128, sum>] holds <expected = 25, p95 = 25, max = 25>
pipe.state @by_customer group [#pipe.field<"o_custkey", i32, key>, #pipe.field<"total", i128, sum>, #pipe.field<"least", i64, min>, #pipe.field<"most", i64, max>]
pipe.state @counts scalar [#pipe.field<"rows", i64, sum>, #pipe.field<"found", i64, sum>]

// CHECK-LABEL: llvm.func internal @build.superstep0
// CHECK: llvm.call @hr_device_string
// CHECK: llvm.call @hr_string_equal
// CHECK: llvm.call @hr_device_append
pipe.pipeline @build {
  %0 = pipe.scan "customer" [#pipe.scan_column<column = "c_custkey", file = "c_custkey">, #pipe.scan_column<column = "c_nationkey", file = "c_nationkey">, #pipe.scan_column<column = "c_mktsegment", file = "c_mktsegment">] : !pipe.rows<"c_custkey": i32, "c_nationkey": i32, "c_mktsegment": !pipe.string>
  %1 = pipe.filter %0 ["c_mktsegment"] {
  ^bb0(%segment: !pipe.string):
    %wanted = pipe.literal "BUILDING"
    %equal = pipe.string_compare eq %segment, %wanted
    pipe.yield %equal : i1
  } : !pipe.rows<"c_custkey": i32, "c_nationkey": i32, "c_mktsegment": !pipe.string> -> !pipe.rows<"c_custkey": i32, "c_nationkey": i32>
  pipe.insert %1, @build0 keys ["c_custkey"] drop_null_keys : !pipe.rows<"c_custkey": i32, "c_nationkey": i32>
}

// Rows of a block first meet in its own table, each thread's in accumulators of its own; the last supersteps add them
// up, then to the state's.
// CHECK-LABEL: llvm.func internal @probe.find_group_of_block
// CHECK: llvm.call @hr_block_claim
// CHECK: llvm.call @hr_block_publish
// CHECK-LABEL: llvm.func internal @probe.find_group(
// CHECK: llvm.call @hr_device_claim
// CHECK: llvm.call @hr_device_publish
// CHECK-LABEL: llvm.func internal @probe.superstep1
// CHECK: llvm.call @probe.find_group_of_block
// CHECK: llvm.call @probe.find_group(
// CHECK: llvm.call @hr_device_add_i128
// CHECK: llvm.call @hr_block_add_i64
// CHECK-LABEL: llvm.func internal @probe.superstep2
// CHECK-NOT: llvm.call @probe.find_group
// CHECK-LABEL: llvm.func internal @probe.superstep4
// CHECK: llvm.call @probe.find_group(
// CHECK: llvm.func ptx_kernelcc @probe(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.call @probe.superstep0
// CHECK: barrier
// CHECK: llvm.call @probe.superstep1
// CHECK: barrier
// CHECK: llvm.call @probe.superstep2
// CHECK: barrier
// CHECK: llvm.call @probe.superstep3
// CHECK: barrier
// CHECK: llvm.call @probe.superstep4
// PTX: .target sm_80
// ptxas may be given the shared memory before the kernel or in it.
// PTX-DAG: .shared .align 16 .b8 probe
// PTX-DAG: .entry probe(
// PTX: .maxntid 256
// PTX: bar{{(rier.cta)?}}.sync
pipe.pipeline @probe {
  %0 = pipe.scan "orders" [#pipe.scan_column<column = "o_custkey", file = "o_custkey">, #pipe.scan_column<column = "o_totalprice", file = "o_totalprice">, #pipe.scan_column<column = "o_orderdate", file = "o_orderdate">] : !pipe.rows<"o_custkey": i32, "o_totalprice": i64, "o_orderdate": i32>
  %1 = pipe.filter %0 ["o_orderdate"] {
  ^bb0(%day: i32):
    %limit = arith.constant 9204 : i32
    %before = arith.cmpi slt, %day, %limit : i32
    pipe.yield %before : i1
  } : !pipe.rows<"o_custkey": i32, "o_totalprice": i64, "o_orderdate": i32> -> !pipe.rows<"o_custkey": i32, "o_totalprice": i64>
  %2 = pipe.lookup %1, @build0 inner keys ["o_custkey"] payload ["c_nationkey"] columns [] {
  } : !pipe.rows<"o_custkey": i32, "o_totalprice": i64> -> !pipe.rows<"o_totalprice": i64, "c_nationkey": i32>
  %3 = pipe.map %2 ["orders", "total"] ["o_totalprice"] {
  ^bb0(%price: i64):
    %one = arith.constant 1 : i64
    pipe.yield %one, %price : i64, i64
  } : !pipe.rows<"o_totalprice": i64, "c_nationkey": i32> -> !pipe.rows<"c_nationkey": i32, "orders": i64, "total": i64>
  pipe.combine %3, @by_nation keys ["c_nationkey"] : !pipe.rows<"c_nationkey": i32, "orders": i64, "total": i64>
}

pipe.pipeline @probe_left {
  %0 = pipe.scan "orders" [#pipe.scan_column<column = "o_custkey", file = "o_custkey">] : !pipe.rows<"o_custkey": i32>
  %1 = pipe.lookup %0, @build0 left keys ["o_custkey"] payload ["c_nationkey"] columns [] {
  } : !pipe.rows<"o_custkey": i32> -> !pipe.rows<"o_custkey": i32, "c_nationkey": i32?>
  %2 = pipe.map %1 ["rows", "found"] ["c_nationkey"] {
  ^bb0(%nation: i32, %valid: i1):
    %one = arith.constant 1 : i64
    %flag = arith.extui %valid : i1 to i64
    pipe.yield %one, %flag : i64, i64
  } : !pipe.rows<"o_custkey": i32, "c_nationkey": i32?> -> !pipe.rows<"rows": i64, "found": i64>
  pipe.combine %2, @counts keys [] : !pipe.rows<"rows": i64, "found": i64>
}

pipe.pipeline @probe_semi {
  %0 = pipe.scan "orders" [#pipe.scan_column<column = "o_custkey", file = "o_custkey">] : !pipe.rows<"o_custkey": i32>
  %1 = pipe.lookup %0, @build0 semi keys ["o_custkey"] payload [] columns [] {
  } : !pipe.rows<"o_custkey": i32> -> !pipe.rows<"o_custkey": i32>
  %2 = pipe.map %1 ["rows", "found"] [] {
    %one = arith.constant 1 : i64
    pipe.yield %one, %one : i64, i64
  } : !pipe.rows<"o_custkey": i32> -> !pipe.rows<"rows": i64, "found": i64>
  pipe.combine %2, @counts keys [] : !pipe.rows<"rows": i64, "found": i64>
}

pipe.pipeline @probe_anti {
  %0 = pipe.scan "orders" [#pipe.scan_column<column = "o_custkey", file = "o_custkey">] : !pipe.rows<"o_custkey": i32>
  %1 = pipe.lookup %0, @build0 anti keys ["o_custkey"] payload [] columns [] {
  } : !pipe.rows<"o_custkey": i32> -> !pipe.rows<"o_custkey": i32>
  %2 = pipe.map %1 ["rows", "found"] [] {
    %one = arith.constant 1 : i64
    pipe.yield %one, %one : i64, i64
  } : !pipe.rows<"o_custkey": i32> -> !pipe.rows<"rows": i64, "found": i64>
  pipe.combine %2, @counts keys [] : !pipe.rows<"rows": i64, "found": i64>
}

// Rows of the table are marked, and none goes on.
// CHECK-LABEL: llvm.func internal @probe_seen.superstep0
// CHECK: llvm.store %{{.*}}, %{{.*}} : i8, !llvm.ptr
pipe.pipeline @probe_seen {
  %0 = pipe.scan "orders" [#pipe.scan_column<column = "o_custkey", file = "o_custkey">] : !pipe.rows<"o_custkey": i32>
  %1 = pipe.lookup %0, @marked seen keys ["o_custkey"] payload [] mark "seen" columns [] {
  } : !pipe.rows<"o_custkey": i32> -> !pipe.rows<>
}

pipe.pipeline @probe_mark {
  %0 = pipe.scan "orders" [#pipe.scan_column<column = "o_custkey", file = "o_custkey">] : !pipe.rows<"o_custkey": i32>
  %1 = pipe.lookup %0, @build0 mark keys ["o_custkey"] payload [] mark "known" columns [] {
  } : !pipe.rows<"o_custkey": i32> -> !pipe.rows<"o_custkey": i32, "known": i1>
  %2 = pipe.map %1 ["rows", "found"] ["known"] {
  ^bb0(%known: i1):
    %one = arith.constant 1 : i64
    %flag = arith.extui %known : i1 to i64
    pipe.yield %one, %flag : i64, i64
  } : !pipe.rows<"o_custkey": i32, "known": i1> -> !pipe.rows<"rows": i64, "found": i64>
  pipe.combine %2, @counts keys [] : !pipe.rows<"rows": i64, "found": i64>
}

pipe.pipeline @probe_nullable {
  %0 = pipe.scan "orders" [#pipe.scan_column<column = "o_custkey", file = "o_custkey">] : !pipe.rows<"o_custkey": i32?>
  %1 = pipe.lookup %0, @build0 semi keys ["o_custkey"] payload [] columns [] {
  } : !pipe.rows<"o_custkey": i32?> -> !pipe.rows<"o_custkey": i32?>
  %2 = pipe.map %1 ["rows", "found"] [] {
    %one = arith.constant 1 : i64
    pipe.yield %one, %one : i64, i64
  } : !pipe.rows<"o_custkey": i32?> -> !pipe.rows<"rows": i64, "found": i64>
  pipe.combine %2, @counts keys [] : !pipe.rows<"rows": i64, "found": i64>
}

// Nobody knows how many groups there are: a table of the block, as large as may be, that its threads share.
// CHECK-LABEL: llvm.func internal @group_by_customer.superstep1
// CHECK-DAG: llvm.call @group_by_customer.find_group_of_block
// CHECK-DAG: llvm.call @group_by_customer.find_group(
// CHECK-LABEL: llvm.func internal @group_by_customer.superstep2
// CHECK: llvm.call @group_by_customer.find_group(
// CHECK-NOT: llvm.func internal @group_by_customer.superstep3
// CHECK: llvm.func ptx_kernelcc @group_by_customer(
pipe.pipeline @group_by_customer {
  %0 = pipe.scan "orders" [#pipe.scan_column<column = "o_custkey", file = "o_custkey">, #pipe.scan_column<column = "o_totalprice", file = "o_totalprice">] : !pipe.rows<"o_custkey": i32, "o_totalprice": i64>
  %1 = pipe.map %0 ["total", "least", "most"] ["o_totalprice"] {
  ^bb0(%price: i64):
    pipe.yield %price, %price, %price : i64, i64, i64
  } : !pipe.rows<"o_custkey": i32, "o_totalprice": i64> -> !pipe.rows<"o_custkey": i32, "total": i64, "least": i64, "most": i64>
  pipe.combine %1, @by_customer keys ["o_custkey"] : !pipe.rows<"o_custkey": i32, "total": i64, "least": i64, "most": i64>
}
// CHECK-LABEL: llvm.func internal @link_build0.superstep0
// CHECK: llvm.call @hr_device_chain
