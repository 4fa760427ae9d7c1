// Inner joins by estimate, the smaller side on the right; selective semi joins first.
// Sources: passes/optimize/join_graph.cpp, passes/optimize/join_search.cpp, passes/optimize/join_prices.cpp
// RUN: headrace-opt --optimize-join-order %s | FileCheck %s
// RUN: headrace-opt --optimize-join-order=relations-max=1 %s | FileCheck %s

!big = !frame.table<"b_mid": i64, "b_x": i64>
!mid = !frame.table<"m_key": i64, "m_small": i64>
!small = !frame.table<"s_key": i64, "s_name": !frame.string>

// From the text: (small x mid) x big. Cheapest: big probes (mid probes small).
// CHECK-LABEL: func.func @chain
// CHECK-DAG: %[[BIG:.*]] = frame.scan "big"
// CHECK-DAG: %[[MID:.*]] = frame.scan "mid"
// CHECK-DAG: %[[SMALL:.*]] = frame.scan "small"
// CHECK: %[[NAMED:.*]] = frame.filter %[[SMALL]]
// CHECK: %[[MS:.*]] = frame.join inner %[[MID]], %[[NAMED]] on ["m_small"] = ["s_key"]
// CHECK: %[[ALL:.*]] = frame.join inner %[[BIG]], %[[MS]] on ["b_mid"] = ["m_key"]
// CHECK: frame.filter %[[ALL]] columns ["b_x", "s_key"]
// CHECK: frame.project %{{.*}} keep ["s_key", "s_name", "m_key", "m_small", "b_mid", "b_x"]
func.func @chain() -> !frame.table<"s_key": i64, "s_name": !frame.string, "m_key": i64, "m_small": i64, "b_mid": i64, "b_x": i64> {
  %big = frame.scan "big" ["mid", "x"] {statistics = {rows = 1000000 : i64,
      columns = {mid = {distinct = 1000 : i64}}}} : !big
  %mid = frame.scan "mid" ["key", "small"] {statistics = {rows = 1000 : i64,
      columns = {key = {distinct = 1000 : i64}, small = {distinct = 10 : i64}}}} : !mid
  %small = frame.scan "small" ["key", "name"] {statistics = {rows = 10 : i64,
      columns = {key = {distinct = 10 : i64}, name = {distinct = 10 : i64}}}} : !small
  %named = frame.filter %small columns ["s_name"] {
  ^bb0(%n: !frame.string):
    %c = frame.constant "x" : !frame.string
    %p = frame.compare eq %n, %c : (!frame.string, !frame.string) -> i1
    frame.yield %p : i1
  } : !small
  %0 = frame.join inner %named, %mid on ["s_key"] = ["m_small"] : !small, !mid
      -> !frame.table<"s_key": i64, "s_name": !frame.string, "m_key": i64, "m_small": i64>
  %1 = frame.join inner %0, %big on ["m_key"] = ["b_mid"] residual ["b_x", "s_key"] {
  ^bb0(%x: i64, %k: i64):
    %p = frame.compare ne %x, %k : (i64, i64) -> i1
    frame.yield %p : i1
  } : !frame.table<"s_key": i64, "s_name": !frame.string, "m_key": i64, "m_small": i64>, !big
      -> !frame.table<"s_key": i64, "s_name": !frame.string, "m_key": i64, "m_small": i64, "b_mid": i64, "b_x": i64>
  return %1 : !frame.table<"s_key": i64, "s_name": !frame.string, "m_key": i64, "m_small": i64, "b_mid": i64, "b_x": i64>
}

// CHECK-LABEL: func.func @semi
// CHECK: %[[FEW:.*]] = frame.join semi %{{.*}}, %{{.*}} on ["m_key"] = ["r_key"]
// CHECK: frame.join inner %{{.*}}, %[[FEW]] on ["b_mid"] = ["m_key"]
// CHECK-NEXT: return
func.func @semi() -> !frame.table<"b_mid": i64, "b_x": i64, "m_key": i64, "m_small": i64> {
  %big = frame.scan "big" ["mid", "x"] {statistics = {rows = 1000000 : i64,
      columns = {mid = {distinct = 1000 : i64}}}} : !big
  %mid = frame.scan "mid" ["key", "small"] {statistics = {rows = 1000 : i64,
      columns = {key = {distinct = 1000 : i64}, small = {distinct = 10 : i64}}}} : !mid
  %few = frame.scan "few" ["key"] {statistics = {rows = 5 : i64, columns = {key = {distinct = 5 : i64}}}}
      : !frame.table<"r_key": i64>
  %0 = frame.join inner %big, %mid on ["b_mid"] = ["m_key"] : !big, !mid
      -> !frame.table<"b_mid": i64, "b_x": i64, "m_key": i64, "m_small": i64>
  %1 = frame.join semi %0, %few on ["m_key"] = ["r_key"]
      : !frame.table<"b_mid": i64, "b_x": i64, "m_key": i64, "m_small": i64>, !frame.table<"r_key": i64>
      -> !frame.table<"b_mid": i64, "b_x": i64, "m_key": i64, "m_small": i64>
  return %1 : !frame.table<"b_mid": i64, "b_x": i64, "m_key": i64, "m_small": i64>
}

// Both columns of one table equal the same column of the other.
// CHECK-LABEL: func.func @equal_within
// CHECK: %[[SAME:.*]] = frame.filter %{{.*}} columns ["m_key", "m_small"]
// CHECK: frame.compare eq %m_key, %m_small
// CHECK: frame.join inner %{{.*}}, %{{.*}} on [{{"r_key"|"m_key"}}] = [{{"r_key"|"m_key"}}]
func.func @equal_within() -> !frame.table<"m_key": i64, "m_small": i64, "r_key": i64> {
  %mid = frame.scan "mid" ["key", "small"] : !mid
  %few = frame.scan "few" ["key"] : !frame.table<"r_key": i64>
  %0 = frame.join inner %mid, %few on ["m_key", "m_small"] = ["r_key", "r_key"]
      : !mid, !frame.table<"r_key": i64> -> !frame.table<"m_key": i64, "m_small": i64, "r_key": i64>
  return %0 : !frame.table<"m_key": i64, "m_small": i64, "r_key": i64>
}
