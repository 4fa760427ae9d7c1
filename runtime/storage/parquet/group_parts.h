// A row group that several morsels read, each its own rows: column chunks are loaded in parts, and
// a part stays until the last morsel that needs it has it.
//
// Pages of different columns do not line up. A page belongs to the part in whose rows it begins, so
// a morsel needs the part of its own number and, for its first rows, the one before in which their
// page begins.
#pragma once

#include "runtime/storage/files/ranges.h"
#include "runtime/storage/parquet/chunk_reader.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>

namespace headrace::storage {

/// Thread-safe. Who needs what another thread is loading waits for it.
class GroupParts {
public:
  /// The columns are those of the file; `types` in the same order. Morsels have `partRows` rows
  /// each.
  GroupParts(std::shared_ptr<const ParquetFile> file, uint32_t rowGroup,
             std::vector<uint32_t> columns, std::vector<HrType> types, uint32_t partRows,
             PageSupply supply);

  /// What of the file all morsels that are expected need now, as far as that is known: what is kept
  /// in memory is left out.
  std::vector<ByteRange> rangesNeeded() const;

  /// A morsel that will be taken, once: what it needs of others' parts stays until then.
  void expect(size_t morsel);
  /// It will not be.
  void leave(size_t morsel);

  /// What a morsel's rows of one column lie in.
  struct ColumnRows {
    std::vector<HeldChunkHandle> chunks; ///< in the order of the rows
    HeldChunkHandle dictionary;          ///< of their codes, if there is one
    uint64_t skip = 0;                   ///< rows of the chunks before the morsel's first
  };
  /// Of one that is expected. By column. Errors as MorselSource::load has them; after one the
  /// morsel may be asked for again.
  /// `input`: of which the file is read; null: its own.
  Expected<std::vector<ColumnRows>> take(size_t morsel, Reservation &memory,
                                         const std::shared_ptr<const InputFile> &input = nullptr);

private:
  enum class Phase : uint8_t { kAbsent, kLoading, kReady };
  struct Entry {
    Phase phase = Phase::kAbsent;
    int64_t usersLeft = 0; ///< morsels that are expected and have not taken it yet
    HeldChunkHandle held;  ///< kReady
  };
  struct Column {
    uint32_t index = 0;
    HrType type = HR_I64;
    std::shared_ptr<const PageIndex> pages;
    Entry dictionary;
    std::vector<Entry> parts;
  };
  /// One thing that a morsel needs.
  struct Need {
    size_t column;
    uint32_t part; ///< as ChunkKey::part
  };

  Status index(const std::shared_ptr<const InputFile> &input);
  std::vector<uint32_t> partsOf(const Column &column, size_t morsel) const;
  Entry &entry(const Need &need);
  Expected<std::vector<HeldChunkHandle>> fetch(const std::vector<Need> &needs, Reservation &memory,
                                               const std::shared_ptr<const InputFile> &input);
  ChunkRequest requestOf(const Need &need);
  std::vector<Need> needsOf(size_t morsel) const;
  void count(size_t morsel, int change, std::vector<HeldChunkHandle> &dropped);
  /// After an error: what no morsel has is not held for the next attempt.
  void drop(const std::vector<Need> &needs);

  const std::shared_ptr<const ParquetFile> file_;
  const uint32_t rowGroup_;
  const uint32_t partRows_;
  const PageSupply supply_;
  std::mutex indexing_;
  std::mutex mutex_;
  bool indexed_ = false;      ///< afterwards only entries change
  std::set<size_t> expected_; ///< morsels
  std::condition_variable changed_;
  std::vector<Column> columns_;
};

} // namespace headrace::storage
