// Dictionaries first, then the parts whose codes they explain. A thread makes known what it has
// loaded before it waits for what others load, so nobody waits in a circle.
#include "runtime/storage/parquet/group_parts.h"

#include <algorithm>

namespace headrace::storage {

GroupParts::GroupParts(std::shared_ptr<const ParquetFile> file, uint32_t rowGroup,
                       std::vector<uint32_t> columns, std::vector<HrType> types, uint32_t partRows,
                       PageSupply supply)
    : file_(std::move(file)), rowGroup_(rowGroup), partRows_(partRows), supply_(std::move(supply)) {
  for (size_t i = 0; i < columns.size(); ++i) {
    Column &column = columns_.emplace_back();
    column.index = columns[i];
    column.type = types[i];
  }
}

/// The first thread that comes reads the headers of all pages; others wait for it.
Status GroupParts::index(const std::shared_ptr<const InputFile> &input) {
  std::lock_guard reading(indexing_);
  {
    std::lock_guard lock(mutex_);
    if (indexed_) {
      return Status();
    }
  }
  for (Column &column : columns_) {
    HR_ASSIGN_OR_RETURN(column.pages, file_->pageIndex(rowGroup_, column.index, partRows_, input));
  }
  std::lock_guard lock(mutex_);
  for (Column &column : columns_) {
    column.parts.resize(column.pages->parts.size());
  }
  std::vector<HeldChunkHandle> dropped;
  for (size_t morsel : expected_) {
    count(morsel, 1, dropped);
  }
  indexed_ = true;
  return Status();
}

/// In the order of the rows: the part in which the morsel's first row lies, and its own.
std::vector<uint32_t> GroupParts::partsOf(const Column &column, size_t morsel) const {
  std::vector<uint32_t> needed;
  const std::vector<PageRun> &parts = column.pages->parts;
  const uint64_t firstRow = morsel * partRows_;
  size_t begin = morsel;
  if (parts[morsel].rows == 0 || parts[morsel].firstRow > firstRow) {
    // A page that began before reaches into the morsel's rows.
    do {
      --begin;
    } while (parts[begin].rows == 0);
    needed.push_back(static_cast<uint32_t>(begin));
  }
  if (parts[morsel].rows != 0) {
    needed.push_back(static_cast<uint32_t>(morsel));
  }
  return needed;
}

GroupParts::Entry &GroupParts::entry(const Need &need) {
  Column &column = columns_[need.column];
  return need.part == kDictionaryOfChunk ? column.dictionary : column.parts[need.part];
}

ChunkRequest GroupParts::requestOf(const Need &need) {
  const Column &column = columns_[need.column];
  if (need.part == kDictionaryOfChunk) {
    return {column.index, column.type, need.part, 0, *column.pages->dictionary};
  }
  ChunkRequest request{column.index, column.type, need.part, partRows_,
                       column.pages->parts[need.part]};
  if (column.pages->dictionary) {
    request.dictionary = column.dictionary.held->chunk->table;
  }
  return request;
}

Expected<std::vector<HeldChunkHandle>>
GroupParts::fetch(const std::vector<Need> &needs, Reservation &memory,
                  const std::shared_ptr<const InputFile> &input) {
  std::vector<HeldChunkHandle> found(needs.size());
  std::unique_lock lock(mutex_);
  while (true) {
    std::vector<size_t> mine;
    std::vector<ChunkRequest> requests;
    bool waits = false;
    for (size_t i = 0; i < needs.size(); ++i) {
      if (found[i]) {
        continue;
      }
      Entry &wanted = entry(needs[i]);
      if (wanted.phase == Phase::kReady) {
        found[i] = wanted.held;
      } else if (wanted.phase == Phase::kLoading) {
        waits = true;
      } else {
        wanted.phase = Phase::kLoading;
        mine.push_back(i);
        requests.push_back(requestOf(needs[i]));
      }
    }
    if (!mine.empty()) {
      lock.unlock();
      Expected<std::vector<HeldChunkHandle>> loaded =
          readChunks(file_, rowGroup_, requests, supply_, memory, input);
      lock.lock();
      for (size_t i = 0; i < mine.size(); ++i) {
        Entry &wanted = entry(needs[mine[i]]);
        wanted.phase = loaded.ok() ? Phase::kReady : Phase::kAbsent;
        if (loaded.ok()) {
          wanted.held = found[mine[i]] = (*loaded)[i];
        }
      }
      changed_.notify_all();
      if (!loaded.ok()) {
        return loaded.status();
      }
    } else if (waits) {
      changed_.wait(lock);
    } else {
      return found;
    }
  }
}

/// Dictionaries first.
std::vector<GroupParts::Need> GroupParts::needsOf(size_t morsel) const {
  std::vector<Need> needs;
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].pages->dictionary) {
      needs.push_back({c, kDictionaryOfChunk});
    }
  }
  for (size_t c = 0; c < columns_.size(); ++c) {
    for (uint32_t part : partsOf(columns_[c], morsel)) {
      needs.push_back({c, part});
    }
  }
  return needs;
}

/// Under the lock; what is dropped is freed outside of it.
void GroupParts::count(size_t morsel, int change, std::vector<HeldChunkHandle> &dropped) {
  for (const Need &need : needsOf(morsel)) {
    Entry &counted = entry(need);
    counted.usersLeft += change;
    if (counted.usersLeft == 0 && counted.phase == Phase::kReady) {
      counted.phase = Phase::kAbsent;
      dropped.push_back(std::move(counted.held));
    }
  }
}

std::vector<ByteRange> GroupParts::rangesNeeded() const {
  std::vector<ByteRange> ranges;
  for (const Column &column : columns_) {
    // Of a run before: this one reads the headers of the pages when the first morsel is taken.
    const std::shared_ptr<const PageIndex> pages =
        file_->knownPageIndex(rowGroup_, column.index, partRows_);
    auto isKept = [&](uint32_t part) {
      return supply_.cache->contains({file_->number(), rowGroup_, column.index, column.type, part,
                                      part == kDictionaryOfChunk ? 0 : partRows_});
    };
    bool allKept = pages && (!pages->dictionary || isKept(kDictionaryOfChunk));
    for (uint32_t part = 0; allKept && part < pages->parts.size(); ++part) {
      allKept = pages->parts[part].rows == 0 || isKept(part);
    }
    if (!allKept) {
      addRangesOf(*file_, rowGroup_, column.index, ranges);
    }
  }
  return ranges;
}

void GroupParts::expect(size_t morsel) {
  std::vector<HeldChunkHandle> dropped;
  std::lock_guard lock(mutex_);
  if (expected_.insert(morsel).second && indexed_) {
    count(morsel, 1, dropped);
  }
}

void GroupParts::leave(size_t morsel) {
  std::vector<HeldChunkHandle> dropped; // freed outside of the lock
  std::lock_guard lock(mutex_);
  if (expected_.erase(morsel) != 0 && indexed_) {
    count(morsel, -1, dropped);
  }
}

void GroupParts::drop(const std::vector<Need> &needs) {
  std::vector<HeldChunkHandle> dropped; // freed outside of the lock
  std::lock_guard lock(mutex_);
  for (const Need &need : needs) {
    Entry &left = entry(need);
    if (left.held.use_count() == 1) {
      left.phase = Phase::kAbsent;
      dropped.push_back(std::move(left.held));
    }
  }
}

Expected<std::vector<GroupParts::ColumnRows>>
GroupParts::take(size_t morsel, Reservation &memory,
                 const std::shared_ptr<const InputFile> &input) {
  HR_RETURN_IF_ERROR(index(input));
  std::vector<Need> dictionaries = needsOf(morsel);
  auto firstPart = std::ranges::find_if(
      dictionaries, [](const Need &need) { return need.part != kDictionaryOfChunk; });
  std::vector<Need> parts(firstPart, dictionaries.end());
  dictionaries.erase(firstPart, dictionaries.end());
  HR_ASSIGN_OR_RETURN(std::vector<HeldChunkHandle> tables, fetch(dictionaries, memory, input));
  Expected<std::vector<HeldChunkHandle>> fetched = fetch(parts, memory, input);
  if (!fetched.ok()) {
    drop(parts);
    return fetched.status();
  }
  std::vector<HeldChunkHandle> chunks = std::move(*fetched);
  std::vector<ColumnRows> rows(columns_.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    ColumnRows &column = rows[parts[i].column];
    if (column.chunks.empty()) {
      column.skip =
          morsel * partRows_ - columns_[parts[i].column].pages->parts[parts[i].part].firstRow;
    }
    column.chunks.push_back(std::move(chunks[i]));
  }
  for (size_t i = 0; i < dictionaries.size(); ++i) {
    rows[dictionaries[i].column].dictionary = std::move(tables[i]);
  }
  leave(morsel);
  return rows;
}

} // namespace headrace::storage
