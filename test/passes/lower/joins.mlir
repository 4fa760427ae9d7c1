// Lookups go through batches of 64 rows, and touch what the next step reads.
// Sources: passes/lower/cpu/kernel_lookup.cpp, passes/lower/code/key_code.cpp
// RUN: headrace-opt %s --lower-kernels | FileCheck %s

pipe.state @hashed join [#pipe.field<"k", i32, key>, #pipe.field<"v", i64, payload>]
pipe.state @pairs join [#pipe.field<"k", i32, key>, #pipe.field<"j", i32, key>]
pipe.state @direct join [#pipe.field<"k", i32, key>, #pipe.field<"v", i64, payload>] direct <base = 1, extent = 1500>
pipe.state @sparse join [#pipe.field<"k", i32, key>, #pipe.field<"v", i64, payload>] direct <base = 1, extent = 90000, sparse = true>
pipe.state @marked join [#pipe.field<"k", i32, key>, #pipe.field<"found", i1, payload>]

// The slot of a key in the directory is touched, then the row that it points to; a NULL key has no chain. Keys are
// compared after that.
// CHECK-LABEL: llvm.func @inner
// CHECK: arith.constant -7046029254386353131 : i64
// CHECK: llvm.intr.prefetch
// CHECK: llvm.inttoptr
// CHECK: arith.constant 281474976710655 : i64
// CHECK: llvm.select {{.*}} : i1, i64
// CHECK: llvm.select {{.*}} : i1, i64
// CHECK: llvm.intr.prefetch
// CHECK: llvm.return
pipe.pipeline @inner {
  %0 = pipe.receive @in : !pipe.rows<"k": i32?>
  %1 = pipe.lookup %0, @hashed inner keys ["k"] payload ["v"] columns [] {
  } : !pipe.rows<"k": i32?> -> !pipe.rows<"v": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"v": i64>
}

// Of several keys the hashes are compared first, then key by key.
// CHECK-LABEL: llvm.func @two_keys
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i64
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: llvm.cond_br %[[FIRST]]
// CHECK: %[[SECOND:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: llvm.cond_br %[[SECOND]]
// CHECK: arith.constant -7046029254386353131 : i64
pipe.pipeline @two_keys {
  %0 = pipe.receive @in : !pipe.rows<"k": i32, "j": i32>
  %1 = pipe.lookup %0, @pairs semi keys ["k", "j"] payload [] columns [] {
  } : !pipe.rows<"k": i32, "j": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// A direct table has no hash: a key within its extent is a position, and equal to what is there.
// CHECK-LABEL: llvm.func @by_position
// CHECK-NOT: arith.constant -7046029254386353131
// CHECK: arith.cmpi ult
// CHECK-NOT: arith.cmpi eq, %{{.*}}, %{{.*}} : i32
pipe.pipeline @by_position {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  %1 = pipe.lookup %0, @direct inner keys ["k"] payload ["v"] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"v": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"v": i64>
}

// Where few keys of a range are there, an entry's place is the number of smaller ones.
// CHECK-LABEL: llvm.func @by_rank
// CHECK: llvm.intr.ctpop
// CHECK: llvm.intr.prefetch
// CHECK-LABEL: llvm.func @by_bit
pipe.pipeline @by_rank {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  %1 = pipe.lookup %0, @sparse inner keys ["k"] payload ["v"] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"v": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"v": i64>
}

// That a key is there is all that is asked: no rank, and no row of the table.
// CHECK-NOT: llvm.intr.ctpop
// CHECK: arith.xori
// CHECK-LABEL: llvm.func @anti
pipe.pipeline @by_bit {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  %1 = pipe.lookup %0, @sparse anti keys ["k"] payload [] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// Only the end of its chain tells whether a row had no match.
// CHECK: %[[FOUND:.*]] = arith.ori %{{.*}}, %{{.*}} : i8
// CHECK: llvm.store %[[FOUND]]
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : i8
pipe.pipeline @anti {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  %1 = pipe.lookup %0, @hashed anti keys ["k"] payload [] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// A matched row of the state is marked once: many workers may see it.
// CHECK-LABEL: llvm.func @full
// CHECK: %[[MARK:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK: %[[UNSET:.*]] = arith.cmpi eq, %[[MARK]], %{{.*}} : i8
// CHECK: arith.andi %{{.*}}, %[[UNSET]] : i1
pipe.pipeline @full {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  %1 = pipe.lookup %0, @marked full keys ["k"] payload [] mark "found" columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// Where nothing but the marks is wanted, no row goes on.
// CHECK-LABEL: llvm.func @seen
// CHECK: %[[SEEN:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK: %[[UNSEEN:.*]] = arith.cmpi eq, %[[SEEN]], %{{.*}} : i8
// CHECK: arith.andi %{{.*}}, %[[UNSEEN]] : i1
pipe.pipeline @seen {
  %0 = pipe.receive @in : !pipe.rows<"j": i32>
  %1 = pipe.lookup %0, @marked seen keys ["j"] payload [] mark "found" columns [] {
  } : !pipe.rows<"j": i32> -> !pipe.rows<>
}
