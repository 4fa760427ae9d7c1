// The parts of a union write one stream, which ends when all of them have ended.
// Sources: passes/form/unions.cpp
// RUN: headrace-opt %s --form | FileCheck %s

// CHECK-DAG: pipe.stream @[[UNION:.*]] local writers 2
// CHECK-DAG: pipe.scan "t"
// CHECK-DAG: pipe.scan "u"
// CHECK: pipe.receive @[[UNION]]
!t = !frame.table<"a": i64>
!u = !frame.table<"b": i64>
func.func @main() -> !t {
  %0 = frame.scan "t" ["a"] : !t
  %1 = frame.scan "u" ["b"] : !u
  %2 = frame.union %0, %1 : !t, !u -> !t
  return %2 : !t
}
