// The directory of a join table: from keys to the chains of their rows.
#pragma once

#include "runtime/exec/join/key_ranks.h"
#include "runtime/exec/rows/state_copy.h"
#include "runtime/exec/work/phased_job.h"

#include <functional>
#include <memory>
#include <vector>

namespace headrace::exec {

/// Purpose: chains the rows of a join table's copies, by hash or by key as the plan says, in the
/// way that HrJoinTable describes. Workers chain rows side by side.
/// Ownership: owns the entries; the rows are the copies'.
class JoinDirectory {
public:
  JoinDirectory(const plan::State &state, std::shared_ptr<MemoryAccount> account);

  /// `copies` is asked when the job starts; they outlive this.
  void addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies);
  /// What kernels read once the phases have ended.
  HrJoinTable *abi() { return &table_; }

private:
  void addHashPhases(PhasedJob &job);
  void addArrayPhases(PhasedJob &job);
  void addRankPhases(PhasedJob &job);
  JobPhase eachSpan(std::function<Status(const RowSpan &)> body) const;
  Status resizeEntries(uint64_t entries);
  JobPhase clearEntries() const;

  Status chainByHash(const RowSpan &span);
  bool hasNull(const uint8_t *row) const;

  void setRange();
  /// kMismatch: a key is outside the range of the plan.
  Status outside(uint64_t slot) const;
  Status chainByArray(const RowSpan &span);
  Status addKeys(const RowSpan &span);
  Status chainByRank(const RowSpan &span);

  const plan::State &state_;
  std::vector<uint32_t> validOffsets_; ///< of the nullable keys
  std::vector<RowSpan> spans_;
  ScratchArray<uint64_t> entries_;
  HrJoinTable table_{};
  KeyRanks ranks_;
  bool unique_ = false; ///< no two rows have one key
};

} // namespace headrace::exec
