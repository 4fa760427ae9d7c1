// Which side of a join becomes the table, and which goes through it: told by `form`, and expected
// by the costs of `shard`.
#pragma once

#include "dialects/frame/FrameDialect.h"

namespace headrace::analysis {

struct JoinSides {
  mlir::Value build, probe;
  mlir::ArrayAttr buildKeys, probeKeys;
  bool turned = false; ///< the left side is built

  /// The right side is built.
  static JoinSides asWritten(frame::JoinOp join) {
    return {join.getRight(), join.getLeft(), join.getRightKeys(), join.getLeftKeys()};
  }
  /// Of few left rows in a semi or anti join it is cheaper to keep them and to mark those that a
  /// right row matches: a row in a table costs several that look it up. Without keys every right
  /// row would go through all of them, where otherwise the first match ends the search.
  static JoinSides of(frame::JoinOp join, double leftRows, double rightRows) {
    constexpr double kProbesOfRow = 4;
    bool marks = join.getKind() == frame::JoinKind::Semi || join.getKind() == frame::JoinKind::Anti;
    if (!marks || join.getLeftKeys().empty() || leftRows * kProbesOfRow > rightRows) {
      return asWritten(join);
    }
    return {join.getLeft(), join.getRight(), join.getLeftKeys(), join.getRightKeys(), true};
  }
};

} // namespace headrace::analysis
