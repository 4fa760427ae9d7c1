// The agreement: rows of all ranks by their sketches, then key after key from the busiest ranks.
#include "runtime/exec/skew/heavy_keys.h"

#include "runtime/primitives/hash/hash.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace headrace::exec {
namespace {

/// Keys with a route of their own; fewer than half of a table's slots.
constexpr size_t kRoutedMax = 96;
/// A rank with so much more than the mean is relieved of keys.
constexpr double kFullest = 1.05;
/// Keys with less than this part of what a rank has on the mean are left.
constexpr double kLeastPart = 1.0 / 32;
/// Rows that go to any rank stay if no rank has so many times the mean of them.
constexpr double kStayFullest = 1.15;

constexpr size_t kHeadWords = 4;

double shareOf(const KeySketch &sketch, uint64_t count) {
  return sketch.sampled == 0 ? 0
                             : static_cast<double>(sketch.rows) * static_cast<double>(count) /
                                   static_cast<double>(sketch.sampled);
}

/// A key as all ranks have it.
struct Candidate {
  uint64_t hash = 0;
  std::array<double, 2> rows = {};   ///< by side
  std::array<uint64_t, 2> most = {}; ///< by side: that one rank certainly has
  double pairs = 0;                  ///< of rows that meet

  double weight() const { return rows[0] + rows[1] + pairs; }
};

class Agreement {
public:
  Agreement(const std::array<SkewedSide, 2> &sides, bool exact, const KeyShares &shares)
      : sides_(sides), exact_(exact), shares_(shares), ranks_(shares.ranks()), loads_(ranks_, 0.0) {
  }

  std::array<KeyRoutes, 2> run() {
    addLoads();
    spreadNulls();
    const std::vector<Candidate> all = candidates();
    for (const Candidate &key : all) {
      add(shares_.rankOf(key.hash), key.pairs);
    }
    for (const Candidate &key : all) {
      if (std::max(keys_[0].size(), keys_[1].size()) == kRoutedMax ||
          key.weight() < kLeastPart * mean()) {
        break;
      }
      relieve(key);
    }
    std::array<KeyRoutes, 2> routes;
    for (size_t side : {0, 1}) {
      routes[side] = KeyRoutes(keys_[side], shares_);
      routes[side].spreadsNulls = spreadsNulls_[side];
      routes[side].stays = stays(side);
    }
    return routes;
  }

private:
  bool mayBeOnce(size_t side) const {
    return exact_ && sides_[side].heavy == plan::HeavyRows::kOnce;
  }
  double mean() const {
    return std::accumulate(loads_.begin(), loads_.end(), 0.0) / static_cast<double>(ranks_);
  }
  /// Rows and pairs of a rank; fewer than none it never has.
  void add(uint32_t rank, double rows) {
    loads_[rank] = std::max(0.0, loads_[rank] + rows / shares_.against(rank));
  }

  void addLoads() {
    for (const SkewedSide &side : sides_) {
      for (const KeySketch &sketch : side.sketches) {
        uint64_t seen = std::accumulate(sketch.loads.begin(), sketch.loads.end(), uint64_t{0});
        for (uint32_t rank = 0; rank < ranks_ && seen != 0; ++rank) {
          add(rank, static_cast<double>(sketch.rows) * static_cast<double>(sketch.loads[rank]) /
                        static_cast<double>(seen));
        }
      }
    }
  }

  /// They match nothing, so they may be anywhere. Where several keys have NULLs, their ranks are
  /// not known.
  void spreadNulls() {
    for (size_t side : {0, 1}) {
      double nulls = 0;
      for (const KeySketch &sketch : sides_[side].sketches) {
        nulls += shareOf(sketch, sketch.nulls);
      }
      spreadsNulls_[side] = nulls > kLeastPart * mean();
      if (spreadsNulls_[side]) {
        add(shares_.rankOf(primitives::kNullHash), -nulls);
        giveAll(nulls / static_cast<double>(ranks_));
      }
    }
  }

  std::vector<Candidate> candidates() const {
    std::map<uint64_t, Candidate> byHash;
    for (size_t side : {0, 1}) {
      for (const KeySketch &sketch : sides_[side].sketches) {
        for (const KeySketch::Entry &entry : sketch.heaviest) {
          Candidate &key = byHash[entry.hash];
          key.hash = entry.hash;
          key.rows[side] += shareOf(sketch, entry.count);
          key.most[side] = std::max(key.most[side], entry.count);
        }
      }
    }
    std::vector<Candidate> all;
    for (auto &[hash, key] : byHash) {
      bool each = sides_[0].heavy == plan::HeavyRows::kOnce ||
                  sides_[1].heavy == plan::HeavyRows::kOnce; // a row needs one other
      key.pairs = each ? std::max(key.rows[0], key.rows[1])
                       : std::max(key.rows[0], 1.0) * std::max(key.rows[1], 1.0);
      all.push_back(key);
    }
    std::stable_sort(all.begin(), all.end(), [](const Candidate &a, const Candidate &b) {
      return a.weight() > b.weight();
    });
    return all;
  }

  void giveAll(double rows) {
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      add(rank, rows);
    }
  }

  bool maySpread(const Candidate &key, size_t side) const {
    switch (sides_[side].heavy) {
    case plan::HeavyRows::kSpread:
      return true;
    case plan::HeavyRows::kCover: // one rank must have enough of them for all
      return exact_ && key.most[side] >= ranks_;
    case plan::HeavyRows::kStay:
    case plan::HeavyRows::kOnce:
      break;
    }
    return false;
  }

  void relieve(const Candidate &key) {
    const auto ranks = static_cast<double>(ranks_);
    const uint32_t owner = shares_.rankOf(key.hash);
    auto hasTooMuch = [&] { return loads_[owner] > kFullest * mean(); };
    if (!hasTooMuch()) {
      return;
    }
    std::array<double, 2> rows = key.rows;
    std::array<KeyRoute, 2> routes = {KeyRoute::kOwn, KeyRoute::kOwn};
    for (size_t side : {0, 1}) {
      if (mayBeOnce(side) && rows[side] > ranks) {
        add(owner, ranks - rows[side]);
        rows[side] = ranks;
        routes[side] = KeyRoute::kOnce;
      }
    }
    size_t larger = rows[1] > rows[0] ? 1 : 0;
    size_t spread = maySpread(key, larger) ? larger : 1 - larger;
    const double copied = std::max(rows[1 - spread], 1.0), moved = rows[spread] + key.pairs;
    if (maySpread(key, spread) && copied * ranks < moved && hasTooMuch()) {
      add(owner, -moved - copied);
      giveAll(moved / ranks + copied);
      routes[spread] =
          sides_[spread].heavy == plan::HeavyRows::kCover ? KeyRoute::kCover : KeyRoute::kSpread;
      routes[1 - spread] =
          routes[1 - spread] == KeyRoute::kOnce ? KeyRoute::kOnceCopy : KeyRoute::kCopy;
    }
    for (size_t side : {0, 1}) {
      if (routes[side] != KeyRoute::kOwn) {
        keys_[side].push_back({key.hash, routes[side]});
      }
    }
  }

  bool stays(size_t side) const {
    std::vector<double> spread(ranks_, 0.0);
    for (size_t rank = 0; rank < ranks_; ++rank) {
      const KeySketch &sketch = sides_[side].sketches[rank];
      spread[rank] += spreadsNulls_[side] ? shareOf(sketch, sketch.nulls) : 0;
      for (const KeySketch::Entry &entry : sketch.heaviest) {
        for (const KeyRoutes::Key &key : keys_[side]) {
          bool any = key.route == KeyRoute::kSpread || key.route == KeyRoute::kCover;
          spread[rank] += any && key.hash == entry.hash ? shareOf(sketch, entry.count) : 0;
        }
      }
    }
    double all = std::accumulate(spread.begin(), spread.end(), 0.0);
    double most = *std::max_element(spread.begin(), spread.end());
    return most * static_cast<double>(ranks_) <= kStayFullest * all;
  }

  const std::array<SkewedSide, 2> &sides_;
  const bool exact_;
  const KeyShares &shares_;
  const uint32_t ranks_;
  std::vector<double> loads_; ///< by rank: rows of both sides, and pairs, against its share
  std::array<bool, 2> spreadsNulls_ = {};
  std::array<std::vector<KeyRoutes::Key>, 2> keys_;
};

} // namespace

std::vector<uint64_t> KeySketch::encode(int64_t bytes) const {
  std::vector<uint64_t> words{rows, sampled, nulls, loads.size()};
  words.insert(words.end(), loads.begin(), loads.end());
  for (const Entry &entry : heaviest) {
    if (static_cast<int64_t>((words.size() + 2) * sizeof(uint64_t)) > bytes) {
      break;
    }
    words.push_back(entry.hash);
    words.push_back(entry.count);
  }
  return words;
}

Expected<KeySketch> KeySketch::decode(std::span<const uint64_t> words, size_t ranks) {
  if (words.size() < kHeadWords + ranks || words[3] != ranks ||
      (words.size() - kHeadWords - ranks) % 2 != 0) {
    return makeError(ErrorKind::kCorrupt, "not a sketch of keys for ranks: ", ranks,
                     ", got words: ", words.size());
  }
  KeySketch sketch;
  sketch.rows = words[0];
  sketch.sampled = words[1];
  sketch.nulls = words[2];
  words = words.subspan(kHeadWords);
  sketch.loads.assign(words.begin(), words.begin() + static_cast<ptrdiff_t>(ranks));
  for (words = words.subspan(ranks); !words.empty(); words = words.subspan(2)) {
    sketch.heaviest.push_back({words[0], words[1]});
  }
  return sketch;
}

KeyRoutes::KeyRoutes(std::vector<Key> keys, const KeyShares &shares)
    : keys_(std::move(keys)), concerned_(shares.ranks(), 0) {
  for (size_t key = 0; key < keys_.size(); ++key) {
    size_t slot = keys_[key].hash & (kSlots - 1);
    while (slots_[slot] >= 0) {
      slot = (slot + 1) & (kSlots - 1);
    }
    slots_[slot] = static_cast<int16_t>(key);
    concerned_[shares.rankOf(keys_[key].hash)] = 1;
  }
}

std::array<KeyRoutes, 2> agreeOnRoutes(const std::array<SkewedSide, 2> &sides, bool exact,
                                       const KeyShares &shares) {
  return Agreement(sides, exact, shares).run();
}

} // namespace headrace::exec
