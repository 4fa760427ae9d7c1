// The copy of a window state that keeps the first rows of each partition.
#pragma once

#include "runtime/exec/rows/state_copy.h"
#include "runtime/exec/window/entry_sort.h"

namespace headrace::exec {

/// Purpose: leaves out rows that `limit` others of their partition come before: those of a full
/// buffer that a kept row is known to rule out at once, and now and then what is kept beside the
/// first rows. Gives up where partitions are so small that this drops little. Rows that lie in
/// between may be kept: who reads the state looks at the ranks.
class FirstRowsCopy final : public RowBufferCopy {
public:
  FirstRowsCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account);
  ~FirstRowsCopy() override { incoming_.reset(); }

  std::vector<RowSpan> spans() const override;
  uint64_t rowCount() const override;
  Status grow() override;

private:
  Status startIncoming();
  Status takeIncoming();
  Status keepRow(const uint8_t *row);
  Status compress();
  bool isRuledOut(const Entry &entry) const;
  Entry &lastOf(uint64_t hash) const { return last_[hash & (last_.size() - 1)]; }

  EntryOrder order_;
  EntrySort sort_;
  bool countsPeers_; ///< a row's peers are all among the first, or none
  bool helps_ = true;
  Block incoming_; ///< what the kernel writes to, within a cache
  uint8_t *incomingBegin_ = nullptr;
  std::unique_ptr<RowStore> kept_;
  uint64_t keptRows_ = 0;
  uint64_t compressAt_;
  ScratchArray<Entry> entries_;
  /// By hash, the last of the first rows of some partition; no row where there is none.
  ScratchArray<Entry> last_;
};

} // namespace headrace::exec
