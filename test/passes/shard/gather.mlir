// Rows at places that are data: the dimension that they are taken along is whole on every rank, the places and what a row
// has may be divided.
// Sources: dialects/interfaces/ShardingRule.cpp, dialects/interfaces/TensorGather.cpp
// RUN: headrace-opt %s --shard="mesh=r:2 topology=ethernet-slow" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=r:2 topology=ethernet-slow" --form --schedule-tasks | FileCheck %s --check-prefix=TASKS

#columns = #dist.layout<@mesh, dims = [[], ["r"]]>
#rows = #dist.layout<@mesh, dims = [["r"], []]>
#last = #dist.layout<@mesh, dims = [[], [], ["r"]]>
#first = #dist.layout<@mesh, dims = [["r"], [], []]>
// CHECK-LABEL: func.func @main(%arg0: tensor<9x?xf32>, %arg1: tensor<4x3xi64>, %arg2: tensor<5x6xf32>, %arg3: tensor<?x3xi64>)
// TASKS-DAG: %[[X:.*]] = sched.input 0 "arg0" : <host, tensor<9x6xf32>, {{\[\[}}], ["r"]]>
// TASKS-DAG: %[[Y:.*]] = sched.input 2 "arg2" : <host, tensor<5x6xf32>>
func.func @main(%x: tensor<9x6xf32>, %i: tensor<4x3xi64>, %y: tensor<5x6xf32>, %j: tensor<4x3xi64>)
    -> (tensor<4x3x6xf32>, tensor<4x3x6xf32>) {
  // CHECK-NEXT: %[[PLACES:.*]] = tensor.expand_shape %arg1
  // CHECK-NEXT: %{{.*}} = tensor.gather %arg0[%[[PLACES]]] gather_dims([0]) : (tensor<9x?xf32>, tensor<4x3x1xi64>) -> tensor<4x3x?xf32>
  // TASKS: %[[PLACES:.*]] = sched.compute reshape
  // TASKS: sched.compute gather(%[[X]], %[[PLACES]]) parameters [] label "gather" {{.*}} -> !sched.buffer<host, tensor<4x3x6xf32>, {{\[\[}}], [], ["r"]]>
  %features = dist.constrain %x : tensor<9x6xf32> to #columns
  %places = tensor.expand_shape %i [[0], [1, 2]] output_shape [4, 3, 1] : tensor<4x3xi64> into tensor<4x3x1xi64>
  %0 = tensor.gather %features[%places] gather_dims([0]) : (tensor<9x6xf32>, tensor<4x3x1xi64>) -> tensor<4x3x6xf32>
  %1 = dist.constrain %0 : tensor<4x3x6xf32> to #last
  // CHECK: tensor.gather %arg2[%{{.*}}] gather_dims([0]) : (tensor<5x6xf32>, tensor<?x3x1xi64>) -> tensor<?x3x6xf32>
  // TASKS: sched.compute gather(%[[Y]], %{{.*}}) parameters [] label "gather" {{.*}} -> !sched.buffer<host, tensor<4x3x6xf32>, {{\[\[}}"r"], [], []]>
  %divided = dist.constrain %j : tensor<4x3xi64> to #rows
  %there = tensor.expand_shape %divided [[0], [1, 2]] output_shape [4, 3, 1] : tensor<4x3xi64> into tensor<4x3x1xi64>
  %2 = tensor.gather %y[%there] gather_dims([0]) : (tensor<5x6xf32>, tensor<4x3x1xi64>) -> tensor<4x3x6xf32>
  %3 = dist.constrain %2 : tensor<4x3x6xf32> to #first
  return %1, %3 : tensor<4x3x6xf32>, tensor<4x3x6xf32>
}
