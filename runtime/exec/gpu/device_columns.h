// DeviceColumns: columns that stay in the device's memory for the next runs.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/device/accelerator.h"
#include "runtime/storage/columns/source.h"

#include <map>
#include <mutex>
#include <optional>

namespace headrace::exec {

/// Purpose: columns of morsels as kernels for threads read them, found again by what they were read
/// of. As long as the host keeps that (its cache of pages is the one that decides what is worth
/// keeping), a run that reads it again copies nothing. Ownership: owns the memory; charged in the
/// device's tier, from room that nobody else needs: it gives way for states. Thread-safety: full.
/// Lifetime: within the accelerator's.
class DeviceColumns final : public Keeper {
public:
  /// Memory of the columns of one morsel.
  using Block = std::shared_ptr<DeviceMemory>;
  struct Key {
    std::weak_ptr<const void> kept;
    uint64_t firstRow = 0;
    uint32_t rows = 0;
    bool operator<(const Key &other) const;
  };
  struct Column {
    Block block;
    HrColumn column; ///< pointers are the device's
  };

  DeviceColumns(std::shared_ptr<Accelerator> accelerator, Budget::Options device);
  ~DeviceColumns() override;

  /// Ready for what is submitted to the compute lane from now on.
  std::optional<Column> find(const Key &key);
  /// Memory for columns to keep; null if there is no room beside what is used.
  Block place(int64_t bytes);
  /// Once all that makes the column has been submitted.
  void keep(Key key, Column column);

  int64_t giveWay(int64_t bytes) override;

private:
  void moveTo(std::shared_ptr<MemoryTier>) override {} // it is counted by the reservation
  // With the mutex held, both say how many bytes were freed:
  int64_t drop(std::map<Key, Column>::iterator &at);
  /// Those that the host has given up.
  int64_t dropExpired();

  const std::shared_ptr<Accelerator> accelerator_;
  const std::shared_ptr<MemoryTier> tier_;
  Budget budget_;
  Reservation bytes_;
  std::mutex mutex_;
  std::map<Key, Column> columns_;
};

} // namespace headrace::exec
