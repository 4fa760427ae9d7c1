// What the relational ops mean, NULLs and duplicates included. Results are printed as CSV, an empty cell is NULL.
// Sources: passes/interpreter/aggregates.cpp, passes/interpreter/compare.cpp, passes/interpreter/row_expressions.cpp,
//   passes/interpreter/joins.cpp, passes/interpreter/value.cpp
// RUN: headrace-interpret %s | FileCheck %s --strict-whitespace --match-full-lines

//      CHECK:a,b
// CHECK-NEXT:3,1
// CHECK-EMPTY:
!t = !frame.table<"a": i64, "b": !frame.nullable<i64>>
func.func @filter_drops_null() -> !t {
  %v = frame.values [[1, 2], [2, null], [3, 1]] : !t
  %0 = frame.filter %v columns ["a", "b"] {
  ^bb0(%a: i64, %b: !frame.nullable<i64>):
    %p = frame.compare gt %a, %b : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !t
  return %0 : !t
}

// -----

//      CHECK:q,a
// CHECK-NEXT:-3.33,-10.00
// CHECK-NEXT:,
// CHECK-EMPTY:
!t = !frame.table<"a": !frame.nullable<!frame.decimal<6, 2>>>
!r = !frame.table<"q": !frame.nullable<!frame.decimal<8, 2>>, "a": !frame.nullable<!frame.decimal<6, 2>>>
func.func @division_of_decimals_truncates() -> !r {
  %v = frame.values [[-1000], [null]] : !t
  %0 = frame.project %v keep ["a"] compute ["q"] columns ["a"] {
  ^bb0(%a: !frame.nullable<!frame.decimal<6, 2>>):
    %three = frame.constant 3 : !frame.decimal<1, 0>
    %q = frame.divide %a, %three : (!frame.nullable<!frame.decimal<6, 2>>, !frame.decimal<1, 0>) -> !frame.nullable<!frame.decimal<8, 2>>
    frame.yield %q : !frame.nullable<!frame.decimal<8, 2>>
  } : !t -> !r
  return %0 : !r
}

// -----

// A branch that is not taken does not fail.
//      CHECK:q
// CHECK-NEXT:0
// CHECK-NEXT:5
// CHECK-EMPTY:
!t = !frame.table<"a": i64>
!r = !frame.table<"q": i64>
func.func @case_by_demand() -> !r {
  %v = frame.values [[0], [2]] : !t
  %0 = frame.project %v keep [] compute ["q"] columns ["a"] {
  ^bb0(%a: i64):
    %zero = frame.constant 0 : i64
    %ten = frame.constant 10 : i64
    %is = frame.compare eq %a, %zero : (i64, i64) -> i1
    %q = frame.divide %ten, %a : (i64, i64) -> i64
    %r = frame.case when %is then %zero else %q : (i1), (i64), i64 -> i64
    frame.yield %r : i64
  } : !t -> !r
  return %0 : !r
}

// -----

// NULL keys match nothing; both sides keep their rows.
//      CHECK:a,b
// CHECK-NEXT:1,1
// CHECK-NEXT:1,1
// CHECK-NEXT:2,
// CHECK-NEXT:,
// CHECK-NEXT:,3
// CHECK-NEXT:,
// CHECK-EMPTY:
!l = !frame.table<"a": !frame.nullable<i64>>
!r = !frame.table<"b": !frame.nullable<i64>>
!lr = !frame.table<"a": !frame.nullable<i64>, "b": !frame.nullable<i64>>
func.func @full_join() -> !lr {
  %l = frame.values [[1], [2], [null]] : !l
  %r = frame.values [[1], [1], [3], [null]] : !r
  %0 = frame.join full %l, %r on ["a"] = ["b"] : !l, !r -> !lr
  return %0 : !lr
}

// -----

// NOT IN a list with NULL is never true; NOT IN an empty list always.
//      CHECK:a
// CHECK-EMPTY:
//      CHECK:a
// CHECK-NEXT:2
// CHECK-EMPTY:
//      CHECK:a
// CHECK-NEXT:1
// CHECK-NEXT:2
// CHECK-EMPTY:
// CHECK-EMPTY:
!l = !frame.table<"a": !frame.nullable<i64>>
!r = !frame.table<"b": !frame.nullable<i64>>
func.func @not_in() -> (!l, !l, !l) {
  %l = frame.values [[1], [2], [null]] : !l
  %null = frame.values [[1], [null]] : !r
  %one = frame.values [[1]] : !r
  %none = frame.values [] : !r
  %0 = frame.join anti %l, %null null_aware on ["a"] = ["b"] : !l, !r -> !l
  %1 = frame.join anti %l, %one null_aware on ["a"] = ["b"] : !l, !r -> !l
  %2 = frame.join anti %l, %none null_aware on ["a"] = ["b"] : !l, !r -> !l
  return %0, %1, %2 : !l, !l, !l
}

// -----

// NULL keys are one group; the average is truncated.
//      CHECK:k,s,n,stars,low,mean,values
// CHECK-NEXT:,3.00,2,2,1.00,1.500000,2
// CHECK-NEXT:"x",10.00,3,4,2.00,3.333333,2
// CHECK-EMPTY:
!t = !frame.table<"k": !frame.nullable<!frame.string>, "v": !frame.nullable<!frame.decimal<5, 2>>>
!r = !frame.table<"k": !frame.nullable<!frame.string>, "s": !frame.nullable<!frame.decimal<15, 2>>, "n": i64, "stars": i64,
  "low": !frame.nullable<!frame.decimal<5, 2>>, "mean": !frame.nullable<!frame.decimal<9, 6>>, "values": i64>
func.func @aggregate() -> !r {
  %v = frame.values [["x", 200], [null, 100], ["x", 400], [null, 200], ["x", null], ["x", 400]] : !t
  %0 = frame.aggregate %v keys ["k"] measures [#frame.measure<sum("v") -> "s">, #frame.measure<count("v") -> "n">,
      #frame.measure<count_star -> "stars">, #frame.measure<min("v") -> "low">, #frame.measure<avg("v") -> "mean">,
      #frame.measure<count_distinct("v") -> "values">] : !t -> !r
  return %0 : !r
}

// -----

// Without keys there is a row, also for no input.
//      CHECK:s,n
// CHECK-NEXT:,0
// CHECK-EMPTY:
!t = !frame.table<"v": i64>
!r = !frame.table<"s": !frame.nullable<i64>, "n": i64>
func.func @aggregate_of_nothing() -> !r {
  %v = frame.values [] : !t
  %0 = frame.aggregate %v keys [] measures [#frame.measure<sum("v") -> "s">, #frame.measure<count_star -> "n">] : !t -> !r
  return %0 : !r
}

// -----

//      CHECK:a,b
// CHECK-NEXT:3,
// CHECK-NEXT:1,"x ""quoted"""
// CHECK-EMPTY:
!t = !frame.table<"a": i64, "b": !frame.nullable<!frame.string>>
func.func @topk() -> !t {
  %v = frame.values [[1, "x \"quoted\""], [2, "y"], [3, null], [2, "y"]] : !t
  %0 = frame.distinct %v : !t
  %1 = frame.topk %0 by [#frame.sort_key<"b" desc nulls_last>] offset 1 count 7 : !t
  %2 = frame.sort %1 by [#frame.sort_key<"a" desc nulls_first>] : !t
  return %2 : !t
}

// -----

//      CHECK:a
// CHECK-NEXT:2
// CHECK-EMPTY:
!t = !frame.table<"a": i64>
func.func @scalar_subquery() -> !t {
  %v = frame.values [[1], [2]] : !t
  %one = frame.values [[1]] : !t
  %max = frame.scalar_subquery %one : !t -> !frame.nullable<i64>
  %0 = frame.filter %v columns ["a"] {
  ^bb0(%a: i64):
    %p = frame.compare gt %a, %max : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !t
  return %0 : !t
}
