// A join that is built and probed by runs of a GPU lives there; what the CPU reads is filled there and copied. What
// the CPU probes it builds itself, though there are kernels for both.
// RUN: headrace-opt %s --place-tasks | FileCheck %s
// Sources: passes/schedule/place_tasks.cpp

module attributes {topo.mesh = #topo.mesh<@cluster, [("ranks", 1)]>} {
  pipe.state @build0 join [#pipe.field<"k", i64, key>]
  pipe.state @build1 join [#pipe.field<"k", i64, key>]
  pipe.state @sum0 scalar [#pipe.field<"n", i64, sum>]
  pipe.state @sum1 scalar [#pipe.field<"n", i64, sum>]
  sched.kernels "x86-64" {
    sched.kernel @build_a
    sched.kernel @build_b
    sched.kernel @probe_a
    sched.kernel @probe_b
    sched.kernel @groups0
  }
  sched.kernels gpu "sm_80" {
    sched.kernel @build_a {threads = 256 : i64}
    sched.kernel @build_b {threads = 256 : i64}
    sched.kernel @probe_a {threads = 256 : i64}
    sched.kernel @link_build0 links @build0 {threads = 256 : i64}
  }
  // CHECK-LABEL: sched.program @main
  // CHECK: sched.reserve device for @build0
  // CHECK: sched.reserve host for @build1
  // CHECK: sched.reserve host for @sum0
  // CHECK: sched.run @build_a {{.*}} gpu{{$}}
  // CHECK: sched.run @build_b {{.*}} after %{{[0-9a-z_]+$}}
  // CHECK: sched.run @probe_a {{.*}} gpu{{$}}
  // CHECK: sched.run @probe_b {{.*}} after %{{[0-9a-z_]+$}}
  // CHECK: sched.run @groups0
  // CHECK-NOT: gpu
  sched.program @main {
    %r0 = sched.reserve host for @build0 minimum 65536 expected 65536
    %r1 = sched.reserve host for @build1 minimum 65536 expected 65536
    %r2 = sched.reserve host for @sum0 minimum 65536 expected 65536
    %l0, %a = sched.load for @build_a : <!pipe.rows<"k": i64>>
    %l1, %b = sched.load for @build_b : <!pipe.rows<"k": i64>>
    %l2, %c = sched.load for @probe_a : <!pipe.rows<"k": i64>>
    %l3, %d = sched.load for @probe_b : <!pipe.rows<"k": i64>>
    %built0 = sched.run @build_a from %a : !sched.stream<!pipe.rows<"k": i64>> fills [@build0] reads [] after %r0
    %built1 = sched.run @build_b from %b : !sched.stream<!pipe.rows<"k": i64>> fills [@build1] reads [] after %r1
    %summed = sched.run @probe_a from %c : !sched.stream<!pipe.rows<"k": i64>> fills [@sum0] reads [@build0] after %built0, %r2
    %probed = sched.run @probe_b from %d : !sched.stream<!pipe.rows<"k": i64>> fills [@sum1] reads [@build1] after %built1
    %read, %out = sched.run @groups0 of @sum0 fills [] reads [] after %summed -> !sched.stream<!pipe.rows<"n": i64>>
    sched.result %out : <!pipe.rows<"n": i64>>
  }
}
