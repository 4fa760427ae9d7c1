// The plan is written from the module alone: tasks from the program, kernels with their work from
// sched.kernels, and what orders a sort state's rows from the kernel that says so, whatever its name.
// Sources: passes/schedule/emit_plan.cpp, passes/schedule/emit_rows.cpp, passes/schedule/emit_states.cpp,
//   passes/schedule/emit_tensors.cpp, passes/schedule/plan_enums.cpp
// RUN: headrace-translate --sched-to-plan %s | FileCheck %s
// RUN: sed 's/sched.kernel @scan/sched.kernel @other/' %s | not headrace-translate --sched-to-plan 2>&1 | FileCheck %s --check-prefix=LACKS

// RUN: sed '/topo.mesh = /d' %s | not headrace-translate --sched-to-plan 2>&1 | FileCheck %s --check-prefix=MESH

// LACKS: no kernel was compiled for: scan
// MESH: is not for ranks of a topo.mesh

// CHECK: "schemaMajor": 11
// CHECK: "topologyHash": "0123456789abcdef0123456789abcdef"
// CHECK: "isa": "x86-64-v3"
// CHECK: "name": "ranks"
// CHECK-NEXT: "size": 2
// CHECK: "text": "k / 2"
// CHECK: "kind": "sort_buffer"
// CHECK: "chunkRows": 4096
// CHECK: "symbol": "scan"
// CHECK: "contentHash": "ab12"
// CHECK: "literals"
// CHECK: "integer": 7
// CHECK: "kind": "string"
// CHECK-NEXT: "offset": 16
// CHECK-NEXT: "text": "MAIL"
// CHECK: "kind": "insert"
// CHECK-NEXT: "amount": 2.0
// CHECK-NEXT: "state": 0
// CHECK: "kind": "load"
// CHECK: "kind": "run"
// CHECK: "kind": "exchange"
// CHECK: "exchange": "gather"
// CHECK: "axes": [
// CHECK-NEXT: 0
module attributes {
  topo.mesh = #topo.mesh<@cluster, [("ranks", 2)]>,
  topo.topology = #topo.topology<"pair", hash = "0123456789abcdef0123456789abcdef">
} {
  pipe.state @sorted sort [#pipe.field<"k", i32, payload>]
  pipe.stream @moved gather over ["ranks"] : !pipe.rows<"k": i32>
  pipe.stream @out result names ["k"] logical [i32] : !pipe.rows<"k": i32>
  pipe.pipeline @scan {
    %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">] : !pipe.rows<"k": i32>
    pipe.insert %0, @sorted keys [] : <"k": i32>
  }
  pipe.pipeline @read {
    %0 = pipe.read @sorted : !pipe.rows<"k": i32>
    pipe.emit %0, @moved keys [] : !pipe.rows<"k": i32>
  }
  pipe.pipeline @received {
    %0 = pipe.receive @moved : !pipe.rows<"k": i32>
    pipe.emit %0, @out keys [] : !pipe.rows<"k": i32>
  }
  sched.kernels "x86-64-v3" {
    sched.kernel @scan {content = "ab12", literal_bytes = 32 : i64, literals = [#sched.literal<0, 7 : i64>, #sched.literal<16, "MAIL">], places = ["k / 2"], work = [#sched.work<row, 0, 1.000000e+00>, #sched.work<insert, 0, 2.000000e+00, state = 0>]}
    sched.kernel @read
    sched.kernel @received
  }
  sched.program @main chunk_rows 4096 {
    %loaded, %rows = sched.load for @scan : <!pipe.rows<"k": i32>>
    %room = sched.reserve host for @sorted minimum 65536 expected 65536
    %filled = sched.run @scan from %rows : !sched.stream<!pipe.rows<"k": i32>> fills [@sorted] reads [] after %room
    %read, %sorted = sched.run @read of @sorted fills [] reads [] after %filled -> !sched.stream<!pipe.rows<"k": i32>>
    %released = sched.release %room after %filled, %read
    %sent, %all = sched.exchange gather over ["ranks"] channel 0 %sorted : <!pipe.rows<"k": i32>> -> <!pipe.rows<"k": i32>>
    %done, %out = sched.run @received from %all : !sched.stream<!pipe.rows<"k": i32>> fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
    sched.result %out names ["k"] logical [i32] : <!pipe.rows<"k": i32>>
  }
}
