// Joins whose way of meeting is decided at run time, because the estimate it would hang on is not
// certain.
#ifndef HEADRACE_PASSES_SHARD_RUN_TIME_CHOICES_H
#define HEADRACE_PASSES_SHARD_RUN_TIME_CHOICES_H

#include "passes/shard/shard_program.h"

#include <vector>

#include <optional>
#include <string>

namespace headrace::shard {

/// A join that broadcasts its right side if that has few rows, and shuffles otherwise.
struct RunTimeChoice {
  int32_t node = 0;
  uint64_t atMost = 0; ///< rows of the right side on all ranks for which a broadcast is cheaper
  double expected = 0; ///< rows that it is thought to have
  double p95 = 0;
  Layout left; ///< as the sides come, before any reshard
  Layout right;
  Layout result;         ///< scattered
  solve::Choice layouts; ///< of all nodes: those after the join take its rows scattered
  /// Keys of the shuffle; empty: that side lies as it must.
  llvm::SmallVector<mlir::StringAttr, 2> leftKeys;
  llvm::SmallVector<mlir::StringAttr, 2> rightKeys;
  int64_t cycle = 0; ///< of the keys, see Layout

  bool broadcastInLevels = false;
  bool leftInLevels = false;
  bool rightInLevels = false;

  /// "broadcast right if it has at most 5000 rows (1200 expected), else shuffle on a = b"
  std::string toText() const;
};

/// Finds them in choices of one program, to which it keeps a reference. One thread at a time.
class RunTimeChoices {
public:
  explicit RunTimeChoices(ShardProgram &program) : program_(program) {}

  /// The join of the choice whose decision is the least certain, if there is one: the right side's
  /// rows are a guess, the bound at which the costs cross is within two orders of magnitude of it,
  /// and both ways suit what comes after. One at most: agreements of ranks must come in one order.
  std::optional<RunTimeChoice> find(const solve::Choice &choice);

private:
  class Finder;

  ShardProgram &program_;
  /// By join and layouts of its sides: the shuffle that is compared with, none if there is none.
  std::vector<std::pair<RunTimeChoice, bool>> known_;
};

/// Writes it on the annotated join: needs become what the sides have, and `dist.choose` says the
/// rest.
void annotateRunTimeChoice(ShardProgram &program, const RunTimeChoice &found);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_RUN_TIME_CHOICES_H
