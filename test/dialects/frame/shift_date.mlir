// `frame.shift_date`: a date or timestamp, `months` months, then `days` days, then `microseconds` later (or, negative, earlier).
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.shift_date %{{.*}} months 1 days -3 : !frame.date
func.func @shift_date(%d: !frame.date, %t: !frame.timestamp) {
  %0 = frame.shift_date %d months 1 days -3 : !frame.date
  %1 = frame.shift_date %t months 1 days -3 microseconds 7200000000 : !frame.timestamp
  return
}

// -----

func.func @shift_date_c1(%a: !frame.date) {
  // expected-error @+1 {{moves only a timestamp by microseconds, got '!frame.date'}}
  %0 = frame.shift_date %a months 0 days 0 microseconds 1 : !frame.date
  return
}

// -----

func.func @shift_date_c2(%a: !frame.timestamp<ns>) {
  // expected-error @+1 {{moves only a timestamp of microseconds, got '!frame.timestamp<ns>'}}
  %0 = frame.shift_date %a months 1 days 0 : !frame.timestamp<ns>
  return
}
