// RUN: headrace-opt %s | headrace-opt | FileCheck %s
// A stream that heavy keys may leave for another way needs the dialect whose word for it is, which nothing else here loads.
// CHECK: pipe.stream @a hash over ["ranks"] carries <expected = 6, p95 = 40, max = 40> skew(<pair = 0, heavy = stay>) : !pipe.rows<"k": i32>
pipe.stream @a hash over ["ranks"] carries <expected = 6, p95 = 40, max = 40> skew(<pair = 0, heavy = stay>) : !pipe.rows<"k": i32>
