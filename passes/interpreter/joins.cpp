// Joins: every left row with every right row of equal keys, then the residual.
#include "passes/interpreter/relations.h"

#include <map>

using namespace mlir;
using namespace headrace::frame;

namespace headrace::interpreter {
namespace {

/// The values of the keys; nothing if one is NULL, which equals nothing.
std::optional<Row> keysOf(const Row &row, ArrayRef<unsigned> positions) {
  Row keys;
  for (unsigned position : positions) {
    if (row[position].isNull()) {
      return std::nullopt;
    }
    keys.push_back(row[position]);
  }
  return keys;
}

Row together(const Row &left, const Row &right) {
  Row row = left;
  row.insert(row.end(), right.begin(), right.end());
  return row;
}

class Join {
public:
  Join(JoinOp op, const Table &left, const Table &right, OuterScalars outer)
      : op_(op), left_(left), right_(right), residual_(op.getResidual(), outer),
        leftKeys_(columnPositions(left.type, op.getLeftKeys())),
        rightKeys_(columnPositions(right.type, op.getRightKeys())) {
    if (op.hasResidual()) {
      for (auto name : op.getResidualColumnsAttr().getAsRange<StringAttr>()) {
        std::optional<unsigned> position = left.type.findColumn(name.getValue());
        residualColumns_.push_back(position ? *position
                                            : left.type.getNumColumns() +
                                                  *right.type.findColumn(name.getValue()));
      }
    }
    for (size_t index = 0; index < right.rows.size(); ++index) {
      if (std::optional<Row> keys = keysOf(right.rows[index], rightKeys_)) {
        rightRows_[*keys].push_back(index);
      } else {
        rightHasNull_ = true;
      }
    }
  }

  llvm::Expected<Table> run() {
    Table result{op_.getType(), {}};
    std::vector<bool> rightMatched(right_.rows.size(), false);
    for (const Row &left : left_.rows) {
      llvm::Expected<std::vector<size_t>> matches = matchesOf(left);
      if (!matches) {
        return matches.takeError();
      }
      for (size_t index : *matches) {
        rightMatched[index] = true;
      }
      addLeftRow(result, left, *matches);
    }
    if (op_.getKind() == JoinKind::Right || op_.getKind() == JoinKind::Full) {
      for (auto [index, right] : llvm::enumerate(right_.rows)) {
        if (!rightMatched[index]) {
          result.rows.push_back(together(Row(left_.type.getNumColumns()), right));
        }
      }
    }
    return result;
  }

private:
  llvm::Expected<std::vector<size_t>> matchesOf(const Row &left) {
    std::vector<size_t> matches;
    std::optional<Row> keys = keysOf(left, leftKeys_);
    auto found = keys ? rightRows_.find(*keys) : rightRows_.end();
    if (found == rightRows_.end()) {
      return matches;
    }
    for (size_t index : found->second) {
      if (op_.hasResidual()) {
        Row pair = together(left, right_.rows[index]);
        Row arguments;
        for (unsigned position : residualColumns_) {
          arguments.push_back(pair[position]);
        }
        llvm::Expected<Row> truth = residual_.evaluate(arguments);
        if (!truth) {
          return truth.takeError();
        }
        if (!truth->front().isTrue()) {
          continue;
        }
      }
      matches.push_back(index);
    }
    return matches;
  }

  void addLeftRow(Table &result, const Row &left, ArrayRef<size_t> matches) {
    switch (op_.getKind()) {
    case JoinKind::Semi:
      if (!matches.empty()) {
        result.rows.push_back(left);
      }
      return;
    case JoinKind::Anti:
      if (matches.empty() && !droppedByNotIn(left)) {
        result.rows.push_back(left);
      }
      return;
    case JoinKind::Mark:
      result.rows.push_back(together(left, {Scalar::boolean(!matches.empty())}));
      return;
    default:
      break;
    }
    for (size_t index : matches) {
      result.rows.push_back(together(left, right_.rows[index]));
    }
    if (matches.empty() && (op_.getKind() == JoinKind::Left || op_.getKind() == JoinKind::Full)) {
      result.rows.push_back(together(left, Row(right_.type.getNumColumns())));
    }
  }

  /// `x NOT IN (…)` is NULL, not true, if x is NULL or something in the list is; and true for an
  /// empty list.
  bool droppedByNotIn(const Row &left) {
    if (!op_.getNullAware() || right_.rows.empty()) {
      return false;
    }
    return rightHasNull_ || !keysOf(left, leftKeys_);
  }

  JoinOp op_;
  const Table &left_;
  const Table &right_;
  RowExpressions residual_;
  SmallVector<unsigned> leftKeys_;
  SmallVector<unsigned> rightKeys_;
  SmallVector<unsigned> residualColumns_;
  std::map<Row, std::vector<size_t>, RowLess> rightRows_;
  bool rightHasNull_ = false;
};

} // namespace

llvm::Expected<Table> evaluateJoin(JoinOp op, const Table &left, const Table &right,
                                   OuterScalars outer) {
  return Join(op, left, right, outer).run();
}

} // namespace headrace::interpreter
