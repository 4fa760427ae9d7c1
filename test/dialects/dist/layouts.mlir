// RUN: headrace-opt %s | headrace-opt | FileCheck %s

// CHECK-LABEL: func.func private @layouts
func.func private @layouts() attributes {dist.layouts = [
  // CHECK-SAME: #dist.layout<@mesh, dims = {{\[\[}}"gpu"], []]>
  #dist.layout<@mesh, dims = [["gpu"], []]>,
  // CHECK-SAME: #dist.layout<@mesh, dims = {{\[\[}}"node", "gpu"] ragged]>
  #dist.layout<@mesh, dims = [["node", "gpu"] ragged]>,
  // CHECK-SAME: #dist.layout<@mesh, dims = {{\[\[}}], []], unreduced = {"gpu": sum}>
  #dist.layout<@mesh, dims = [[], []], unreduced = {"gpu": sum}>,
  // CHECK-SAME: #dist.layout<@mesh, rows = hash<["l_orderkey", "b"]> over ["node", "gpu"]>
  #dist.layout<@mesh, rows = hash<["l_orderkey", "b"]> over ["node", "gpu"]>,
  // CHECK-SAME: #dist.layout<@mesh, rows = hash<["l_orderkey"] cycle 6000000> over ["gpu"]>
  #dist.layout<@mesh, rows = hash<["l_orderkey"] cycle 6000000> over ["gpu"]>,
  // CHECK-SAME: #dist.layout<@mesh, rows = range<[#frame.sort_key<"k" asc nulls_first>]> over ["gpu"]>
  #dist.layout<@mesh, rows = range<[#frame.sort_key<"k" asc nulls_first>]> over ["gpu"]>,
  // CHECK-SAME: #dist.layout<@mesh, rows = block over ["gpu"], unreduced = {"node": topk}>
  #dist.layout<@mesh, rows = block over ["gpu"], unreduced = {"node": topk}>,
  // CHECK-SAME: #dist.layout<@mesh, rows = root over ["gpu"]>
  #dist.layout<@mesh, rows = root over ["gpu"]>,
  // CHECK-SAME: #dist.layout<@mesh, rows = scattered over ["gpu"]>
  #dist.layout<@mesh, rows = scattered over ["gpu"]>,
  // CHECK-SAME: #dist.layout<@mesh, unreduced = {"gpu": #frame.contract<[sum<i128>, count, min]>}>
  #dist.layout<@mesh, unreduced = {"gpu": #frame.contract<[sum<i128>, count, min]>}>,
  // CHECK-SAME: #dist.layout<@mesh>
  #dist.layout<@mesh>]}

// CHECK: func.func private @resident(tensor<8x4xf32> {dist.resident = #dist.layout<@mesh, dims = {{\[\[}}"gpu"], []]>})
func.func private @resident(tensor<8x4xf32> {dist.resident = #dist.layout<@mesh, dims = [["gpu"], []]>})
