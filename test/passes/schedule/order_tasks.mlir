// The second product has to be summed over all ranks: it goes first, and the other one is computed while it is on its way.
// RUN: headrace-opt %s --order-tasks="topology=p5-2node orders-max=16" | FileCheck %s
// Two orders are too few to compare anything.
// RUN: headrace-opt %s --order-tasks="topology=p5-2node orders-max=2" | FileCheck %s --check-prefix=AS-GIVEN
// RUN: not headrace-opt %s --order-tasks="topology=nowhere orders-max=16" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// Sources: passes/schedule/order_tasks.cpp

// UNKNOWN: error: {{.*}}nowhere

module attributes {topo.mesh = #topo.mesh<@cluster, [("ranks", 16)]>} {
  // CHECK-LABEL: sched.program @main
  // CHECK: %[[SECOND:.*]] = sched.compute {{.*}} label "second"
  // CHECK: sched.compute {{.*}} label "first"
  // CHECK: sched.collective {{.*}} over ["ranks"] %[[SECOND]] :
  // AS-GIVEN: sched.input 0 "a"
  // AS-GIVEN: label "first"
  // AS-GIVEN: label "second"
  sched.program @main {
    %a = sched.input 0 "a" : !sched.buffer<host, tensor<8192x16384xf32>, [[], ["ranks"]]>
    %b = sched.input 1 "b" : !sched.buffer<host, tensor<16384x8192xf32>, [["ranks"], []]>
    %first = sched.compute matmul (%a, %b) parameters [0, 0, 0] label "first"
        : (!sched.buffer<host, tensor<8192x16384xf32>, [[], ["ranks"]]>, !sched.buffer<host, tensor<16384x8192xf32>, [["ranks"], []]>)
        -> !sched.buffer<host, tensor<8192x8192xf32>>
    %c = sched.input 2 "c" : !sched.buffer<host, tensor<8192x16384xf32>, [[], ["ranks"]]>
    %d = sched.input 3 "d" : !sched.buffer<host, tensor<16384x8192xf32>, [["ranks"], []]>
    %second = sched.compute matmul (%c, %d) parameters [0, 0, 0] label "second"
        : (!sched.buffer<host, tensor<8192x16384xf32>, [[], ["ranks"]]>, !sched.buffer<host, tensor<16384x8192xf32>, [["ranks"], []]>)
        -> !sched.buffer<host, tensor<8192x8192xf32>>
    %done, %sum = sched.collective all_reduce by sum over ["ranks"] %second
        : !sched.buffer<host, tensor<8192x8192xf32>> -> !sched.buffer<host, tensor<8192x8192xf32>>
    sched.tensor_result %first : !sched.buffer<host, tensor<8192x8192xf32>>
    sched.tensor_result %sum : !sched.buffer<host, tensor<8192x8192xf32>>
  }
}
