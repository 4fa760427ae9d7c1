// A loop over a list: elements of fixed width are read and written where they lie, the list that it collects is cut at the end;
// lists are put behind each other by a call; a string that is handed on is copied.
// Sources: passes/lower/code/loop_code.cpp
// RUN: headrace-opt %s --lower-kernels | FileCheck %s

pipe.stream @in local : !pipe.rows<"l": !pipe.string>
pipe.stream @lists result : !pipe.rows<"m": !pipe.string>
pipe.stream @last result : !pipe.rows<"s": !pipe.string>

// CHECK-LABEL: llvm.func @collected
// CHECK: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK-NEXT: llvm.cond_br %[[INSIDE]]
// CHECK: %[[ELEMENT:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> i64
// CHECK: %[[DOUBLED:.*]] = arith.addi %[[ELEMENT]], %[[ELEMENT]]
// CHECK-NOT: llvm.call
// CHECK: llvm.store %[[DOUBLED]], %{{.*}} {alignment = 1 : i64}
// CHECK: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, i64) -> ()
pipe.pipeline @collected {
  %0 = pipe.receive @in : <"l": !pipe.string>
  %1 = pipe.map %0 ["m"] ["l"] {
  ^bb0(%l: !pipe.string):
    %n = pipe.text "list_length"(%l) : (!pipe.string) -> i64
    %m = pipe.loop %n from () collects 5 {
    ^bb0(%number: i64):
      %x, %valid = pipe.list_element %l, %number : i64
      %y = arith.addi %x, %x : i64
      %all = arith.constant true
      pipe.yield %y, %valid, %all : i64, i1, i1
    } : () -> !pipe.string
    pipe.yield %m : !pipe.string
  } : <"l": !pipe.string> -> <"m": !pipe.string>
  pipe.emit %1, @lists keys [] : <"m": !pipe.string>
}

// CHECK-LABEL: llvm.func @handed_on
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK-NEXT: llvm.cond_br %[[INSIDE]]
// CHECK: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> i32
// CHECK: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
pipe.pipeline @handed_on {
  %0 = pipe.receive @in : <"l": !pipe.string>
  %1 = pipe.map %0 ["s"] ["l"] {
  ^bb0(%l: !pipe.string):
    %n = pipe.text "list_length"(%l) : (!pipe.string) -> i64
    %none = pipe.literal ""
    %s = pipe.loop %n from (%none) {
    ^bb0(%number: i64, %so_far: !pipe.string):
      %x = pipe.text "list_text"(%l, %number) : (!pipe.string, i64) -> !pipe.string
      %next = pipe.text "concat"(%so_far, %x) : (!pipe.string, !pipe.string) -> !pipe.string
      pipe.yield %next : !pipe.string
    } : (!pipe.string) -> !pipe.string
    pipe.yield %s : !pipe.string
  } : <"l": !pipe.string> -> <"s": !pipe.string>
  pipe.emit %1, @last keys [] : <"s": !pipe.string>
}
