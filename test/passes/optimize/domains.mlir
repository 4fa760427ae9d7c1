// A semi join with the distinct outer values goes where the join above asks for the same values.
// RUN: headrace-opt --optimize-domains %s | FileCheck %s

!o = !frame.table<"k": !frame.nullable<i64>, "x": f64>
!i = !frame.table<"j": !frame.nullable<i64>, "y": f64>
!g = !frame.table<"j": !frame.nullable<i64>, "mean": f64>
!d = !frame.table<"k_1": !frame.nullable<i64>>
!r = !frame.table<"k": !frame.nullable<i64>, "x": f64, "twice": f64, "j": !frame.nullable<i64>>

// NULL found no partner in the semi join: it must not find one above.
// CHECK-LABEL: @scalar
// CHECK-NOT: frame.join semi
// CHECK: %[[SOME:.*]] = frame.filter %arg1 columns ["j"]
// CHECK: frame.is_null
// CHECK: %[[G:.*]] = frame.aggregate %[[SOME]] keys ["j"]
// CHECK: %[[P:.*]] = frame.project %[[G]]
// CHECK: frame.join inner %arg0, %[[P]] on ["k"] = ["j"] null_safe [true]
func.func @scalar(%o: !o, %i: !i) -> !r {
  %keys = frame.aggregate %o keys ["k"] measures [] : !o -> !frame.table<"k": !frame.nullable<i64>>
  %domain = frame.rename %keys : !frame.table<"k": !frame.nullable<i64>> -> !d
  %asked = frame.join semi %i, %domain on ["j"] = ["k_1"] : !i, !d -> !i
  %groups = frame.aggregate %asked keys ["j"] measures [#frame.measure<avg("y") -> "mean">] : !i -> !g
  %twice = frame.project %groups keep ["j"] compute ["twice"] columns ["mean"] {
  ^bb0(%mean: f64):
    %sum = frame.add %mean, %mean : (f64, f64) -> f64
    frame.yield %sum : f64
  } : !g -> !frame.table<"twice": f64, "j": !frame.nullable<i64>>
  %0 = frame.join inner %o, %twice on ["k"] = ["j"] null_safe [true]
      : !o, !frame.table<"twice": f64, "j": !frame.nullable<i64>> -> !r
  return %0 : !r
}

// The outer rows may be filtered on their way up.
// CHECK-LABEL: @exists
// CHECK-NOT: frame.join semi
// CHECK: frame.join mark
func.func @exists(%o: !frame.table<"k": i64>, %i: !frame.table<"j": i64>) -> !frame.table<"k": i64, "m": i1> {
  %keys = frame.aggregate %o keys ["k"] measures [] : !frame.table<"k": i64> -> !frame.table<"k": i64>
  %asked = frame.join semi %i, %keys on ["j"] = ["k"] : !frame.table<"j": i64>, !frame.table<"k": i64> -> !frame.table<"j": i64>
  %some = frame.filter %o columns ["k"] {
  ^bb0(%k: i64):
    %zero = frame.constant 0 : i64
    %p = frame.compare gt %k, %zero : (i64, i64) -> i1
    frame.yield %p : i1
  } : !frame.table<"k": i64>
  %0 = frame.join mark %some, %asked on ["k"] = ["j"]
      : !frame.table<"k": i64>, !frame.table<"j": i64> -> !frame.table<"k": i64, "m": i1>
  return %0 : !frame.table<"k": i64, "m": i1>
}

// What is computed for rows that nobody asks for may fail.
// CHECK-LABEL: @may_fail
// CHECK: frame.join semi
func.func @may_fail(%o: !frame.table<"k": i64>, %i: !frame.table<"j": i64>) -> !frame.table<"k": i64, "j": i64, "twice": i64> {
  %keys = frame.aggregate %o keys ["k"] measures [] : !frame.table<"k": i64> -> !frame.table<"k": i64>
  %asked = frame.join semi %i, %keys on ["j"] = ["k"] : !frame.table<"j": i64>, !frame.table<"k": i64> -> !frame.table<"j": i64>
  %twice = frame.project %asked keep ["j"] compute ["twice"] columns ["j"] {
  ^bb0(%j: i64):
    %sum = frame.add %j, %j : (i64, i64) -> i64
    frame.yield %sum : i64
  } : !frame.table<"j": i64> -> !frame.table<"j": i64, "twice": i64>
  %0 = frame.join inner %o, %twice on ["k"] = ["j"]
      : !frame.table<"k": i64>, !frame.table<"j": i64, "twice": i64> -> !frame.table<"k": i64, "j": i64, "twice": i64>
  return %0 : !frame.table<"k": i64, "j": i64, "twice": i64>
}

// Not if that is NULL where it fails.
// CHECK-LABEL: @tried
// CHECK-NOT: frame.join semi
// CHECK: return
func.func @tried(%o: !frame.table<"k": i64>, %i: !frame.table<"j": i64>) -> !frame.table<"k": i64, "j": i64, "twice": !frame.nullable<i64>> {
  %keys = frame.aggregate %o keys ["k"] measures [] : !frame.table<"k": i64> -> !frame.table<"k": i64>
  %asked = frame.join semi %i, %keys on ["j"] = ["k"] : !frame.table<"j": i64>, !frame.table<"k": i64> -> !frame.table<"j": i64>
  %twice = frame.project %asked keep ["j"] compute ["twice"] columns ["j"] {
  ^bb0(%j: i64):
    %sum = frame.try captures(%j) {
    ^bb0(%x: i64):
      %more = frame.add %x, %x : (i64, i64) -> i64
      frame.yield %more : i64
    } : (i64) -> !frame.nullable<i64>
    frame.yield %sum : !frame.nullable<i64>
  } : !frame.table<"j": i64> -> !frame.table<"j": i64, "twice": !frame.nullable<i64>>
  %0 = frame.join inner %o, %twice on ["k"] = ["j"]
      : !frame.table<"k": i64>, !frame.table<"j": i64, "twice": !frame.nullable<i64>> -> !frame.table<"k": i64, "j": i64, "twice": !frame.nullable<i64>>
  return %0 : !frame.table<"k": i64, "j": i64, "twice": !frame.nullable<i64>>
}

// Another table asks, and for other values.
// CHECK-LABEL: @other_table
// CHECK: frame.join semi
func.func @other_table(%o: !frame.table<"k": i64>, %i: !frame.table<"j": i64>, %p: !frame.table<"q": i64>)
    -> !frame.table<"q": i64, "j": i64> {
  %keys = frame.aggregate %o keys ["k"] measures [] : !frame.table<"k": i64> -> !frame.table<"k": i64>
  %asked = frame.join semi %i, %keys on ["j"] = ["k"] : !frame.table<"j": i64>, !frame.table<"k": i64> -> !frame.table<"j": i64>
  %0 = frame.join inner %p, %asked on ["q"] = ["j"]
      : !frame.table<"q": i64>, !frame.table<"j": i64> -> !frame.table<"q": i64, "j": i64>
  return %0 : !frame.table<"q": i64, "j": i64>
}

// Counts of all groups together are not those of the groups asked for.
// CHECK-LABEL: @not_by_key
// CHECK: frame.join semi
func.func @not_by_key(%o: !frame.table<"k": i64>, %i: !frame.table<"j": i64>) -> !frame.table<"k": i64, "n": i64> {
  %keys = frame.aggregate %o keys ["k"] measures [] : !frame.table<"k": i64> -> !frame.table<"k": i64>
  %asked = frame.join semi %i, %keys on ["j"] = ["k"] : !frame.table<"j": i64>, !frame.table<"k": i64> -> !frame.table<"j": i64>
  %count = frame.aggregate %asked keys [] measures [#frame.measure<count_star -> "n">] : !frame.table<"j": i64> -> !frame.table<"n": i64>
  %0 = frame.join inner %o, %count on ["k"] = ["n"]
      : !frame.table<"k": i64>, !frame.table<"n": i64> -> !frame.table<"k": i64, "n": i64>
  return %0 : !frame.table<"k": i64, "n": i64>
}
