// Keeping, sketching and dividing; see heavy_keys.h for what the routes are.
#include "runtime/exec/skew/skew_division.h"

#include "runtime/base/check.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace headrace::exec {
namespace {

/// Bytes of the rows that are kept, and of how many the keys are looked at.
constexpr uint64_t kKeptBytes = 8 << 20;
constexpr uint64_t kSampledRows = 4096;
/// A key is told if so many rows of the sample have it, and of these the most frequent.
constexpr uint64_t kCountMin = 4;
constexpr size_t kToldMax = 128;
/// Rows that a rank may still send, where neither the estimate nor the end of its input says it.
constexpr uint64_t kUnknownTimes = 4;

} // namespace

SkewPair::SkewPair(std::shared_ptr<const KeyShares> shares)
    : shares_(std::move(shares)), untold_(2 * size_t{shares_->ranks()}) {
  for (SkewedSide &side : sides_) {
    side.sketches.resize(shares_->ranks());
  }
}

void SkewPair::open(size_t side, plan::HeavyRows heavy, bool exact) {
  std::lock_guard lock(mutex_);
  sides_[side].heavy = heavy;
  exact_ &= exact;
}

void SkewPair::tell(size_t side, size_t rank, KeySketch sketch) {
  std::lock_guard lock(mutex_);
  sides_[side].sketches[rank] = std::move(sketch);
  --untold_;
  begun_[side] = true;
}

bool SkewPair::hasBegun(size_t side) const {
  std::lock_guard lock(mutex_);
  return begun_[side];
}

bool SkewPair::complete() const {
  std::lock_guard lock(mutex_);
  return untold_ == 0;
}

const KeyRoutes &SkewPair::routes(size_t side) {
  std::lock_guard lock(mutex_);
  HR_CHECK(untold_ == 0);
  if (!agreed_) {
    routes_ = agreeOnRoutes(sides_, exact_, *shares_);
    agreed_ = true;
  }
  return routes_[side];
}

SkewDivision::SkewDivision(const plan::ExchangeTask &task, const plan::Stream &stream,
                           plan::GroupPlace place, std::shared_ptr<SkewPair> pair, size_t side,
                           Feed feed, std::shared_ptr<MemoryAccount> account)
    : task_(task), stream_(stream), place_(place), pair_(std::move(pair)), side_(side), feed_(feed),
      account_(std::move(account)), nextRank_(place.index), each_(place.count) {
  pair_->open(side, task.heavy, hashesAreExact(stream.schema, task.keys));
}

Status SkewDivision::keep(ChunkStream &input) {
  uint64_t bytes = 0;
  for (const ChunkHandle &chunk : kept_) {
    bytes += chunk->bytes();
  }
  while (keptRows_ < kKeptRows && bytes < kKeptBytes) {
    ChunkHandle chunk = input.tryPop();
    if (!chunk) {
      break;
    }
    if (chunk->pooled) {
      HR_ASSIGN_OR_RETURN(chunk, copyChunk(*chunk, stream_.schema, account_));
    }
    keptRows_ += chunk->rows;
    bytes += chunk->bytes();
    kept_.push_back(std::move(chunk));
  }
  rowsTaken_ = keptRows_;
  keptAll_ = input.ended();
  if (keptAll_ || keptRows_ >= kKeptRows || bytes >= kKeptBytes || isUrged()) {
    step_ = Step::kTell;
  }
  return {};
}

KeySketch SkewDivision::sketch() {
  KeySketch sketch;
  sketch.rows = keptAll_ ? keptRows_ : std::max(stream_.rows.expected, kUnknownTimes * keptRows_);
  sketch.loads.assign(place_.count, 0);
  const auto step = static_cast<uint32_t>(std::max<uint64_t>(keptRows_ / kSampledRows, 1));
  std::unordered_map<uint64_t, uint64_t> counts;
  counts.reserve(2 * kSampledRows);
  uint32_t first = 0;
  for (const ChunkHandle &chunk : kept_) {
    sketch.loads[static_cast<size_t>(chunk->target)] += chunk->rows;
    hashKeys(*chunk, stream_.schema, task_.keys, first, step, hashes_);
    sketch.sampled += hashes_.hashes.size();
    for (size_t i = 0; i < hashes_.hashes.size(); ++i) {
      bool null = !hashes_.null.empty() && hashes_.null[i] != 0;
      if (null) {
        ++sketch.nulls;
      } else {
        ++counts[hashes_.hashes[i]];
      }
    }
    // Every so many rows one, whichever chunk it is in.
    first = static_cast<uint32_t>((first + hashes_.hashes.size() * uint64_t{step}) - chunk->rows);
  }
  for (auto [hash, count] : counts) {
    if (count >= kCountMin) {
      sketch.heaviest.push_back({hash, count});
    }
  }
  std::sort(sketch.heaviest.begin(), sketch.heaviest.end(),
            [](const KeySketch::Entry &a, const KeySketch::Entry &b) {
              return a.count != b.count ? a.count > b.count : a.hash < b.hash;
            });
  sketch.heaviest.resize(std::min(sketch.heaviest.size(), kToldMax));
  return sketch;
}

void SkewDivision::tell(const BufferRef &body) {
  std::vector<uint64_t> words = sketch().encode(body.capacity());
  const size_t bytes = words.size() * sizeof(uint64_t);
  body.resize(static_cast<int64_t>(bytes));
  std::memcpy(body.mutableData(), words.data(), bytes);
  body.seal();
  // What the others read is what counts here too.
  Expected<KeySketch> told = KeySketch::decode(words, place_.count);
  HR_CHECK(told.ok());
  pair_->tell(side_, place_.index, std::move(*told));
  step_ = Step::kAgree;
}

Status SkewDivision::hear(int peer, const BufferRef &body) {
  std::vector<uint64_t> words(body ? static_cast<size_t>(body.size()) / sizeof(uint64_t) : 0);
  if (!words.empty()) {
    std::memcpy(words.data(), body.data(), words.size() * sizeof(uint64_t));
  }
  HR_ASSIGN_OR_RETURN(KeySketch sketch, KeySketch::decode(words, place_.count));
  pair_->tell(side_, static_cast<size_t>(peer), std::move(sketch));
  return {};
}

bool SkewDivision::concerns(const Chunk &chunk) const {
  bool nulls = routes_->spreadsNulls &&
               std::any_of(task_.keys.begin(), task_.keys.end(),
                           [&](int32_t key) { return chunk.segments[key].validity != nullptr; });
  return nulls || routes_->concerns(static_cast<uint32_t>(chunk.target));
}

Expected<ChunkHandle> SkewDivision::next(ChunkStream &input) {
  if (step_ == Step::kAgree) {
    routes_ = &pair_->routes(side_);
    given_.assign(routes_->keys().size(), 0);
    step_ = Step::kRoute;
  }
  while (pieces_.empty()) {
    ChunkHandle chunk;
    if (kept_.empty()) {
      chunk = input.tryPop();
      rowsTaken_ += chunk ? chunk->rows : 0;
    } else {
      chunk = std::move(kept_.front());
      kept_.pop_front();
    }
    if (!chunk || !concerns(*chunk)) {
      return chunk;
    }
    HR_RETURN_IF_ERROR(divide(std::move(chunk)));
  }
  ChunkHandle piece = std::move(pieces_.front());
  pieces_.pop_front();
  return piece;
}

/// Of rows that may go to any: all of a chunk to one, since few large pieces cost less.
int32_t SkewDivision::anyRank() {
  if (routes_->stays) {
    return static_cast<int32_t>(place_.index);
  }
  nextRank_ = (nextRank_ + 1) % place_.count;
  return static_cast<int32_t>(nextRank_);
}

void SkewDivision::place(uint32_t row, uint64_t hash, bool null) {
  const int32_t key = null ? -1 : routes_->find(hash);
  if (key < 0) {
    (null && routes_->spreadsNulls ? any_ : own_).push_back(row);
    return;
  }
  uint32_t &given = given_[static_cast<size_t>(key)];
  switch (routes_->keys()[static_cast<size_t>(key)].route) {
  case KeyRoute::kOwn:
    own_.push_back(row);
    return;
  case KeyRoute::kSpread:
    any_.push_back(row);
    return;
  case KeyRoute::kCover:
    if (given < place_.count) {
      each_[given++].push_back(row);
    } else {
      any_.push_back(row);
    }
    return;
  case KeyRoute::kCopy:
    all_.push_back(row);
    return;
  case KeyRoute::kOnce:
    if (given++ == 0) {
      own_.push_back(row);
    }
    return;
  case KeyRoute::kOnceCopy:
    if (given++ == 0) {
      all_.push_back(row);
    }
    return;
  }
}

Status SkewDivision::addPiece(const Chunk &chunk, std::span<const uint32_t> rows, int32_t target) {
  if (rows.empty()) {
    return {};
  }
  HR_ASSIGN_OR_RETURN(auto piece, takePiece(chunk, stream_.schema, rows, target, account_));
  pieces_.push_back(std::move(piece));
  return {};
}

Status SkewDivision::divide(ChunkHandle chunk) {
  hashKeys(*chunk, stream_.schema, task_.keys, 0, 1, hashes_);
  for (uint32_t row = 0; row < chunk->rows; ++row) {
    place(row, hashes_.hashes[row], !hashes_.null.empty() && hashes_.null[row] != 0);
  }
  heavyRows_ += chunk->rows - own_.size();
  if (own_.size() == chunk->rows) {
    pieces_.push_back(chunk);
  } else {
    HR_RETURN_IF_ERROR(addPiece(*chunk, own_, chunk->target));
    HR_RETURN_IF_ERROR(addPiece(*chunk, all_, kAllRanks));
    if (!any_.empty()) {
      HR_RETURN_IF_ERROR(addPiece(*chunk, any_, anyRank()));
    }
    for (size_t rank = 0; rank < each_.size(); ++rank) {
      HR_RETURN_IF_ERROR(addPiece(*chunk, each_[rank], static_cast<int32_t>(rank)));
      each_[rank].clear();
    }
  }
  own_.clear();
  all_.clear();
  any_.clear();
  return {};
}

} // namespace headrace::exec
