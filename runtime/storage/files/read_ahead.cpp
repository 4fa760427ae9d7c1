// A fetch is requests and the memory that they fill; a file over it serves what has come.
#include "runtime/storage/files/read_ahead.h"

#include "runtime/storage/files/padded_buffer.h"
#include "runtime/storage/files/remote_file.h"

#include <algorithm>
#include <cstring>

namespace headrace::storage {

class Fetch {
public:
  static Expected<std::shared_ptr<Fetch>> start(std::shared_ptr<const InputFile> file,
                                                const std::vector<ByteRange> &ranges,
                                                Reservation &memory) {
    auto fetch = std::make_shared<Fetch>();
    if (!file->isRemote()) { // beside others that are
      fetch->file_ = std::move(file);
      return fetch;
    }
    uint64_t bytes = 0;
    for (const ByteRange &range : ranges) {
      bytes += range.bytes + HR_PADDING;
    }
    HR_ASSIGN_OR_RETURN(fetch->charge_, Charge::take(memory, static_cast<int64_t>(bytes)));
    const auto &remote = static_cast<const RemoteFile &>(*file);
    for (const ByteRange &range : ranges) {
      Part &part = fetch->parts_.emplace_back(Part{range, PaddedBuffer(range.bytes)});
      if (!part.buffer) {
        // no test: it takes more memory than a machine has
        return makeError(ErrorKind::kMemory,
                         "no memory for a part of a file, bytes: ", range.bytes);
      }
      HR_ASSIGN_OR_RETURN(std::unique_ptr<RangeRead> read,
                          remote.start(range.begin, {part.buffer.data(), range.bytes}));
      fetch->reads_.push_back(std::move(read));
    }
    fetch->file_ = std::move(file);
    return fetch;
  }

  /// Those who come while it is waited for wait with the first.
  Status wait() {
    std::lock_guard lock(mutex_);
    while (!reads_.empty() && status_.ok()) {
      status_ = reads_.back()->wait();
      reads_.pop_back();
    }
    return status_;
  }

  const std::shared_ptr<const InputFile> &file() const { return file_; }

  /// Of what has come; false: some of it is not here.
  bool copy(uint64_t offset, uint64_t bytes, uint8_t *out) const {
    auto part = std::upper_bound(parts_.begin(), parts_.end(), offset,
                                 [](uint64_t at, const Part &of) { return at < of.range.end(); });
    for (; bytes != 0; ++part) {
      if (part == parts_.end() || offset < part->range.begin) {
        return false;
      }
      const uint64_t skip = offset - part->range.begin;
      const uint64_t count = std::min(bytes, part->range.bytes - skip);
      std::memcpy(out, part->buffer.data() + skip, count);
      offset += count;
      bytes -= count;
      out += count;
    }
    return true;
  }

private:
  struct Part {
    ByteRange range;
    PaddedBuffer buffer;
  };
  std::shared_ptr<const InputFile> file_;
  Charge charge_;
  std::vector<Part> parts_;                       ///< in the order of the file
  std::vector<std::unique_ptr<RangeRead>> reads_; ///< let go of before what they fill
  std::mutex mutex_;
  Status status_;
};

namespace {

class FetchedFile final : public InputFile {
public:
  explicit FetchedFile(std::shared_ptr<const Fetch> fetch)
      : InputFile(fetch->file()->stamp(), fetch->file()->path()), fetch_(std::move(fetch)) {}

  bool isRemote() const override { return true; }
  /// What is not here, because a cache had it a moment ago, is asked for.
  Status read(uint64_t offset, uint64_t bytes, void *out) const override {
    return fetch_->copy(offset, bytes, static_cast<uint8_t *>(out))
               ? Status()
               : fetch_->file()->read(offset, bytes, out);
  }

private:
  const std::shared_ptr<const Fetch> fetch_;
};

} // namespace

ReadAhead::~ReadAhead() = default;

void ReadAhead::drop(Unit &unit, std::vector<std::shared_ptr<Fetch>> &dropped) {
  if (unit.fetch) {
    bytes_ -= unit.isTaken ? 0 : unit.bytes;
    dropped.push_back(std::move(unit.fetch));
    unit.fetch = nullptr;
    unit.isTaken = false;
  }
}

void ReadAhead::expect(size_t unit) {
  std::lock_guard lock(mutex_);
  ++units_[unit].users;
}

void ReadAhead::leave(size_t unit) {
  std::vector<std::shared_ptr<Fetch>> dropped; // freed outside of the lock
  std::lock_guard lock(mutex_);
  if (units_[unit].users != 0 && --units_[unit].users == 0) {
    drop(units_[unit], dropped);
  }
}

Status ReadAhead::begin(Unit &unit, Reservation &memory) {
  HR_ASSIGN_OR_RETURN(std::shared_ptr<const InputFile> file, unit.what.open());
  const std::vector<ByteRange> ranges = mergedRanges(unit.what.ranges());
  HR_ASSIGN_OR_RETURN(unit.fetch, Fetch::start(std::move(file), ranges, memory));
  unit.bytes = 0;
  for (const ByteRange &range : ranges) {
    unit.bytes += range.bytes;
  }
  unit.isTaken = false;
  bytes_ += unit.bytes;
  return Status();
}

/// As far as there is room; who needs one of them says what is wrong with it.
void ReadAhead::beginNext(size_t after, Reservation &memory) {
  for (size_t i = after + 1; i < units_.size() && bytes_ < bytesMax_; ++i) {
    if (units_[i].users != 0 && !units_[i].fetch && !begin(units_[i], memory).ok()) {
      return;
    }
  }
}

bool ReadAhead::dropAhead() {
  std::vector<std::shared_ptr<Fetch>> dropped; // freed outside of the lock
  std::lock_guard lock(mutex_);
  for (Unit &unit : units_) {
    if (!unit.isTaken) {
      drop(unit, dropped);
    }
  }
  return !dropped.empty();
}

Expected<std::shared_ptr<const InputFile>> ReadAhead::take(size_t number, Reservation &memory) {
  std::shared_ptr<Fetch> fetch;
  {
    std::lock_guard lock(mutex_);
    Unit &unit = units_[number];
    if (!unit.fetch) {
      HR_RETURN_IF_ERROR(begin(unit, memory));
    }
    if (!unit.isTaken) {
      unit.isTaken = true;
      bytes_ -= unit.bytes;
    }
    fetch = unit.fetch;
    beginNext(number, memory);
  }
  if (Status status = fetch->wait(); !status.ok()) {
    std::vector<std::shared_ptr<Fetch>> dropped; // freed outside of the lock
    std::lock_guard lock(mutex_);
    if (units_[number].fetch == fetch) {
      drop(units_[number], dropped);
    }
    return status;
  }
  return std::shared_ptr<const InputFile>(std::make_shared<FetchedFile>(std::move(fetch)));
}

} // namespace headrace::storage
