// What the joins of subqueries mean: membership in three-valued logic, NULL-safe keys, single rows.
// RUN: headrace-interpret %s | FileCheck %s --strict-whitespace --match-full-lines

// x IN (1, NULL): true, NULL, NULL. x IN (1): true, false, NULL. x IN (): false.
//      CHECK:a,m
// CHECK-NEXT:1,true
// CHECK-NEXT:2,
// CHECK-NEXT:,
// CHECK-EMPTY:
//      CHECK:a,m
// CHECK-NEXT:1,true
// CHECK-NEXT:2,false
// CHECK-NEXT:,
// CHECK-EMPTY:
//      CHECK:a,m
// CHECK-NEXT:1,false
// CHECK-NEXT:2,false
// CHECK-NEXT:,false
// CHECK-EMPTY:
!l = !frame.table<"a": !frame.nullable<i64>>
!r = !frame.table<"b": !frame.nullable<i64>>
!m = !frame.table<"a": !frame.nullable<i64>, "m": !frame.nullable<i1>>
func.func @mark() -> (!m, !m, !m) {
  %l = frame.values [[1], [2], [null]] : !l
  %null = frame.values [[1], [null]] : !r
  %one = frame.values [[1]] : !r
  %none = frame.values [] : !r
  %0 = frame.join mark %l, %null null_aware on ["a"] = ["b"] : !l, !r -> !m
  %1 = frame.join mark %l, %one null_aware on ["a"] = ["b"] : !l, !r -> !m
  %2 = frame.join mark %l, %none null_aware on ["a"] = ["b"] : !l, !r -> !m
  return %0, %1, %2 : !m, !m, !m
}

// -----

// Only the right rows of the same k count, NULL among them. NOT IN keeps what is false.
//      CHECK:k,a,m
// CHECK-NEXT:1,1,
// CHECK-NEXT:2,2,false
// CHECK-NEXT:3,,false
// CHECK-NEXT:,7,true
// CHECK-NEXT:,,
// CHECK-EMPTY:
//      CHECK:k,a
// CHECK-NEXT:2,2
// CHECK-NEXT:3,
// CHECK-EMPTY:
!l = !frame.table<"k": !frame.nullable<i64>, "a": !frame.nullable<i64>>
!r = !frame.table<"j": !frame.nullable<i64>, "b": !frame.nullable<i64>>
!m = !frame.table<"k": !frame.nullable<i64>, "a": !frame.nullable<i64>, "m": !frame.nullable<i1>>
func.func @correlated() -> (!m, !l) {
  %l = frame.values [[1, 1], [2, 2], [3, null], [null, 7], [null, null]] : !l
  %r = frame.values [[1, null], [2, 3], [null, 7]] : !r
  %0 = frame.join mark %l, %r null_aware on ["k", "a"] = ["j", "b"] null_safe [true, false] : !l, !r -> !m
  %1 = frame.join anti %l, %r null_aware on ["k", "a"] = ["j", "b"] null_safe [true, false] : !l, !r -> !l
  return %0, %1 : !m, !l
}

// -----

// a <> ANY (1, NULL) is NULL for 1, true for 2. With a key and a residual, (1, NULL) IN ((2, 3)) is false, IN ((1, 3)) NULL.
//      CHECK:a,m
// CHECK-NEXT:1,
// CHECK-NEXT:2,true
// CHECK-EMPTY:
//      CHECK:a,c,m
// CHECK-NEXT:1,,
// CHECK-NEXT:2,,false
// CHECK-NEXT:3,3,true
// CHECK-EMPTY:
!a = !frame.table<"a": i64>
!b = !frame.table<"b": !frame.nullable<i64>>
!am = !frame.table<"a": i64, "m": !frame.nullable<i1>>
!ac = !frame.table<"a": i64, "c": !frame.nullable<i64>>
!bd = !frame.table<"b": i64, "d": i64>
!acm = !frame.table<"a": i64, "c": !frame.nullable<i64>, "m": !frame.nullable<i1>>
func.func @residual() -> (!am, !acm) {
  %a = frame.values [[1], [2]] : !a
  %b = frame.values [[1], [null]] : !b
  %0 = frame.join mark %a, %b null_aware on [] = [] residual ["a", "b"] {
  ^bb0(%x: i64, %y: !frame.nullable<i64>):
    %p = frame.compare ne %x, %y : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !a, !b -> !am
  %ac = frame.values [[1, null], [2, null], [3, 3]] : !ac
  %bd = frame.values [[1, 3], [3, 3]] : !bd
  %1 = frame.join mark %ac, %bd null_aware on ["a"] = ["b"] residual ["c", "d"] {
  ^bb0(%x: !frame.nullable<i64>, %y: i64):
    %p = frame.compare eq %x, %y : (!frame.nullable<i64>, i64) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !ac, !bd -> !acm
  return %0, %1 : !am, !acm
}

// -----

// NULL meets NULL where a key is null_safe, and only there.
//      CHECK:a,b
// CHECK-NEXT:1,1
// CHECK-NEXT:,
// CHECK-EMPTY:
//      CHECK:a,b
// CHECK-NEXT:1,1
// CHECK-EMPTY:
!l = !frame.table<"a": !frame.nullable<i64>>
!r = !frame.table<"b": !frame.nullable<i64>>
!j = !frame.table<"a": !frame.nullable<i64>, "b": !frame.nullable<i64>>
func.func @null_safe() -> (!j, !j) {
  %l = frame.values [[1], [null], [3]] : !l
  %r = frame.values [[1], [null]] : !r
  %0 = frame.join inner %l, %r on ["a"] = ["b"] null_safe [true] : !l, !r -> !j
  %1 = frame.join inner %l, %r on ["a"] = ["b"] : !l, !r -> !j
  return %0, %1 : !j, !j
}

// -----

// A single join is a left join while every left row has one match at most.
//      CHECK:a,b,c
// CHECK-NEXT:1,1,10
// CHECK-NEXT:2,,
// CHECK-EMPTY:
!a = !frame.table<"a": i64>
!b = !frame.table<"b": i64, "c": i64>
!s = !frame.table<"a": i64, "b": !frame.nullable<i64>, "c": !frame.nullable<i64>>
func.func @single() -> !s {
  %a = frame.values [[1], [2]] : !a
  %b = frame.values [[1, 10], [3, 11], [3, 12]] : !b
  %0 = frame.join single %a, %b on ["a"] = ["b"] : !a, !b -> !s
  return %0 : !s
}

// -----

// Sums of integers have room, averages of decimals are doubles.
//      CHECK:s,m,n
// CHECK-NEXT:18446744073709551614,0.15,9.223372036854776e+18
// CHECK-EMPTY:
!t = !frame.table<"i": i64, "d": !frame.decimal<5, 2>>
!r = !frame.table<"s": !frame.nullable<!frame.decimal<38, 0>>, "m": !frame.nullable<f64>, "n": !frame.nullable<f64>>
func.func @wide_measures() -> !r {
  %v = frame.values [[9223372036854775807, 10], [9223372036854775807, 20]] : !t
  %0 = frame.aggregate %v keys [] measures [#frame.measure<sum("i") -> "s">, #frame.measure<avg("d") -> "m">,
      #frame.measure<avg("i") -> "n">] : !t -> !r
  return %0 : !r
}

// -----

// Timestamps: casts, moves by months, days and parts of a day, order.
//      CHECK:t,d,moved,back,later,text,parsed
// CHECK-NEXT:1960-01-31 00:00:00,1960-01-31,1960-03-01 02:00:00.5,1960-03-01,true,"1960-03-01 02:00:00.5",1960-03-01 02:00:00.5
// CHECK-EMPTY:
!t = !frame.table<"d": !frame.date>
!r = !frame.table<"t": !frame.timestamp, "d": !frame.date, "moved": !frame.timestamp, "back": !frame.date, "later": i1,
  "text": !frame.string, "parsed": !frame.timestamp>
func.func @timestamps() -> !r {
  %v = frame.values [["1960-01-31"]] : !t
  %0 = frame.project %v keep ["d"] compute ["t", "moved", "back", "later", "text", "parsed"] columns ["d"] {
  ^bb0(%d: !frame.date):
    %t = frame.cast %d : !frame.date -> !frame.timestamp
    %moved = frame.shift_date %t months 1 days 1 microseconds 7200500000 : !frame.timestamp
    %back = frame.cast %moved : !frame.timestamp -> !frame.date
    %moment = frame.constant "1960-03-01 02:00:00.499999" : !frame.timestamp
    %later = frame.compare gt %moved, %moment : (!frame.timestamp, !frame.timestamp) -> i1
    %text = frame.cast %moved : !frame.timestamp -> !frame.string
    %parsed = frame.cast %text : !frame.string -> !frame.timestamp
    frame.yield %t, %moved, %back, %later, %text, %parsed : !frame.timestamp, !frame.timestamp, !frame.date, i1, !frame.string, !frame.timestamp
  } : !t -> !r
  return %0 : !r
}

// -----

// What is infinite stays so, whatever is added and in which unit.
//      CHECK:s,t,moved,back,text
// CHECK-NEXT:infinity,infinity,infinity,infinity,"infinity"
// CHECK-NEXT:-infinity,-infinity,-infinity,-infinity,"-infinity"
// CHECK-NEXT:1960-01-31 00:00:00,1960-01-31 00:00:00,1960-02-29 00:00:00,1960-02-29,"1960-02-29"
// CHECK-EMPTY:
!t = !frame.table<"d": !frame.date>
!r = !frame.table<"s": !frame.timestamp<s>, "t": !frame.timestamp, "moved": !frame.timestamp, "back": !frame.date, "text": !frame.string>
func.func @infinite() -> !r {
  %v = frame.values [["infinity"], ["-infinity"], ["1960-01-31"]] : !t
  %0 = frame.project %v keep [] compute ["s", "t", "moved", "back", "text"] columns ["d"] {
  ^bb0(%d: !frame.date):
    %s = frame.cast %d : !frame.date -> !frame.timestamp<s>
    %t = frame.cast %s : !frame.timestamp<s> -> !frame.timestamp
    %moved = frame.shift_date %t months 1 days 0 microseconds 0 : !frame.timestamp
    %back = frame.cast %moved : !frame.timestamp -> !frame.date
    %text = frame.cast %back : !frame.date -> !frame.string
    frame.yield %s, %t, %moved, %back, %text : !frame.timestamp<s>, !frame.timestamp, !frame.timestamp, !frame.date, !frame.string
  } : !t -> !r
  return %0 : !r
}

// -----

// Casts to integers: a decimal away from zero, a double to the even one.
//      CHECK:i,j
// CHECK-NEXT:1,0
// CHECK-NEXT:3,2
// CHECK-NEXT:-2,-2
// CHECK-EMPTY:
!t = !frame.table<"d": !frame.decimal<3, 1>, "x": f64>
!r = !frame.table<"i": i32, "j": i32>
func.func @casts_round() -> !r {
  %v = frame.values [[5, 0.5], [25, 2.5], [-15, -1.5]] : !t
  %0 = frame.project %v keep [] compute ["i", "j"] columns ["d", "x"] {
  ^bb0(%d: !frame.decimal<3, 1>, %x: f64):
    %i = frame.cast %d : !frame.decimal<3, 1> -> i32
    %j = frame.cast %x : f64 -> i32
    frame.yield %i, %j : i32, i32
  } : !t -> !r
  return %0 : !r
}
