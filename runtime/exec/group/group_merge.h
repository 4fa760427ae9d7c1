// Copies of a group table made one, by parts of the hashes that workers take side by side.
#pragma once

#include "runtime/exec/group/group_copy.h"
#include "runtime/exec/memory/scratch_array.h"
#include "runtime/exec/work/phased_job.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace headrace::exec {

/// Addresses of rows.
using RowAddresses = std::span<const uint8_t *const>;

/// Purpose: each part of the hashes gets a table of its own, small enough for the cache of a core,
/// in which the rows of all copies that belong there are combined. Two phases of a job: the rows'
/// addresses by parts, then the parts.
/// Ownership: owns the tables. Their texts are those of the copies, which lose their rows.
class GroupMerge {
public:
  /// Combines rows with those of a table (State.mergeKernel); several workers at once.
  using Combine = std::function<Status(StateCopy &table, std::span<const RowAddresses> rows)>;

  GroupMerge(const plan::State &state, std::shared_ptr<MemoryAccount> account, Combine combine);

  /// `copies` is asked when the job starts; they outlive this. A single one whose rows are all of
  /// different groups stays what it is.
  void addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies);
  /// What has the rows once the phases have ended.
  const std::vector<StateCopy *> &tables() const { return tables_; }

private:
  /// Rows side by side, whose addresses one morsel brings in the order of parts.
  struct Piece {
    RowSpan rows;
    uint64_t first = 0; ///< of its addresses
  };

  Expected<JobPhase> divideRows();
  JobPhase mergeParts();
  void divide(size_t piece);
  /// Of the parts' addresses within a piece's, and the end.
  std::span<uint32_t> begins(size_t piece) const;
  Status mergePart(size_t part);
  size_t partOf(const uint8_t *row) const;

  const plan::State &state_;
  const std::shared_ptr<MemoryAccount> account_;
  const Combine combine_;
  std::vector<StateCopy *> copies_;
  std::vector<Piece> pieces_;
  ScratchArray<const uint8_t *> addresses_; ///< of all rows, piece after piece
  ScratchArray<uint32_t> begins_;
  unsigned partBits_ = 0;
  std::vector<std::unique_ptr<GroupCopy>> parts_;
  std::vector<StateCopy *> tables_;
};

} // namespace headrace::exec
