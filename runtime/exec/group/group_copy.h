// A worker's groups: rows, and a directory by hash that stays small where groups come in runs.
#pragma once

#include "runtime/exec/rows/row_store.h"
#include "runtime/exec/rows/state_copy.h"
#include "runtime/memory/block_pool.h"

#include <memory>
#include <vector>

namespace headrace::exec {

/// Purpose: the copy of a group table. The directory has open addresses; entries are row pointers
/// tagged with the hash's high bits. When it is half full it doubles, or, if most rows lately found
/// their group, forgets its groups and begins again with the rows to come: what is in files is
/// often in some order, and a directory that stays in the cache finds all that is near. Then a
/// group may have several rows, which GroupMerge brings together.
class GroupCopy final : public StateCopy {
public:
  /// `expected` groups. Errors: memory.
  static Expected<std::unique_ptr<GroupCopy>> create(const plan::State &state,
                                                     std::shared_ptr<MemoryAccount> account,
                                                     uint64_t expected,
                                                     Copies copies = Copies::kOne);
  ~GroupCopy() override { directory_.reset(); }

  void *abi() override { return &abi_; }
  uint64_t rowCount() const override { return forgotten_ + abi_.rows; }
  std::vector<RowSpan> spans() const override { return rows_.spans(); }
  void offered(uint64_t rows) override;
  bool isUnique() const override { return forgotten_ == 0; }
  void dropDirectory() override;
  void dropRows() override;

  /// A new row with the state's identity (hr_group_insert); null: `why`.
  uint8_t *insert(uint64_t hash, Status &why);

private:
  GroupCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account, Copies copies);
  Status makeRoom();
  bool forgetsGroups() const;
  void enter(uint8_t *row, uint64_t hash);
  void forget();
  void setEntries(uint64_t entries);
  Status resize(uint64_t entries);

  const Copies copies_;
  RowStore rows_;
  std::vector<uint8_t> identity_; ///< of a row
  Block directory_;
  HrGroupTable abi_{};
  uint64_t forgotten_ = 0;  ///< rows that the directory does not have
  uint64_t offered_ = 0;    ///< rows since the directory began
  uint64_t rowsBefore_ = 0; ///< at the end of the last morsel
  bool allNew_ = false;     ///< nearly no row of the last morsel found its group
};

/// Body of the import; `owner` is a GroupCopy.
uint8_t *insertGroup(HrGroupTable *table, uint64_t hash, Status &why);

} // namespace headrace::exec
