// Joins: every left row with every right row of equal keys, then what else must hold of the pair.
#include "passes/interpreter/relations.h"

#include <map>

using namespace mlir;
using namespace headrace::frame;

namespace headrace::interpreter {
namespace {

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
    if (op.getNullAware() && !leftKeys_.empty()) {
      membership_ = {leftKeys_.pop_back_val(), rightKeys_.pop_back_val()};
    }
    for (size_t index = 0; index < right.rows.size(); ++index) {
      if (std::optional<Row> keys = keysOf(right.rows[index], rightKeys_)) {
        rightRows_[*keys].push_back(index);
      }
    }
  }

  llvm::Expected<Table> run() {
    Table result{op_.getType(), {}};
    std::vector<bool> rightMatched(right_.rows.size(), false);
    for (const Row &left : left_.rows) {
      llvm::Expected<Matches> matches = matchesOf(left);
      if (!matches) {
        return matches.takeError();
      }
      if (op_.getKind() == JoinKind::Single && matches->rows.size() > 1) {
        return dataError("more than one row returned by a subquery");
      }
      for (size_t index : matches->rows) {
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
  /// The right rows that a left row matches, and whether one more may: of which the predicate is
  /// NULL.
  struct Matches {
    std::vector<size_t> rows;
    bool unknown = false;
  };

  /// The values of the keys; nothing if one is NULL that then equals nothing.
  std::optional<Row> keysOf(const Row &row, ArrayRef<unsigned> positions) {
    Row keys;
    for (auto [key, position] : llvm::enumerate(positions)) {
      if (row[position].isNull() && !op_.isNullSafe(key)) {
        return std::nullopt;
      }
      keys.push_back(row[position]);
    }
    return keys;
  }

  /// What holds of a pair of equal keys, in three-valued logic.
  llvm::Expected<Scalar> truthOf(const Row &left, const Row &right) {
    Scalar member = Scalar::boolean(true);
    if (membership_) {
      const Scalar &a = left[membership_->first], &b = right[membership_->second];
      member = a.isNull() || b.isNull() ? Scalar::null()
                                        : Scalar::boolean(analysis::compareScalars(a, b) == 0);
    }
    bool excluded = !member.isNull() && !member.isTrue();
    if (excluded || !op_.hasResidual()) {
      return member;
    }
    Row pair = together(left, right);
    Row arguments;
    for (unsigned position : residualColumns_) {
      arguments.push_back(pair[position]);
    }
    llvm::Expected<Row> truth = residual_.evaluate(arguments);
    if (!truth) {
      return truth.takeError();
    }
    bool rest = truth->front().isNull() || truth->front().isTrue();
    return rest && member.isNull() ? member : truth->front();
  }

  llvm::Expected<Matches> matchesOf(const Row &left) {
    Matches matches;
    std::optional<Row> keys = keysOf(left, leftKeys_);
    auto found = keys ? rightRows_.find(*keys) : rightRows_.end();
    if (found == rightRows_.end()) {
      return matches;
    }
    for (size_t index : found->second) {
      llvm::Expected<Scalar> truth = truthOf(left, right_.rows[index]);
      if (!truth) {
        return truth.takeError();
      }
      if (truth->isTrue()) {
        matches.rows.push_back(index);
      }
      matches.unknown |= truth->isNull();
    }
    return matches;
  }

  void addLeftRow(Table &result, const Row &left, const Matches &matches) {
    bool matched = !matches.rows.empty();
    bool unknown = op_.getNullAware() && !matched && matches.unknown;
    switch (op_.getKind()) {
    case JoinKind::Semi:
      if (matched) {
        result.rows.push_back(left);
      }
      return;
    case JoinKind::Anti:
      if (!matched && !unknown) {
        result.rows.push_back(left);
      }
      return;
    case JoinKind::Mark:
      result.rows.push_back(together(left, {unknown ? Scalar::null() : Scalar::boolean(matched)}));
      return;
    case JoinKind::Inner:
    case JoinKind::Left:
    case JoinKind::Single:
    case JoinKind::Right:
    case JoinKind::Full:
      break;
    }
    for (size_t index : matches.rows) {
      result.rows.push_back(together(left, right_.rows[index]));
    }
    bool keeps = op_.getKind() == JoinKind::Left || op_.getKind() == JoinKind::Single ||
                 op_.getKind() == JoinKind::Full;
    if (!matched && keeps) {
      result.rows.push_back(together(left, Row(right_.type.getNumColumns())));
    }
  }

  JoinOp op_;
  const Table &left_;
  const Table &right_;
  RowExpressions residual_;
  SmallVector<unsigned> leftKeys_;
  SmallVector<unsigned> rightKeys_;
  SmallVector<unsigned> residualColumns_;
  std::optional<std::pair<unsigned, unsigned>> membership_; ///< the last keys of a null_aware join
  std::map<Row, std::vector<size_t>, RowLess> rightRows_;
};

} // namespace

llvm::Expected<Table> evaluateJoin(JoinOp op, const Table &left, const Table &right,
                                   OuterScalars outer) {
  return Join(op, left, right, outer).run();
}

} // namespace headrace::interpreter
