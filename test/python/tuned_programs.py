"""A query and a network that tests of the tuner compile, run and search for."""

from __future__ import annotations

JOIN = """select o_orderpriority, count(*) as n, sum(l_quantity) as q from orders, lineitem
           where o_orderkey = l_orderkey and o_orderdate < date '1995-01-01'
           group by o_orderpriority order by o_orderpriority"""

NETWORK = """
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x16xf32>)
                     outs(%start : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}
"""
