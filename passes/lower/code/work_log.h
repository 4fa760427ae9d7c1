// What the kernel being emitted will spend its time on: counted while its code is made.
#pragma once

#include "model/plan/plan.h"

#include "mlir/IR/Operation.h"

namespace headrace::lower {

/// Adds up units of work per row, by kind, level and state. Not thread-safe.
class WorkLog {
public:
  void add(plan::WorkKind kind, unsigned level, double amount, int32_t state = plan::kNone);
  /// An op of a body: on one row of the level (`width` 0), or on that many at once. `textBytes`: of
  /// its strings.
  void addOp(mlir::Operation *op, unsigned level, unsigned width, double textBytes);
  /// An op of a body on a string of so many bytes.
  void addTextOp(mlir::Operation *op, unsigned level, double textBytes);
  /// Nothing is counted while it is paused: code that runs once a morsel, or seldom.
  enum class Counting : uint8_t { kOn, kPaused };
  void set(Counting counting) { counting_ = counting; }
  /// What is added from here on is done so many times a row.
  void setTimes(double times) { times_ = times; }
  std::vector<plan::Work> take() { return std::move(entries_); }

private:
  Counting counting_ = Counting::kOn;
  double times_ = 1; ///< that what is being added is done
  std::vector<plan::Work> entries_;
};

} // namespace headrace::lower
