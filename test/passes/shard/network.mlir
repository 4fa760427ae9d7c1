// Two matmuls: where the network is fast the weights are split (tensor parallel), where it is slow the batch.
// Sources: passes/shard/solve_layouts.cpp, passes/shard/shard_program.cpp, passes/shard/strategies.cpp,
//   passes/shard/tensor_strategies.cpp, passes/shard/report.cpp
// RUN: headrace-opt %s --shard-solve="mesh=ranks:4 topology=ethernet-fast explain=text" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAST
// RUN: headrace-opt %s --shard-solve="mesh=ranks:4 topology=ethernet-slow explain=text" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: headrace-opt %s --shard="mesh=ranks:4 topology=ethernet-fast" | FileCheck %s --check-prefix=LOCAL
// An alternative is the same each time.
// RUN: headrace-opt %s --shard-solve="mesh=ranks:4 topology=ethernet-fast alternative=40" -o %t.1
// RUN: headrace-opt %s --shard-solve="mesh=ranks:4 topology=ethernet-fast alternative=40" -o %t.2
// RUN: diff %t.1 %t.2
// Memory of a rank is a limit of the solver, and it says why nothing fits.
// RUN: headrace-opt %s --shard-solve="mesh=ranks:4 memory=330000000 explain=text" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIGHT
// RUN: headrace-opt %s --shard-solve="mesh=ranks:4 memory=4000000 explain=text" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OVER

// TIGHT: layouts on 4 ranks, {{.*}} optimal,
// TIGHT-NOT: memory:
// OVER: memory: {{.*}} bytes on a rank, limit 1e+06; at linalg.matmul ({{.*}}network.mlir:{{[0-9]+}}) every choice holds at least {{.*}} bytes of tier 0 (
// FAST: linalg.matmul: dim 1 over ranks
// FAST: linalg.matmul: unreduced over ranks
// SLOW: linalg.matmul: dim 0 over ranks
// SLOW: linalg.matmul: dim 0 over ranks
// SLOW-SAME: next best: unreduced over ranks
// Empty tensors and fills are no choice: they are made where they are used.
// FAST-NOT: linalg.fill
// LOCAL-LABEL: func.func @main
// LOCAL-SAME: tensor<?x4096xf32>, %{{.*}}: tensor<4096x?xf32>, %{{.*}}: tensor<?x4096xf32>, %{{.*}}: tensor<?xf32>)
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<512x4096xf32>, %w1: tensor<4096x8192xf32>, %w2: tensor<8192x4096xf32>, %b: tensor<8192xf32>)
    -> tensor<512x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<512x8192xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<512x8192xf32>) -> tensor<512x8192xf32>
  // LOCAL: dist.all_gather %{{.*}} dim 0 over ["ranks"] : tensor<?x4096xf32> -> tensor<512x4096xf32>
  // LOCAL: linalg.matmul {{.*}} -> tensor<512x?xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<512x4096xf32>, tensor<4096x8192xf32>) outs(%z1 : tensor<512x8192xf32>) -> tensor<512x8192xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %b : tensor<512x8192xf32>, tensor<8192xf32>) outs(%e1 : tensor<512x8192xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %sum = arith.addf %in, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<512x8192xf32>
  %e2 = tensor.empty() : tensor<512x4096xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  // LOCAL: linalg.matmul {{.*}}tensor<512x?xf32>, tensor<?x4096xf32>{{.*}} -> tensor<512x4096xf32>
  // LOCAL: dist.all_reduce sum %{{.*}} over ["ranks"] : tensor<512x4096xf32>
  %y = linalg.matmul ins(%r, %w2 : tensor<512x8192xf32>, tensor<8192x4096xf32>) outs(%z2 : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  return %y : tensor<512x4096xf32>
}
