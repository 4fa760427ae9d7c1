// `sched.unite`: one stream that several runs write.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.unite %{{.*}}, %{{.*}} : !sched.stream<!pipe.rows<"n": i32>>, !sched.stream<!pipe.rows<"n": i32>> -> <!pipe.rows<"n": i32>>
sched.program @main {
  %a, %first = sched.values [[1 : i128]] [i64] : <!pipe.rows<"n": i32>>
  %b, %second = sched.values [[2 : i128]] [i64] : <!pipe.rows<"n": i32>>
  %c, %x = sched.run @p0 from %first : !sched.stream<!pipe.rows<"n": i32>> fills [] reads [] -> !sched.stream<!pipe.rows<"n": i32>>
  %d, %y = sched.run @p1 from %second : !sched.stream<!pipe.rows<"n": i32>> fills [] reads [] -> !sched.stream<!pipe.rows<"n": i32>>
  %both = sched.unite %x, %y : !sched.stream<!pipe.rows<"n": i32>>, !sched.stream<!pipe.rows<"n": i32>> -> <!pipe.rows<"n": i32>>
  sched.result %both : <!pipe.rows<"n": i32>>
}

// -----

sched.program @main {
  %a, %first = sched.load for @a : !sched.stream<!pipe.rows<"k": i32>>
  %b, %second = sched.load for @b : !sched.stream<!pipe.rows<"k": i32>>
  // expected-error@+1 {{C1: unites only streams that runs write}}
  %both = sched.unite %first, %second : !sched.stream<!pipe.rows<"k": i32>>, !sched.stream<!pipe.rows<"k": i32>> -> <!pipe.rows<"k": i32>>
  sched.result %both : !sched.stream<!pipe.rows<"k": i32>>
}
