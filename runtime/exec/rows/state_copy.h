// One worker's copy of a state, as kernels see it (the Hr… struct) and as its owner keeps it.
#pragma once

#include "model/plan/plan.h"
#include "runtime/abi/kernel.h"
#include "runtime/base/status.h"
#include "runtime/exec/memory/memory_account.h"
#include "runtime/exec/rows/row_store.h"

#include <memory>
#include <mutex>
#include <vector>

namespace headrace::exec {

/// Of a state on a rank: one copy, or several that are made one in the end.
enum class Copies : uint8_t { kOne, kSeveral };

/// Purpose: the copy of a state that one lane fills. The `owner` of every Hr… struct points to its
/// StateCopy. Ownership: owns rows and strings. Thread-safety: one thread at a time. Lifetime: rows
/// and strings stay where they are until the copy is dropped; the rows that copies were merged to
/// share their strings.
class StateCopy {
public:
  virtual ~StateCopy() = default;

  /// What HrArgs.states holds.
  virtual void *abi() = 0;
  virtual uint64_t rowCount() const = 0;
  virtual std::vector<RowSpan> spans() const = 0; ///< all rows

  /// Copies a string's bytes and redirects it (hr_string_keep).
  virtual Status keep(HrString *text);
  /// So many more rows have been put into it or combined with what it has: all of a morsel.
  virtual void offered(uint64_t /*rows*/) {}
  /// Whether the rows that come after those of the morsels so far are not wanted.
  bool isSated() const { return state_.firstCome && rowCount() >= state_.limit; }
  /// Of a group table: whether no two rows are of one group.
  virtual bool isUnique() const { return true; }
  /// Nothing is looked up any more.
  virtual void dropDirectory() {}
  /// The texts of the rows are still needed, the rows are not.
  virtual void dropRows() {}

protected:
  StateCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account);
  /// Fills a row with the state's identity.
  void fillIdentity(uint8_t *row) const;

  const plan::State &state_;
  std::shared_ptr<MemoryAccount> account_;
  BumpArena strings_;
};

/// Purpose: a copy to which the kernel appends rows by itself: of join tables before they are
/// finished, sort buffers, row buffers and windows.
class RowBufferCopy : public StateCopy {
public:
  RowBufferCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account);

  void *abi() override { return &abi_; }
  uint64_t rowCount() const override { return abi_.rows; }
  std::vector<RowSpan> spans() const override;
  /// Makes room for at least one more row.
  virtual Status grow();

protected:
  /// Other rows, of which there are so many, in place of those that are here.
  void takeRows(RowStore rows, BumpArena texts, uint64_t count);

  HrRowBuffer abi_{};
  mutable RowStore rows_; ///< learns how far the kernel has written only when asked
};

/// Body of the import; `owner` is a RowBufferCopy.
Status growRows(HrRowBuffer *buffer);

} // namespace headrace::exec
