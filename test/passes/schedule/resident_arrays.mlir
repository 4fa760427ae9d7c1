// Tensors that lie on the ranks are inputs without a copy, and results that stay have no collective behind them. What
// is handed over to the caller is a copy of what lies there.
// Sources: passes/schedule/tensor_schedule.cpp, passes/schedule/verify_tensors.cpp
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:2" --form --schedule-tasks --verify-schedule | FileCheck %s
// RUN: headrace-opt %s --split-input-file --shard="mesh=r:1" --form --schedule-tasks --verify-schedule | FileCheck %s --check-prefix=ONE

// CHECK: %[[W:.*]] = sched.input 0 "w" resident : <host, tensor<8x4xf32>, {{\[\[}}"r"], []]>
// CHECK: sched.tensor_result %[[W]] resident : <host, tensor<8x4xf32>, {{\[\[}}"r"], []]>
// ONE: %[[W:.*]] = sched.input 0 "w" resident : <host, tensor<8x4xf32>>
// ONE: sched.tensor_result %[[W]] resident : <host, tensor<8x4xf32>>
func.func @main(%w: tensor<8x4xf32> {dist.resident = #dist.layout<@mesh, dims = [["r"], []]>} loc("w"))
    -> tensor<8x4xf32> attributes {frame.result_resident = []} {
  return %w : tensor<8x4xf32>
}

// -----

// CHECK: %[[W:.*]] = sched.input 0 "w" resident
// CHECK: %[[ALL:.*]] = sched.collective all_gather over ["r"] %[[W]]
// CHECK: sched.tensor_result %{{.*}} : <host, tensor<8x4xf32>>
// ONE: %[[W:.*]] = sched.input 0 "w" resident
// ONE: %[[OWN:.*]] = sched.compute reshape(%[[W]])
// ONE: sched.tensor_result %[[OWN]] : <host, tensor<8x4xf32>>
func.func @main(%w: tensor<8x4xf32> {dist.resident = #dist.layout<@mesh, dims = [["r"], []]>} loc("w")) -> tensor<8x4xf32> {
  return %w : tensor<8x4xf32>
}
