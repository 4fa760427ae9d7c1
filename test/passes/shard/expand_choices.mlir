// A join whose right side is a guess is decided at run time: both ways in shard, form and schedule.
// Sources: passes/shard/run_time_choices.cpp, passes/shard/expand_choices.cpp, passes/form/choices.cpp
// RUN: headrace-opt %s --shard-solve="mesh=ranks:4 topology=ethernet-fast explain=text" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: headrace-opt %s --shard="mesh=ranks:4 topology=ethernet-fast" | FileCheck %s
// RUN: headrace-opt %s --shard="mesh=ranks:4 topology=ethernet-fast" --form | FileCheck %s --check-prefix=FORM
// RUN: headrace-opt %s --shard="mesh=ranks:4 topology=ethernet-fast" --form --schedule-tasks | FileCheck %s --check-prefix=SCHED
// RUN: headrace-opt %s --shard="mesh=ranks:4 topology=ethernet-fast seed=3" | FileCheck %s --check-prefix=FORCED

// WHY: frame.join inner: {{.*}}chosen at run time: broadcast right if it has at most {{[0-9]+}} rows ({{[0-9]+}} expected, p95 {{[0-9]+}}), else shuffle on k = j
// WHY-SAME: -> scattered over ranks

// FORCED-NOT: dist.choose

// CHECK: %[[LEFT:.*]] = frame.scan "big"
// CHECK: %[[RIGHT:.*]] = frame.filter
// CHECK: dist.choose %[[RIGHT]] at_most
// CHECK: %[[ALL:.*]] = dist.exchange broadcast %[[RIGHT]] over ["ranks"]
// CHECK: frame.join inner %[[LEFT]], %[[ALL]]
// CHECK: else
// CHECK-DAG: %[[L:.*]] = dist.exchange hash %[[LEFT]] keys ["k"]
// CHECK-DAG: %[[R:.*]] = dist.exchange hash %[[RIGHT]] keys ["j"]
// CHECK: frame.join inner %[[L]], %[[R]]

// The right side is filled once; each way has its own table and reads the left side's scan.
// FORM: pipe.state @rows0 rows
// FORM: pipe.insert {{.*}}, @rows0
// FORM: pipe.choice @choice0 by @rows0 at_most
// FORM: pipe.pipeline {{.*}} in @choice0 few
// FORM: pipe.lookup {{.*}} @build0
// FORM: pipe.pipeline {{.*}} in @choice0 many

// SCHED: %[[FILLED:.*]] = sched.run {{.*}} fills [@rows0]
// SCHED: sched.choose by %[[FILLED]] at_most
// SCHED: sched.exchange broadcast
// SCHED: sched.load for @scan_big
// SCHED: sched.yield
// SCHED: else
// SCHED: sched.exchange hash
// SCHED: sched.load for @scan_big
// SCHED: sched.exchange hash
// SCHED: sched.yield

!big = !frame.table<"k": i64>
!small = !frame.table<"j": i64, "d": !frame.date>
!both = !frame.table<"k": i64, "j": i64, "d": !frame.date>
!count = !frame.table<"n": i64>
func.func @main() -> !count {
  %big = frame.scan "big" ["k"] {statistics = {rows = 6000000 : i64, columns = {k = {min = 1 : i64, max = 1500000 : i64, distinct = 1500000 : i64}}}} : !big
  %small = frame.scan "small" ["j", "d"] {statistics = {rows = 1500000 : i64, columns = {j = {min = 1 : i64, max = 1500000 : i64, distinct = 1500000 : i64},
      d = {min = 8000 : i64, max = 10000 : i64}}}} : !small
  %some = frame.filter %small columns ["d"] {
  ^bb0(%day: !frame.date):
    %limit = frame.constant "1992-08-01" : !frame.date
    %p = frame.compare lt %day, %limit : (!frame.date, !frame.date) -> i1
    frame.yield %p : i1
  } : !small
  %both = frame.join inner %big, %some on ["k"] = ["j"] : !big, !small -> !both
  %n = frame.aggregate %both keys [] measures [#frame.measure<count_star -> "n">] : !both -> !count
  return %n : !count
}
