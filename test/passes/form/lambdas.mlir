// A region for each element becomes the body of a loop. What fails in it is a value of the loop, and an error only for rows that
// ask for what the loop gives.
// Sources: passes/form/lambdas.cpp
// RUN: headrace-opt %s --form | FileCheck %s

!t = !frame.table<"l": !frame.nullable<!frame.list<i64>>, "c": i1>
!r = !frame.table<"m": !frame.nullable<!frame.list<i64>>, "s": !frame.nullable<i64>, "t": !frame.nullable<!frame.list<!frame.list<i64>>>>
func.func @main() -> !r {
  %table = frame.scan "t" ["l", "c"] : !t
  // CHECK: %[[L:[a-z0-9]+]]: !pipe.string, %[[VALID:[a-z0-9]+]]: i1, %[[C:[a-z0-9]+]]: i1):
  // CHECK: %[[LENGTH:.*]] = pipe.text "list_length"(%[[L]])
  // CHECK: %[[COUNT:.*]] = arith.select %[[VALID]], %[[LENGTH]], %{{.*}} : i64
  // CHECK: %[[MAPPED:.*]]:2 = pipe.loop %[[COUNT]] from(%{{.*}}) collects {{[0-9]+}} {
  // CHECK: ^bb0(%[[NUMBER:.*]]: i64, %[[FAILED:.*]]: i1):
  // CHECK: %{{.*}}, %[[VALID:.*]] = pipe.list_element %[[L]], %[[NUMBER]] : i64
  // CHECK-NOT: pipe.text
  // CHECK: %[[BITS:.*]] = arith.select
  // CHECK: %[[FAILS:.*]] = arith.ori %[[FAILED]], %{{.*}} : i1
  // CHECK: pipe.yield %[[BITS]], %{{.*}}, %{{.*}}, %[[FAILS]] : i64, i1, i1, i1
  // CHECK: } : (i1) -> (!pipe.string, i1)
  // CHECK: %[[LAST:.*]]:2 = pipe.loop %{{.*}} from(%{{.*}}, %{{.*}}) {
  // CHECK: ^bb0(%[[NUMBER:.*]]: i64, %{{.*}}: i64, %{{.*}}: i1):
  // CHECK: %[[PLACE:.*]] = arith.addi %[[NUMBER]]
  // CHECK: pipe.list_element %[[L]], %[[PLACE]]
  // CHECK: } : (i64, i1) -> (i64, i1)
  // CHECK: %[[TEXTS:.*]] = pipe.loop %{{.*}} from() joins {
  // CHECK: pipe.text "list_of_text"
  // CHECK: %[[BAD:.*]] = arith.andi %[[MAPPED]]#1, %[[C]] : i1
  // CHECK: pipe.fail_if %[[BAD]], overflow
  %p = frame.project %table keep [] compute ["m", "s", "t"] columns ["l", "c"] {
  ^bb0(%l: !frame.nullable<!frame.list<i64>>, %c: i1):
    %mapped = frame.flat_map %l {
    ^bb0(%x: !frame.nullable<i64>, %place: i64):
      %sum = frame.add %x, %x : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
      %one = frame.list %sum : (!frame.nullable<i64>) -> !frame.list<i64>
      frame.yield %one : !frame.list<i64>
    } : (!frame.nullable<!frame.list<i64>>) -> !frame.nullable<!frame.list<i64>>
    %m = frame.case when %c then %mapped : (i1), (!frame.nullable<!frame.list<i64>>) -> !frame.nullable<!frame.list<i64>>
    %none = frame.constant null : !frame.nullable<i64>
    %s = frame.reduce %l from %none {
    ^bb0(%last: !frame.nullable<i64>, %x: !frame.nullable<i64>, %place: i64):
      frame.yield %x : !frame.nullable<i64>
    } {first = 2 : i64} : (!frame.nullable<!frame.list<i64>>, !frame.nullable<i64>) -> !frame.nullable<i64>
    %t = frame.flat_map %l {
    ^bb0(%x: !frame.nullable<i64>, %place: i64):
      %pair = frame.list %x, %place : (!frame.nullable<i64>, i64) -> !frame.list<i64>
      %one = frame.list %pair : (!frame.list<i64>) -> !frame.list<!frame.list<i64>>
      frame.yield %one : !frame.list<!frame.list<i64>>
    } : (!frame.nullable<!frame.list<i64>>) -> !frame.nullable<!frame.list<!frame.list<i64>>>
    frame.yield %m, %s, %t : !frame.nullable<!frame.list<i64>>, !frame.nullable<i64>, !frame.nullable<!frame.list<!frame.list<i64>>>
  } : !t -> !r
  return %p : !r
}
