// What relational ops say of themselves (RelationalOpInterface), as plain values.
#ifndef HEADRACE_DIALECTS_FRAME_RELATIONALOPS_H
#define HEADRACE_DIALECTS_FRAME_RELATIONALOPS_H

#include "dialects/frame/FrameAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/ErrorHandling.h"

#include <optional>
#include <string>

namespace headrace::frame {

using ColumnSet = llvm::SetVector<mlir::StringAttr>;
/// The new name of a column, or the name itself.
using NewName = llvm::function_ref<mlir::StringAttr(mlir::StringAttr)>;

/// Which rows of the result have the operand's value.
enum class Passing : uint8_t {
  kAlways, ///< each that of a row of the operand, the same row for all its columns
  kOrNull, ///< or NULL, where no row of the operand matched
  kOneOf,  ///< that of a row of this operand or of another
};

/// Column `to` of the result is column `from` of the operand.
struct PassedColumn {
  unsigned operand;
  mlir::StringAttr from;
  mlir::StringAttr to;
  Passing passing = Passing::kAlways;
};

/// What to do about columns of an operand that an op does not need.
enum class SpareColumns : uint8_t {
  kAllow, ///< they cost nothing: it does not look at them, or passes them on
  kDrop,  ///< it would hold them
  kExact, ///< its columns go by position, so there must be none
};

/// When an op hands rows on.
enum class RowFlow : uint8_t {
  kSource,   ///< from outside, as quick to read again as to keep
  kRowByRow, ///< for each row of its operand none, one or several, at once
  kProbe,    ///< for the rows of its first operand, when it has all of the second
  kUnite,    ///< those of all operands, as they come
  kState,    ///< when it has all rows of its operand
};

enum class RowOrdering : uint8_t {
  kNone,
  kKept, ///< that of the operand
  kMade, ///< that of the op's own state
};

/// What an op holds while it runs.
struct RowState {
  enum class Kind : uint8_t {
    kNone,
    kJoinTable,  ///< the rows of its second operand, found by key
    kGroups,     ///< one row for each group
    kOrder,      ///< rows in order, or the first of them
    kPartitions, ///< rows in order by partition; which of peers is first, no two copies agree on
  };
  Kind kind = Kind::kNone;
  /// kOrder, kPartitions: an array of #frame.sort_key; null: any order will do.
  mlir::ArrayAttr order;
  /// kOrder: the rows [offset, offset + count) stay; without a count all behind offset.
  uint64_t offset = 0;
  std::optional<uint64_t> count;
  /// It has one rank's rows: the result of all ranks comes of another op behind it.
  bool partial = false;

  /// Whether rows are chosen by their position, so that copies of a table may choose others.
  bool choosesRows() const { return kind == Kind::kOrder && (offset > 0 || count); }
};

/// How an op's work can be divided over ranks. Always possible, and not said here: all rows on
/// every rank, if copies of the rows give copies of the result, and all rows on one rank.
struct RowSharding {
  /// Operands whose rows may lie anywhere if each rank has all rows of the other operands: the
  /// result's rows lie where these do.
  llvm::SmallVector<unsigned, 2> follows;
  /// One list per operand, all of one length: ranks that have all rows with the same values of
  /// these columns, or of a pair of them, do their part alone. Empty: there are none.
  llvm::SmallVector<llvm::SmallVector<mlir::StringAttr, 2>, 2> together;
  /// The operand where `together` is also true of the result's rows; nothing: they are scattered.
  std::optional<unsigned> togetherLikeOperand = 0;
  /// The rows of all operands may lie anywhere; the result's are scattered.
  bool anywhere = false;
  /// How what ranks make of their own rows becomes the result.
  enum class Parts : uint8_t { kNone, kAggregate, kDistinct, kTopK, kLimit };
  Parts parts = Parts::kNone;
  /// kAggregate: how its measures combine.
  ContractAttr contract;
};

} // namespace headrace::frame

#include "dialects/frame/RelationalOpInterface.h.inc"

#endif // HEADRACE_DIALECTS_FRAME_RELATIONALOPS_H
