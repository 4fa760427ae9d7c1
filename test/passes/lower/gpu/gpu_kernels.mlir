// Every pipeline that threads can run becomes a kernel of its name, in supersteps.
// RUN: headrace-opt %s --lower-gpu-kernels | FileCheck %s
// CHECK-NOT: pipe.pipeline

pipe.state @total scalar [#pipe.field<"v", i64, sum>]
// CHECK-LABEL: llvm.func internal @filled.superstep0
pipe.pipeline @filled {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "v", file = "v">] : !pipe.rows<"v": i64>
  pipe.combine %0, @total keys [] : !pipe.rows<"v": i64>
}
