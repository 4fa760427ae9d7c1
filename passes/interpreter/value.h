// The values that the reference interpreter computes with: tables row by row, tensors element by
// element.
#pragma once

#include "dialects/frame/FrameTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/analysis/scalar_evaluation.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <variant>
#include <vector>

namespace headrace::interpreter {

using analysis::Scalar;

/// One value per column, in the order of the table's type.
using Row = std::vector<Scalar>;

struct Table {
  frame::TableType type;
  std::vector<Row> rows;
};

/// An element of a tensor, or an index: floats as double (an f32 is rounded to it), integers
/// sign-extended.
using Element = std::variant<int64_t, double>;

struct Tensor {
  mlir::Type elementType;
  llvm::SmallVector<int64_t> shape;
  std::vector<Element> elements; ///< row-major

  /// A tensor of that shape, all zero.
  static Tensor zeros(mlir::Type elementType, llvm::ArrayRef<int64_t> shape);
  /// Where the element at a position is in `elements`.
  size_t offsetOf(llvm::ArrayRef<int64_t> position) const;
};

/// How many elements a shape has.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);
/// Moves a position to the next one in row-major order; false behind the last.
bool nextPosition(llvm::MutableArrayRef<int64_t> position, llvm::ArrayRef<int64_t> shape);
/// The element that an attribute (integer or float) stands for.
Element elementOf(mlir::Attribute attribute);

using TablePtr = std::shared_ptr<const Table>;
using TensorPtr = std::shared_ptr<const Tensor>;
/// What an SSA value outside of expression regions can be. Scalar: of scalar_subquery.
using Value = std::variant<std::monostate, TablePtr, TensorPtr, Scalar, Element>;

inline Value valueOf(Table table) { return std::make_shared<const Table>(std::move(table)); }
inline Value valueOf(Tensor tensor) { return std::make_shared<const Tensor>(std::move(tensor)); }

/// Total order of two values of one type for which NULL equals NULL and is below all others.
int compareWithNulls(const Scalar &a, const Scalar &b);
/// Compares rows column by column with compareWithNulls.
int compareRows(const Row &a, const Row &b);
struct RowLess {
  bool operator()(const Row &a, const Row &b) const { return compareRows(a, b) < 0; }
};

/// An error that the program's data has: overflow, division by zero, a second row of a scalar
/// subquery. All other errors of the interpreter say that the program, or the interpreter, is
/// wrong.
class DataError : public llvm::ErrorInfo<DataError> {
public:
  static char ID;
  explicit DataError(std::string message) : message_(std::move(message)) {}
  void log(llvm::raw_ostream &stream) const override { stream << message_; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string message_;
};

llvm::Error dataError(const llvm::Twine &message);
llvm::Error programError(const llvm::Twine &message);

} // namespace headrace::interpreter
