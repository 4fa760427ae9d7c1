// Timestamps are 64-bit integers; a date's is computed without a check where its range is known. Else it may be infinite, which stays so. A raised error is one of the
// rows that reach it, and its message the place.
// RUN: headrace-opt %s --form | FileCheck %s

!t = !frame.table<"d": !frame.date, "e": !frame.date>
!r = !frame.table<"t": !frame.timestamp, "u": !frame.timestamp, "n": i64>
// CHECK: logical [!frame.timestamp, !frame.timestamp, i64]
func.func @main() -> !r {
  %t = frame.scan "t" ["d", "e"] {statistics = {rows = 10 : i64, columns = {d = {min = 0 : i64, max = 9000 : i64}}}} : !t
  // CHECK: ^bb0(%[[D:[a-z0-9]+]]: i32, %[[E:[a-z0-9]+]]: i32):
  // CHECK: %[[WIDE:.*]] = arith.extsi %[[D]] : i32 to i64
  // CHECK: arith.muli %[[WIDE]], %{{.*}} : i64
  // CHECK: %[[INFINITE:.*]] = arith.cmpi eq, %[[E]], %{{.*}} : i32
  // CHECK: %[[FINITE:.*]] = arith.select %[[INFINITE]], %{{.*}} : i32
  // CHECK: %[[WIDER:.*]] = arith.extsi %[[FINITE]] : i32 to i128
  // CHECK: arith.muli %[[WIDER]], %{{.*}} : i128
  // CHECK: arith.select %[[INFINITE]], %c9223372036854775807_i64, %{{.*}} : i64
  // CHECK: pipe.date_part month
  // CHECK: %[[LATER:.*]] = arith.cmpi sgt, %{{.*}}, %{{.*}} : i64
  // CHECK: pipe.fail_if %{{.*}}, overflow
  // CHECK: %[[ASKED:.*]] = arith.andi %{{.*}}, %[[LATER]] : i1
  // CHECK: pipe.fail_if %[[ASKED]], raised
  %p = frame.project %t keep [] compute ["t", "u", "n"] columns ["d", "e"] {
  ^bb0(%d: !frame.date, %e: !frame.date):
    %one = frame.constant 1 : i64
    %t0 = frame.cast %d : !frame.date -> !frame.timestamp
    %u0 = frame.cast %e : !frame.date -> !frame.timestamp
    %u1 = frame.shift_date %u0 months 1 days 0 microseconds 1 : !frame.timestamp
    %later = frame.compare gt %u1, %t0 : (!frame.timestamp, !frame.timestamp) -> i1
    %fail = frame.raise user "too late" : i64
    %n = frame.case when %later then %fail else %one : (i1), (i64), i64 -> i64
    frame.yield %t0, %u1, %n : !frame.timestamp, !frame.timestamp, i64
  } : !t -> !r
  return %p : !r
}
