// A scan has pieces of which a quarter of the memory holds one of each scan: 50 bytes a row in memory and in the file.
// Source: passes/schedule/scan_pieces.cpp
// RUN: headrace-opt %s --schedule-tasks | FileCheck %s --check-prefix=FREE
// RUN: headrace-opt %s --schedule-tasks=memory-bytes=134217728 | FileCheck %s --check-prefix=FREE
// RUN: headrace-opt %s --schedule-tasks=memory-bytes=16777216 | FileCheck %s --check-prefix=SMALL
// RUN: headrace-opt %s --schedule-tasks=memory-bytes=1048576 | FileCheck %s --check-prefix=LEAST

// FREE: sched.load for @texts :
// FREE: sched.load for @codes :
// SMALL: sched.load for @texts pieces of 32768 :
// SMALL: sched.load for @codes :
// LEAST: sched.load for @texts pieces of 8192 :
// LEAST: sched.load for @codes pieces of 65536 :
module attributes {topo.mesh = #topo.mesh<@cluster, [("ranks", 1)]>} {
  pipe.state @first rows [#pipe.field<"t", !pipe.string, payload>]
  pipe.state @second rows [#pipe.field<"t", !pipe.string, payload>]
  pipe.pipeline @texts {
    %0 = pipe.scan "t" [#pipe.scan_column<file = "t", column = "t", page_bytes = 16.0 : f64, file_bytes = 10.0 : f64, text_bytes = 24.0 : f64>] : !pipe.rows<"t": !pipe.string>
    pipe.insert %0, @first keys [] : <"t": !pipe.string>
  }
  // Texts of a dictionary are there once.
  pipe.pipeline @codes {
    %0 = pipe.scan "u" [#pipe.scan_column<file = "t", column = "t", pages = code, page_bytes = 1.0 : f64, file_bytes = 1.0 : f64, text_bytes = 24.0 : f64>] : !pipe.rows<"t": !pipe.string>
    pipe.insert %0, @second keys [] : <"t": !pipe.string>
  }
}
