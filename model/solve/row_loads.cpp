// Blocks of rows: most changes stay far from any limit.
#include "model/solve/row_loads.h"

#include <algorithm>
#include <limits>

namespace headrace::solve {
namespace {
constexpr int32_t kBlock = 64;
// Sums of bytes and limits are exact far beyond any rounding that matters; this much over is not
// over.
constexpr double kSlack = 1e-12;
} // namespace

RowLoads::RowLoads(const MemoryUses &uses)
    : uses_(uses), most_((uses.rowCount() + kBlock - 1) / kBlock),
      limitMin_(most_.size(), std::numeric_limits<double>::infinity()) {
  for (size_t row = 0; row < uses.rowCount(); ++row) {
    double &limit = limitMin_[row / kBlock];
    limit = std::min(limit, uses.limit()[row]);
  }
}

bool RowLoads::isOver(size_t row) const { return load_[row] > uses_.limit()[row] * (1 + kSlack); }

void RowLoads::start(const Choice &choice) {
  uses_.load(choice, load_);
  excess_ = 0;
  over_ = 0;
  for (size_t row = 0; row < load_.size(); ++row) {
    double limit = uses_.limit()[row];
    excess_ += std::max(0.0, load_[row] - limit) / limit;
    over_ += isOver(row);
  }
  for (size_t block = 0; block < most_.size(); ++block) {
    measure(static_cast<int32_t>(block));
  }
}

void RowLoads::measure(int32_t block) {
  auto begin = load_.begin() + static_cast<std::ptrdiff_t>(block) * kBlock;
  auto end = load_.end() - begin > kBlock ? begin + kBlock : load_.end();
  most_[block] = *std::max_element(begin, end);
}

void RowLoads::add(RowRange rows, double change) {
  for (int32_t first = rows.first; first < rows.last;) {
    int32_t block = first / kBlock;
    int32_t last = std::min(rows.last, (block + 1) * kBlock);
    double most = most_[block] + std::max(0.0, change);
    if (most <= limitMin_[block]) {
      most_[block] = most;
      for (int32_t row = first; row < last; ++row) {
        load_[row] += change;
      }
    } else {
      addNear(block, {first, last}, change);
    }
    first = last;
  }
}

void RowLoads::addNear(int32_t block, RowRange rows, double change) {
  for (int32_t row = rows.first; row < rows.last; ++row) {
    double limit = uses_.limit()[row];
    double held = load_[row];
    double now = held + change;
    if (std::max(now, held) > limit) {
      excess_ += (std::max(0.0, now - limit) - std::max(0.0, held - limit)) / limit;
      over_ -= isOver(row);
      load_[row] = now;
      over_ += isOver(row);
    } else {
      load_[row] = now;
    }
  }
  measure(block);
}

void RowLoads::shift(int32_t node, int32_t from, int32_t to) {
  for (const MemoryUses::Use &use : uses_.of(node)) {
    double change = uses_.bytes(use)[to] - uses_.bytes(use)[from];
    if (change != 0) {
      add(use.rows, change);
    }
  }
}

} // namespace headrace::solve
