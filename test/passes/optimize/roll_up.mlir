// RUN: headrace-opt %s --optimize-roll-up --split-input-file | FileCheck %s

!t = !frame.table<"a": i64, "b": i64, "x": i64>
!ab = !frame.table<"a": i64, "b": i64, "s_ab": !frame.decimal<38, 0>, "n_ab": i64>
!a = !frame.table<"a": i64, "s_a": !frame.decimal<38, 0>, "n_a": i64>
!all = !frame.table<"s": !frame.nullable<!frame.decimal<38, 0>>, "n": i64>

// Each of the coarsest that has its keys; a count of no groups is 0. The reader of the coarse one stands in front.
// CHECK-LABEL: func.func @chain
// CHECK: %[[T:.*]] = frame.scan
// CHECK: %[[AB:.*]] = frame.aggregate %[[T]] keys ["a", "b"]
// CHECK: %[[A:.*]] = frame.aggregate %[[AB]] keys ["a"] measures [#frame.measure<sum("s_ab") -> "s_a">, #frame.measure<sum("n_ab") -> "n_a">]
// CHECK: %[[ALL:.*]] = frame.aggregate %[[A]] keys [] measures [#frame.measure<sum("s_a") -> "s">, #frame.measure<sum("n_a") -> "n">]
// CHECK: frame.project %[[ALL]] keep ["s"] compute ["n"]
// CHECK: frame.coalesce
func.func @chain() -> (!all, !a, !ab) {
  %t = frame.scan "t" ["a", "b", "x"] : !t
  %0 = frame.aggregate %t keys [] measures [#frame.measure<sum("x") -> "s">, #frame.measure<count_star -> "n">] : !t -> !all
  %1 = frame.aggregate %t keys ["a"] measures [#frame.measure<sum("x") -> "s_a">, #frame.measure<count_star -> "n_a">] : !t -> !a
  %2 = frame.aggregate %t keys ["a", "b"] measures [#frame.measure<sum("x") -> "s_ab">, #frame.measure<count_star -> "n_ab">] : !t -> !ab
  return %0, %1, %2 : !all, !a, !ab
}

// -----

!t = !frame.table<"a": i64, "b": i64, "x": i64>
!ab = !frame.table<"a": i64, "b": i64, "s_ab": !frame.decimal<38, 0>>
!a = !frame.table<"a": i64, "m": i64>

// The fine one has not what the coarse one asks for.
// CHECK-LABEL: func.func @others
// CHECK: %[[T:.*]] = frame.scan
// CHECK-DAG: frame.aggregate %[[T]] keys ["a", "b"]
// CHECK-DAG: frame.aggregate %[[T]] keys ["a"]
func.func @others() -> (!a, !ab) {
  %t = frame.scan "t" ["a", "b", "x"] : !t
  %1 = frame.aggregate %t keys ["a"] measures [#frame.measure<min("x") -> "m">] : !t -> !a
  %2 = frame.aggregate %t keys ["a", "b"] measures [#frame.measure<sum("x") -> "s_ab">] : !t -> !ab
  return %1, %2 : !a, !ab
}

// -----

!t = !frame.table<"a": i64, "b": i64, "x": i64>
!a = !frame.table<"a": i64, "m_a": i64>
!b = !frame.table<"b": i64, "m_b": i64>

// None has the keys of the other: by both there are few groups.
// CHECK-LABEL: func.func @common
// CHECK: %[[AB:.*]] = frame.aggregate %{{.*}} keys ["a", "b"] measures [#frame.measure<max("x") -> "m_a.fine">]
// CHECK: frame.aggregate %[[AB]] keys ["a"] measures [#frame.measure<max("m_a.fine") -> "m_a">]
// CHECK: frame.aggregate %[[AB]] keys ["b"] measures [#frame.measure<max("m_a.fine") -> "m_b">]
func.func @common() -> (!a, !b) {
  %t = frame.scan "t" ["a", "b", "x"] {statistics = {rows = 100000 : i64, columns = {
      a = {min = 1 : i64, max = 20 : i64}, b = {min = 1 : i64, max = 20 : i64}}}} : !t
  %1 = frame.aggregate %t keys ["a"] measures [#frame.measure<max("x") -> "m_a">] : !t -> !a
  %2 = frame.aggregate %t keys ["b"] measures [#frame.measure<max("x") -> "m_b">] : !t -> !b
  return %1, %2 : !a, !b
}

// -----

!t = !frame.table<"a": i64, "b": i64, "x": i64>
!a = !frame.table<"a": i64, "m_a": i64>
!b = !frame.table<"b": i64, "m_b": i64>

// By both there are as many groups as rows.
// CHECK-LABEL: func.func @many
// CHECK: %[[T:.*]] = frame.scan
// CHECK: frame.aggregate %[[T]] keys ["a"]
// CHECK: frame.aggregate %[[T]] keys ["b"]
func.func @many() -> (!a, !b) {
  %t = frame.scan "t" ["a", "b", "x"] {statistics = {rows = 100000 : i64, columns = {
      a = {min = 1 : i64, max = 2000 : i64}, b = {min = 1 : i64, max = 2000 : i64}}}} : !t
  %1 = frame.aggregate %t keys ["a"] measures [#frame.measure<max("x") -> "m_a">] : !t -> !a
  %2 = frame.aggregate %t keys ["b"] measures [#frame.measure<max("x") -> "m_b">] : !t -> !b
  return %1, %2 : !a, !b
}

// -----

!t = !frame.table<"a": i64, "b": i64, "x": i64>
!ab = !frame.table<"a": i64, "b": i64, "d_ab": i64>
!a = !frame.table<"a": i64, "d_a": i64>

// Different values of groups are those of finer groups.
// CHECK-LABEL: func.func @distinct
// CHECK: %[[ABX:.*]] = frame.aggregate %{{.*}} keys ["a", "b", "x"] measures []
// CHECK: %[[AX:.*]] = frame.aggregate %[[ABX]] keys ["a", "x"] measures []
// CHECK-DAG: frame.aggregate %[[AX]] keys ["a"] measures [#frame.measure<count("x") -> "d_a">]
// CHECK-DAG: frame.aggregate %[[ABX]] keys ["a", "b"] measures [#frame.measure<count("x") -> "d_ab">]
func.func @distinct() -> (!a, !ab) {
  %t = frame.scan "t" ["a", "b", "x"] : !t
  %1 = frame.aggregate %t keys ["a"] measures [#frame.measure<count_distinct("x") -> "d_a">] : !t -> !a
  %2 = frame.aggregate %t keys ["a", "b"] measures [#frame.measure<count_distinct("x") -> "d_ab">] : !t -> !ab
  return %1, %2 : !a, !ab
}
