// RUN: headrace-opt %s --optimize-split-filters | FileCheck %s

// Numbers together, each text by itself, and at the end what reads both.

!lines = !frame.table<"day": !frame.date, "mode": !frame.string, "v": i32, "flag": !frame.string>

// CHECK-LABEL: @split
// CHECK: %[[SCAN:.*]] = frame.scan
// CHECK: %[[NUMBERS:.*]] = frame.filter %[[SCAN]] columns ["v", "day"]
// CHECK: %[[MODE:.*]] = frame.filter %[[NUMBERS]] columns ["mode"]
// CHECK: frame.in
// CHECK: frame.like
// CHECK: %[[FLAG:.*]] = frame.filter %[[MODE]] columns ["flag"]
// CHECK: %[[LAST:.*]] = frame.filter %[[FLAG]] columns ["mode", "flag"]
// CHECK: return %[[LAST]]
func.func @split() -> !lines {
  %0 = frame.scan "lines" ["day", "mode", "v", "flag"] : !lines
  %1 = frame.filter %0 columns ["mode", "flag", "v", "day"] {
  ^bb0(%mode: !frame.string, %flag: !frame.string, %v: i32, %day: !frame.date):
    %in = frame.in %mode ["AIR", "RAIL"] : (!frame.string) -> i1
    %pair = frame.compare lt %mode, %flag : (!frame.string, !frame.string) -> i1
    %ten = frame.constant 10 : i32
    %few = frame.compare lt %v, %ten : (i32, i32) -> i1
    %starts = frame.like %mode "%AI%" : (!frame.string) -> i1
    %limit = frame.constant "1995-01-01" : !frame.date
    %early = frame.compare lt %day, %limit : (!frame.date, !frame.date) -> i1
    %n = frame.constant "N" : !frame.string
    %is = frame.compare eq %flag, %n : (!frame.string, !frame.string) -> i1
    %inner = frame.and %pair, %few : (i1, i1) -> i1
    %all = frame.and %in, %inner, %starts, %early, %is : (i1, i1, i1, i1, i1) -> i1
    frame.yield %all : i1
  } : !lines
  return %1 : !lines
}

// Only numbers: as it was.
// CHECK-LABEL: @numbers
// CHECK-COUNT-1: frame.filter
// CHECK-NOT: frame.filter
// CHECK: return
func.func @numbers() -> !lines {
  %0 = frame.scan "lines" ["day", "mode", "v", "flag"] : !lines
  %1 = frame.filter %0 columns ["v", "day"] {
  ^bb0(%v: i32, %day: !frame.date):
    %ten = frame.constant 10 : i32
    %few = frame.compare lt %v, %ten : (i32, i32) -> i1
    %limit = frame.constant "1995-01-01" : !frame.date
    %early = frame.compare lt %day, %limit : (!frame.date, !frame.date) -> i1
    %all = frame.and %few, %early : (i1, i1) -> i1
    frame.yield %all : i1
  } : !lines
  return %1 : !lines
}
