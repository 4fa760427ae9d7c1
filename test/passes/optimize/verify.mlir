// What shard may rely on is refused where it does not hold.
// Sources: passes/optimize/verify_optimize.cpp
// RUN: headrace-opt %s --verify-optimize --split-input-file --verify-diagnostics

!t = !frame.table<"a": i64>
func.func @distinct(%t: !t) -> !t {
  // expected-error@+1 {{must be an aggregate after optimize}}
  %0 = frame.distinct %t : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
!r = !frame.table<"m": !frame.nullable<f64>>
func.func @avg(%t: !t) -> !r {
  // expected-error@+1 {{has a measure that does not combine after optimize: #frame.measure<avg("a") -> "m">}}
  %0 = frame.aggregate %t keys [] measures [#frame.measure<avg("a") -> "m">] : !t -> !r
  return %0 : !r
}

// -----

!t = !frame.table<"a": i64>
!r = !frame.table<"b": i64>
!s = !frame.table<"a": i64, "b": !frame.nullable<i64>>
func.func @single(%t: !t, %r: !r) -> !s {
  // expected-error@+1 {{must be a left join after optimize}}
  %0 = frame.join single %t, %r on ["a"] = ["b"] : !t, !r -> !s
  return %0 : !s
}

// -----

!t = !frame.table<"a": i64>
!r = !frame.table<"b": i64>
func.func @null_safe(%t: !t, %r: !r) -> !t {
  // expected-error@+1 {{must not have null_safe keys after optimize}}
  %0 = frame.join semi %t, %r on ["a"] = ["b"] null_safe [true] : !t, !r -> !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
func.func @limit_of_sort(%t: !t) -> !t {
  %0 = frame.sort %t by [#frame.sort_key<"a" asc nulls_last>] : !t
  // expected-error@+1 {{of a sort must be a topk after optimize}}
  %1 = frame.limit %0 count 3 : !t
  return %1 : !t
}

// -----

!t = !frame.table<"a": i64>
func.func @limit_of_nothing(%t: !t) -> !t {
  // expected-error@+1 {{of nothing must be a filter after optimize}}
  %0 = frame.limit %t count 0 : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
func.func @topk_of_nothing(%t: !t) -> !t {
  // expected-error@+1 {{of nothing must be a filter after optimize}}
  %0 = frame.topk %t by [#frame.sort_key<"a" asc nulls_last>] count 0 : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
func.func @subquery(%t: !t) {
  // expected-error@+1 {{must be a join after optimize}}
  %0 = frame.scalar_subquery %t : !t -> !frame.nullable<i64>
  return
}

// -----

!t = !frame.table<"a": i64>
!r = !frame.table<"b": i64>
func.func @null_aware(%t: !t, %r: !r) -> !t {
  // expected-error@+1 {{must not be null_aware after optimize}}
  %0 = frame.join anti %t, %r null_aware on ["a"] = ["b"] : !t, !r -> !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
!r = !frame.table<"a": i64, "m": !frame.nullable<f64>>
func.func @average_of_a_window(%t: !t) -> !r {
  // expected-error@+1 {{has an average after optimize: #frame.window_function<aggregate avg("a")}}
  %0 = frame.window %t partition [] order [] functions [#frame.window_function<aggregate avg("a") -> "m" over <rows unbounded_preceding to current_row>>] : !t -> !r
  return %0 : !r
}
