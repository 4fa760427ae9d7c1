// Collect, divide by samples, sort each range, mark where partitions and peers begin, compute.
#include "runtime/exec/window/window_rows.h"

#include "runtime/exec/window/window_functions.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace headrace::exec {
namespace {

/// Rows of a range: sorted within a worker's cache.
constexpr uint64_t kRangeRows = 16384;
/// Entries that one morsel goes through.
constexpr uint64_t kMorselRows = 65536;
constexpr uint64_t kSamplesOfRange = 16;

uint64_t morselsOf(uint64_t rows) { return (rows + kMorselRows - 1) / kMorselRows; }

unsigned bitWidth(unsigned __int128 value) {
  auto high = static_cast<uint64_t>(value >> 64);
  return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high)
                                         : std::bit_width(static_cast<uint64_t>(value)));
}

std::vector<plan::OrderKey> keysOf(const plan::State &state) {
  std::vector<plan::OrderKey> keys;
  for (size_t index = 0; index < state.fields.size(); ++index) {
    if (state.fields[index].combine == plan::Combine::kKey) {
      keys.push_back({static_cast<int32_t>(index), false, false});
    }
  }
  return keys;
}

/// Whether the partition keys are none, or one number of at most 64 bits, whose hash is a
/// permutation (primitives/hash/hash.h). A NULL's hash is that of some number.
bool isHashedOneToOne(const plan::State &state) {
  std::vector<plan::OrderKey> keys = keysOf(state);
  if (keys.size() != 1) {
    return keys.empty();
  }
  const plan::StateField &key = state.fields[keys.front().field];
  return !key.nullable && key.type != HR_STRING && key.type != HR_I128;
}

} // namespace

WindowRows::WindowRows(const plan::State &state, std::shared_ptr<MemoryAccount> account)
    : state_(state), account_(std::move(account)), order_(state, state.order),
      keys_(state, keysOf(state)), hashed_(!keysOf(state).empty()),
      hashDecides_(isHashedOneToOne(state)) {}

void WindowRows::addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies) {
  job.add([this, copies = std::move(copies)] { return collect(copies()); });
  job.add([this] { return divide(); });
  job.add([this] { return scatter(); });
  job.add([this] { return sort(); });
  job.add([this] { return mark(); });
  job.add([this] { return repair(); });
  job.add([this] { return compute(); });
}

Expected<JobPhase> WindowRows::collect(const std::vector<StateCopy *> &copies) {
  struct Piece {
    RowSpan span;
    uint64_t first;
  };
  std::vector<Piece> pieces;
  for (StateCopy *copy : copies) {
    for (const RowSpan &span : copy->spans()) {
      pieces.push_back({span, count_});
      count_ += span.count;
    }
  }
  if (count_ > UINT32_MAX) {
    // no test: it takes 64 GiB
    return makeError(ErrorKind::kUnsupported,
                     "a window of more than 4294967295 rows on one rank, got ", count_);
  }
  HR_ASSIGN_OR_RETURN(entries_, account_->allocate(static_cast<int64_t>(count_ * sizeof(Entry))));
  HR_ASSIGN_OR_RETURN(rows_, account_->allocate(static_cast<int64_t>(count_ * sizeof(uint8_t *))));
  HR_ASSIGN_OR_RETURN(flags_, account_->allocate(static_cast<int64_t>(count_)));
  auto morsels = static_cast<int64_t>(pieces.size());
  return JobPhase{morsels, [this, pieces = std::move(pieces)](int, int64_t index) {
                    const Piece &piece = pieces[index];
                    Entry *out = entries() + piece.first;
                    uint8_t *row = piece.span.rows;
                    for (uint64_t i = 0; i < piece.span.count; ++i, row += state_.rowBytes) {
                      uint64_t hash = 0;
                      if (hashed_) {
                        std::memcpy(&hash, row, sizeof hash);
                      }
                      out[i] = {hash, order_.prefix(row), row};
                    }
                    return Status();
                  }};
}

/// How many splitters are not above the entry, by halving, without branches.
uint32_t WindowRows::rangeOf(const Entry &entry) const {
  unsigned __int128 key = wholeKey(entry);
  size_t below = 0;
  for (size_t step = (splitters_.size() + 1) / 2; step > 0; step /= 2) {
    below += splitters_[below + step - 1] <= key ? step : 0;
  }
  return static_cast<uint32_t>(below);
}

Expected<JobPhase> WindowRows::divide() {
  uint64_t wanted = count_ / kRangeRows;
  if (wanted < 2) {
    return JobPhase{};
  }
  std::vector<unsigned __int128> samples;
  uint64_t step = std::max<uint64_t>(count_ / (wanted * kSamplesOfRange), 1);
  for (uint64_t i = 0; i < count_; i += step) {
    samples.push_back(wholeKey(entries()[i]));
  }
  std::sort(samples.begin(), samples.end());
  for (size_t i = kSamplesOfRange; i < samples.size(); i += kSamplesOfRange) {
    if (splitters_.empty() || splitters_.back() != samples[i]) {
      splitters_.push_back(samples[i]);
    }
  }
  size_t ranges = splitters_.size() + 1;
  splitters_.resize(std::bit_ceil(ranges) - 1, ~static_cast<unsigned __int128>(0));
  HR_ASSIGN_OR_RETURN(scratch_, account_->allocate(static_cast<int64_t>(count_ * sizeof(Entry))));
  HR_ASSIGN_OR_RETURN(rangeIds_,
                      account_->allocate(static_cast<int64_t>(count_ * sizeof(uint32_t))));
  counts_.assign(morselsOf(count_), std::vector<uint64_t>(splitters_.size() + 1));
  return JobPhase{static_cast<int64_t>(counts_.size()), [this](int, int64_t morsel) {
                    uint64_t begin = static_cast<uint64_t>(morsel) * kMorselRows;
                    uint64_t end = std::min(begin + kMorselRows, count_);
                    for (uint64_t i = begin; i < end; ++i) {
                      rangeIds()[i] = rangeOf(entries()[i]);
                      ++counts_[morsel][rangeIds()[i]];
                    }
                    return Status();
                  }};
}

Expected<JobPhase> WindowRows::scatter() {
  if (counts_.empty()) {
    ranges_.push_back({0, count_});
    return JobPhase{};
  }
  // Counts become the places that each morsel writes to.
  uint64_t place = 0;
  for (size_t range = 0; range <= splitters_.size(); ++range) {
    uint64_t begin = place;
    for (std::vector<uint64_t> &morsel : counts_) {
      place += std::exchange(morsel[range], place);
    }
    if (place > begin) {
      ranges_.push_back({begin, place});
    }
  }
  return JobPhase{static_cast<int64_t>(counts_.size()), [this](int, int64_t morsel) {
                    uint64_t begin = static_cast<uint64_t>(morsel) * kMorselRows;
                    uint64_t end = std::min(begin + kMorselRows, count_);
                    for (uint64_t i = begin; i < end; ++i) {
                      scratch()[counts_[morsel][rangeIds()[i]]++] = entries()[i];
                    }
                    return Status();
                  }};
}

bool WindowRows::isBefore(const Entry &a, const Entry &b) const {
  if (a.hash != b.hash) {
    return a.hash < b.hash;
  }
  if (a.prefix != b.prefix) {
    return a.prefix < b.prefix;
  }
  return !order_.isExact() && order_.compare(a.row, b.row) < 0;
}

Expected<JobPhase> WindowRows::sort() {
  if (!counts_.empty()) {
    std::swap(entries_, scratch_);
    scratch_.reset();
    rangeIds_.reset();
    counts_.clear();
  }
  return JobPhase{static_cast<int64_t>(ranges_.size()), [this](int, int64_t range) {
                    sortRange(ranges_[range]);
                    return Status();
                  }};
}

void WindowRows::sortRange(Range range) {
  auto before = [this](const Entry &a, const Entry &b) { return isBefore(a, b); };
  Entry *first = entries() + range.begin, *end = entries() + range.end;
  auto count = static_cast<size_t>(end - first);
  constexpr size_t kWorthDistributing = 256;
  if (count < kWorthDistributing) {
    std::sort(first, end, before);
    return;
  }
  // The highest bits in which keys of the range differ tell most of them apart: rows are
  // distributed by these, byte by byte from the lowest, and compared only where all of them are
  // equal.
  unsigned __int128 least = wholeKey(*first), most = least;
  for (Entry *entry = first; entry != end; ++entry) {
    least = std::min(least, wholeKey(*entry));
    most = std::max(most, wholeKey(*entry));
  }
  constexpr unsigned kDigits = 3, kDigitBits = 8;
  unsigned width = bitWidth(least ^ most);
  unsigned shift = width - std::min(width, kDigits * kDigitBits);
  auto digits = [shift](const Entry &entry) {
    return static_cast<uint32_t>(wholeKey(entry) >> shift) & ((1u << kDigits * kDigitBits) - 1);
  };
  std::vector<Entry> other(count);
  Entry *from = first, *to = other.data();
  for (unsigned digit = 0; digit < kDigits; ++digit) {
    uint32_t places[1 << kDigitBits] = {};
    auto value = [&](const Entry &entry) { return digits(entry) >> digit * kDigitBits & 255; };
    for (size_t i = 0; i < count; ++i) {
      ++places[value(from[i])];
    }
    uint32_t place = 0;
    for (uint32_t &entries : places) {
      place += std::exchange(entries, place);
    }
    for (size_t i = 0; i < count; ++i) {
      to[places[value(from[i])]++] = from[i];
    }
    std::swap(from, to);
  }
  std::copy(from, from + count, first); // an odd number of passes ends beside it
  for (Entry *run = first; run != end;) {
    Entry *next = run + 1;
    while (next != end && digits(*next) == digits(*run)) {
      ++next;
    }
    if (next - run > 1) {
      std::sort(run, next, before);
    }
    run = next;
  }
}

bool WindowRows::samePartition(const Entry &a, const Entry &b) const {
  return a.hash == b.hash && (hashDecides_ || keys_.compare(a.row, b.row) == 0);
}

bool WindowRows::arePeers(const Entry &a, const Entry &b) const {
  return a.prefix == b.prefix && (order_.isExact() || order_.compare(a.row, b.row) == 0);
}

Expected<JobPhase> WindowRows::mark() {
  return JobPhase{static_cast<int64_t>(ranges_.size()), [this](int, int64_t range) {
                    markRange(ranges_[range]);
                    return Status();
                  }};
}

void WindowRows::markRange(Range range) {
  for (uint64_t i = range.begin; i < range.end; ++i) {
    const Entry &entry = entries()[i];
    uint8_t flag = kPartition | kPeers;
    if (i > 0 && samePartition(entries()[i - 1], entry)) {
      flag = arePeers(entries()[i - 1], entry) ? 0 : kPeers;
    } else if (i > 0 && entries()[i - 1].hash == entry.hash) {
      collided_.store(true, std::memory_order_relaxed);
    }
    flags()[i] = flag;
    rows()[i] = entry.row;
  }
}

/// Partitions of one hash lie mixed in the order of their rows: rare enough to sort all again.
Expected<JobPhase> WindowRows::repair() {
  if (!collided_.load(std::memory_order_relaxed)) {
    return JobPhase{};
  }
  return JobPhase{1, [this](int, int64_t) {
                    std::sort(entries(), entries() + count_,
                              [this](const Entry &a, const Entry &b) {
                                int partition = a.hash == b.hash ? keys_.compare(a.row, b.row) : 0;
                                return partition != 0 ? partition < 0 : isBefore(a, b);
                              });
                    markRange({0, count_});
                    return Status();
                  }};
}

Expected<JobPhase> WindowRows::compute() {
  entries_.reset();
  // Ranges as they are, but for partitions that go over their ends.
  std::vector<Range> whole;
  uint64_t begin = 0;
  for (Range range : ranges_) {
    uint64_t end = range.end;
    if (end < begin) {
      continue; // the partition before goes beyond it
    }
    while (end < count_ && (flags()[end] & kPartition) == 0) {
      ++end;
    }
    if (end > begin) {
      whole.push_back({begin, end});
    }
    begin = end;
  }
  auto morsels = static_cast<int64_t>(whole.size());
  return JobPhase{morsels, [this, whole = std::move(whole)](int, int64_t range) {
                    return computeRange(whole[range]);
                  }};
}

Status WindowRows::computeRange(Range range) {
  WindowFunctions functions(state_);
  for (uint64_t begin = range.begin, end = begin; begin < range.end; begin = end) {
    for (end = begin + 1; end < range.end && (flags()[end] & kPartition) == 0; ++end) {
    }
    std::span<uint8_t *const> partition(rows() + begin, end - begin);
    HR_RETURN_IF_ERROR(functions.compute(
        partition, [&](uint32_t row) { return (flags()[begin + row] & kPeers) == 0; }));
  }
  return {};
}

} // namespace headrace::exec
