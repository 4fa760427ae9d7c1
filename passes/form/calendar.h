// The proleptic Gregorian calendar as arithmetic of 64-bit integers in bodies; in C++ it is in
// runtime/base/civil.h.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace headrace::form {

class Calendar {
public:
  Calendar(mlir::OpBuilder &builder, mlir::Location location) : b_(builder), loc_(location) {}

  /// Whole quotient towards the past.
  mlir::Value floorDivide(mlir::Value dividend, int64_t divisor);
  mlir::Value daysOfMonth(mlir::Value year, mlir::Value month);
  /// Days since 1970-01-01 of a day that there is.
  mlir::Value daysOf(mlir::Value year, mlir::Value month, mlir::Value day);
  /// Of a date (an i32), so many months later, on the last day of its month if that is shorter.
  mlir::Value monthsLater(mlir::Value date, int64_t months);

private:
  mlir::Value number(int64_t value);
  mlir::Value plus(mlir::Value a, mlir::Value b);
  mlir::Value minus(mlir::Value a, mlir::Value b);
  mlir::Value times(mlir::Value a, int64_t by);
  mlir::Value over(mlir::Value a, int64_t by);
  mlir::Value is(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value oneIf(mlir::Value condition);

  mlir::OpBuilder &b_;
  mlir::Location loc_;
};

} // namespace headrace::form
