// Names for columns that a rewriting adds beside those that are there.
#ifndef HEADRACE_DIALECTS_FRAME_FRESHNAMES_H
#define HEADRACE_DIALECTS_FRAME_FRESHNAMES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace headrace::frame {

/// Gives out names that are not taken.
class FreshNames {
public:
  explicit FreshNames(mlir::MLIRContext *context) : context_(context) {}
  /// With the names of all columns of the tables in an op taken.
  explicit FreshNames(mlir::Operation *scope);

  void take(llvm::ArrayRef<mlir::StringAttr> names) { taken_.insert_range(names); }
  /// `stem`, or if that is taken, with the first number behind it that makes it new. Taken from
  /// then on.
  mlir::StringAttr make(const llvm::Twine &stem);

private:
  mlir::MLIRContext *context_;
  llvm::DenseSet<mlir::StringAttr> taken_;
  llvm::DenseMap<mlir::StringAttr, unsigned> numbers_; ///< the last behind a stem
};

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_FRESHNAMES_H
