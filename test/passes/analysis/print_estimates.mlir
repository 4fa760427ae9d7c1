// Rows and ranges from statistics through every kind of op.
// Sources: passes/analysis/cardinality.cpp, passes/analysis/selectivity.cpp, passes/analysis/ranges.cpp,
//   passes/analysis/expression_ranges.cpp, passes/analysis/scan_statistics.cpp, passes/analysis/print_estimates.cpp
// RUN: headrace-opt --analysis-print-estimates %s -o /dev/null | FileCheck %s

!item = !frame.table<"i_order": i64, "i_price": !frame.decimal<15, 2>, "i_day": !frame.date>
!order = !frame.table<"o_key": i64, "o_day": !frame.date>
func.func @main() {
  // CHECK: frame.scan rows 1000 1000 1000 1000
  // CHECK-NEXT: i_order distinct 250 in [1, 1000]
  // CHECK-NEXT: i_price distinct 1000 in [100, 99900]
  // CHECK-NEXT: i_day distinct 100 in [8000, 8099]
  %items = frame.scan "item" ["i_order", "i_price", "i_day"] {statistics = {rows = 1000 : i64, columns = {
      i_order = {min = 1 : i64, max = 1000 : i64, distinct = 250 : i64},
      i_price = {min = 100 : i64, max = 99900 : i64},
      i_day = {min = 8000 : i64, max = 8099 : i64, distinct = 100 : i64}}}} : !item
  %orders = frame.scan "order" ["o_key", "o_day"] {statistics = {rows = 250 : i64, columns = {
      o_key = {min = 1 : i64, max = 900 : i64, distinct = 250 : i64}}}} : !order
  // Two bounds on one column are one interval, and narrow its range.
  // CHECK: frame.filter rows 0 100 130 1000
  // CHECK: i_day distinct 10 in [8010, 8019]
  %some = frame.filter %items columns ["i_day"] {
  ^bb0(%day: !frame.date):
    %from = frame.constant 8010 : !frame.date
    %to = frame.constant 8020 : !frame.date
    %a = frame.compare ge %day, %from : (!frame.date, !frame.date) -> i1
    %b = frame.compare lt %day, %to : (!frame.date, !frame.date) -> i1
    %p = frame.and %a, %b : (i1, i1) -> i1
    frame.yield %p : i1
  } : !item
  // A foreign key: as many rows as the referring side. The keys have values of both sides.
  // CHECK: frame.join rows 0 100 195 250000
  // CHECK-NEXT: i_order {{.*}} in [1, 900]
  // CHECK: o_key {{.*}} in [1, 900]
  %join = frame.join inner %some, %orders on ["i_order"] = ["o_key"] : !item, !order
      -> !frame.table<"i_order": i64, "i_price": !frame.decimal<15, 2>, "i_day": !frame.date,
                      "o_key": i64, "o_day": !frame.date>
  // Ranges of expressions: 1 - price, its square, the year.
  // CHECK: frame.project
  // CHECK: less distinct {{.*}} in [-99800, 0]
  // CHECK: square distinct {{.*}} in [0, 9960040000]
  // CHECK: year distinct {{.*}} in [1991, 1991]
  %project = frame.project %join keep ["o_key"] compute ["less", "square", "year"] columns ["i_price", "i_day"] {
  ^bb0(%price: !frame.decimal<15, 2>, %day: !frame.date):
    %one = frame.constant 1 : !frame.decimal<3, 0>
    %less = frame.subtract %one, %price : (!frame.decimal<3, 0>, !frame.decimal<15, 2>) -> !frame.decimal<16, 2>
    %square = frame.multiply %less, %less : (!frame.decimal<16, 2>, !frame.decimal<16, 2>) -> !frame.decimal<33, 4>
    %year = frame.extract year %day : (!frame.date) -> i32
    frame.yield %less, %square, %year : !frame.decimal<16, 2>, !frame.decimal<33, 4>, i32
  } : !frame.table<"i_order": i64, "i_price": !frame.decimal<15, 2>, "i_day": !frame.date,
                   "o_key": i64, "o_day": !frame.date>
    -> !frame.table<"o_key": i64, "less": !frame.decimal<16, 2>, "square": !frame.decimal<33, 4>, "year": i32>
  // A group has at most all rows; a sum at most their number times the largest value.
  // CHECK: frame.aggregate rows 0 {{.*}} 250000
  // CHECK: total distinct {{.*}} in [-24950000000, 0]
  // CHECK: n distinct {{.*}} in [0, 250000]
  %sums = frame.aggregate %project keys ["o_key"]
      measures [#frame.measure<sum("less") -> "total">, #frame.measure<count_star -> "n">]
      : !frame.table<"o_key": i64, "less": !frame.decimal<16, 2>, "square": !frame.decimal<33, 4>, "year": i32>
      -> !frame.table<"o_key": i64, "total": !frame.decimal<26, 2>, "n": i64>
  // Joined to what is unique by its key, no row is repeated.
  // CHECK: frame.join rows 0 {{[0-9]+ [0-9]+}} 1000
  %again = frame.join inner %items, %sums on ["i_order"] = ["o_key"]
      : !item, !frame.table<"o_key": i64, "total": !frame.decimal<26, 2>, "n": i64>
      -> !frame.table<"i_order": i64, "i_price": !frame.decimal<15, 2>, "i_day": !frame.date,
                      "o_key": i64, "total": !frame.decimal<26, 2>, "n": i64>
  // CHECK: frame.join rows 0 {{[0-9]+ [0-9]+}} 250
  %semi = frame.join semi %orders, %some on ["o_key"] = ["i_order"] : !order, !item -> !order
  // CHECK: frame.limit rows 0 10 10 10
  %limit = frame.limit %semi count 10 : !order
  // Of products an estimate has a bound.
  %a = frame.scan "a" ["x"] {statistics = {rows = 1000000000000 : i64}} : !frame.table<"x": i64>
  %b = frame.scan "b" ["y"] {statistics = {rows = 1000000000000 : i64}} : !frame.table<"y": i64>
  // CHECK: frame.join rows 1000000000000000000 1000000000000000000 1000000000000000000
  %product = frame.join inner %a, %b on [] = [] : !frame.table<"x": i64>, !frame.table<"y": i64>
      -> !frame.table<"x": i64, "y": i64>
  // CHECK: frame.union rows 1000000000000000000 1000000000000000000 1000000000000000000
  %products = frame.union %product, %product : !frame.table<"x": i64, "y": i64>,
      !frame.table<"x": i64, "y": i64> -> !frame.table<"x": i64, "y": i64>
  return
}
