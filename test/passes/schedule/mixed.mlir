// Rows of a table become tensors in one program with the tensor ops behind them: buffers of run-time extent, a kernel,
// a collective, a result.
// Sources: passes/form/form_program.cpp, passes/form/form_tensors.cpp, passes/schedule/tensor_schedule.cpp,
//   passes/schedule/tensor_placement.cpp
// RUN: headrace-opt %s --shard="mesh=ranks:2" --form --schedule-tasks | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=ranks:1" --form --schedule-tasks | FileCheck %s --check-prefix=ONE

!t = !frame.table<"k": i64, "x": f32, "y": f32>
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (j)>
// CHECK: pipe.stream @rows0 to_tensor
// CHECK: sched.program @tasks
// CHECK: %[[W:.*]] = sched.input 0 "w" : <host, tensor<2x8xf32>>
// CHECK: %[[X:.*]] = sched.to_tensor %{{.*}} {{\[\[}}"x", "y"]] {{.*}} -> !sched.buffer<host, tensor<?x2xf32>, {{\[\[}}"ranks"] ragged, []], rows = 0>
// CHECK: %[[Y:.*]] = sched.compute matmul(%[[X]], %[[W]])
// CHECK: %[[P:.*]] = sched.compute kernel @main_0(%[[Y]])
// CHECK: sched.collective all_reduce by sum over ["ranks"] %[[P]]
// CHECK: sched.tensor_result
// ONE: sched.to_tensor {{.*}} -> !sched.buffer<host, tensor<?x2xf32>, rows = 0>
// ONE-NOT: sched.collective
func.func @main(%w: tensor<2x8xf32> loc("w")) -> tensor<8xf32> {
  %t = frame.scan "points" ["k", "x", "y"] {statistics = {rows = 1000000 : i64, columns = {}}} : !t
  %x = frame.to_tensor %t [["x", "y"]] : !t -> tensor<?x2xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x2xf32>, tensor<2x8xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  %e2 = tensor.empty() : tensor<8xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<?x8xf32>) outs(%z2 : tensor<8xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %sum = arith.addf %acc, %in : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}
