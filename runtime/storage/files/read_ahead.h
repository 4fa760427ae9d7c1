// The bytes of a scan's next morsels are on their way while others are worked on, so that a store's
// latency is waited for once and not for each.
#pragma once

#include "runtime/memory/budget.h"
#include "runtime/storage/files/input_file.h"
#include "runtime/storage/files/ranges.h"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::storage {

class Fetch;

/// Ranges of a remote file that are read together: column chunks of a row group, a piece of CSV.
struct ReadUnit {
  std::function<Expected<std::shared_ptr<const InputFile>>()> open;
  /// What is needed now, without what is kept in memory.
  std::function<std::vector<ByteRange>()> ranges;
};

/// Purpose: what a scan reads of remote files, unit by unit, a few ahead. Thread-safe. Ordering:
/// units are begun in the order of their numbers. Memory: what is on its way, or has come and is
/// still to be read, is charged to the reservation that is given; of what is ahead no more than a
/// bound.
class ReadAhead {
public:
  explicit ReadAhead(uint64_t bytesMax) : bytesMax_(bytesMax) {}
  ~ReadAhead();

  /// All units, before anything else.
  void add(ReadUnit unit) { units_.emplace_back(Unit{std::move(unit), 0, nullptr, 0, false}); }
  size_t count() const { return units_.size(); }

  /// One more will take the unit, or has taken it or will not after all: with the last its bytes
  /// are given back.
  void expect(size_t unit);
  void leave(size_t unit);

  /// The file, of which the unit's bytes are here. Blocks. Begins to read those that come next.
  /// kMemory, kIo; after an error it may be asked for again.
  Expected<std::shared_ptr<const InputFile>> take(size_t unit, Reservation &memory);
  /// Gives the memory back of what nobody waits for yet; false: there is none.
  bool dropAhead();

private:
  struct Unit {
    ReadUnit what;
    size_t users = 0; ///< expected
    std::shared_ptr<Fetch> fetch;
    uint64_t bytes = 0; ///< of the fetch
    bool isTaken = false;
  };
  Status begin(Unit &unit, Reservation &memory);
  void beginNext(size_t after, Reservation &memory);
  void drop(Unit &unit, std::vector<std::shared_ptr<Fetch>> &dropped);

  const uint64_t bytesMax_;
  std::mutex mutex_;
  std::vector<Unit> units_;
  uint64_t bytes_ = 0; ///< of all fetches that are not taken yet
};

} // namespace headrace::storage
