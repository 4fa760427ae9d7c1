// What window functions mean: peers, NULL keys, frames of the three units, exclusions, NULLs that do not count.
// Sources: passes/interpreter/windows.cpp
// RUN: headrace-interpret %s | FileCheck %s --strict-whitespace --match-full-lines

//      CHECK:k,x,number,place,dense,percent,cume,half
// CHECK-NEXT:,5,1,1,1,0.0,1.0,1
// CHECK-NEXT:1,10,1,1,1,0.0,0.5,1
// CHECK-NEXT:1,10,2,1,1,0.0,0.5,1
// CHECK-NEXT:1,20,3,3,2,0.6666666666666666,0.75,2
// CHECK-NEXT:1,,4,4,3,1.0,1.0,2
// CHECK-EMPTY:
!t = !frame.table<"k": !frame.nullable<i64>, "x": !frame.nullable<i64>>
!r = !frame.table<"k": !frame.nullable<i64>, "x": !frame.nullable<i64>, "number": i64, "place": i64, "dense": i64, "percent": f64, "cume": f64, "half": i64>
func.func @ranks() -> !r {
  %v = frame.values [[1, 20], [1, null], [1, 10], [null, 5], [1, 10]] : !t
  %0 = frame.window %v partition ["k"] order [#frame.sort_key<"x" asc nulls_last>] functions [
    #frame.window_function<row_number -> "number">, #frame.window_function<rank -> "place">,
    #frame.window_function<dense_rank -> "dense">, #frame.window_function<percent_rank -> "percent">,
    #frame.window_function<cume_dist -> "cume">, #frame.window_function<ntile(2 : i64) -> "half">] : !t -> !r
  return %0 : !r
}

// -----

// A distance of NULL ends at the row's peers, and so does any distance of a NULL key.
//      CHECK:x,from,sum,rest
// CHECK-NEXT:1,0,1,3
// CHECK-NEXT:3,2,3,1
// CHECK-NEXT:4,,4,3
// CHECK-NEXT:,0,,4
// CHECK-EMPTY:
!t = !frame.table<"x": !frame.nullable<i64>, "from": !frame.nullable<i64>>
!r = !frame.table<"x": !frame.nullable<i64>, "from": !frame.nullable<i64>, "sum": !frame.nullable<i64>, "rest": !frame.nullable<i64>>
func.func @values_and_exclusion() -> !r {
  %v = frame.values [[3, 2], [null, 0], [4, null], [1, 0]] : !t
  %0 = frame.window %v partition [] order [#frame.sort_key<"x" asc nulls_last>] functions [
    #frame.window_function<aggregate sum("x") -> "sum" over <range preceding("from") to current_row>>,
    #frame.window_function<first_value("x") -> "rest" over <groups preceding(1 : i64) to following(2 : i64) exclude group> ignore_nulls>] : !t -> !r
  %1 = frame.filter %0 columns ["x"] {
  ^bb0(%x: !frame.nullable<i64>):
    %true = frame.constant true : i1
    frame.yield %true : i1
  } : !r
  return %1 : !r
}

// -----

//      CHECK:x,before,after,third
// CHECK-NEXT:1,,3,
// CHECK-NEXT:,1,5,
// CHECK-NEXT:3,1,,
// CHECK-NEXT:5,3,,3
// CHECK-EMPTY:
!t = !frame.table<"n": i64, "x": !frame.nullable<i64>>
!w = !frame.table<"n": i64, "x": !frame.nullable<i64>, "before": !frame.nullable<i64>, "after": !frame.nullable<i64>, "third": !frame.nullable<i64>>
!r = !frame.table<"x": !frame.nullable<i64>, "before": !frame.nullable<i64>, "after": !frame.nullable<i64>, "third": !frame.nullable<i64>>
func.func @neighbours() -> !r {
  %v = frame.values [[1, 1], [2, null], [3, 3], [4, 5]] : !t
  %0 = frame.window %v partition [] order [#frame.sort_key<"n" asc nulls_last>] functions [
    #frame.window_function<lag("x", 1 : i64) -> "before" ignore_nulls>, #frame.window_function<lead("x", 2 : i64) -> "after">,
    #frame.window_function<nth_value("x", 3 : i64) -> "third" over <rows unbounded_preceding to current_row exclude current_row>>] : !t -> !w
  %1 = frame.project %0 keep ["x", "before", "after", "third"] compute [] columns [] {
    frame.yield
  } : !w -> !r
  return %1 : !r
}
