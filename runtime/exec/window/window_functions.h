// Window functions over one partition at a time.
#pragma once

#include "runtime/exec/window/frames.h"

namespace headrace::exec {

/// Purpose: computes the fields of a window state for the rows of partitions. One a worker: keeps
/// its scratch from partition to partition. `state` must outlive it.
class WindowFunctions {
public:
  explicit WindowFunctions(const plan::State &state);

  /// Sets the computed fields of the rows of a partition, which are in order. `isPeer(i)`: row i
  /// has the order keys of the row before it.
  template <typename IsPeer> Status compute(std::span<uint8_t *const> rows, const IsPeer &isPeer) {
    partition_.rows = rows;
    partition_.group.clear();
    partition_.groupBegin.clear();
    if (needsPeers_) {
      for (uint32_t row = 0; row < rows.size(); ++row) {
        if (row == 0 || !isPeer(row)) {
          partition_.groupBegin.push_back(row);
        }
        partition_.group.push_back(static_cast<uint32_t>(partition_.groupBegin.size()) - 1);
      }
      partition_.groupBegin.push_back(static_cast<uint32_t>(rows.size()));
    }
    return computeAll();
  }

private:
  Status computeAll();
  Status compute(const plan::WindowColumn &window);
  void computeRank(const plan::WindowColumn &window);
  Status computeNtile(const plan::WindowColumn &window);
  void computeNeighbour(const plan::WindowColumn &window);
  void computeValue(const plan::WindowColumn &window);
  void computeCount(const plan::WindowColumn &window);
  Status computeFold(const plan::WindowColumn &window);
  template <typename Value, typename Fold> void fold(const plan::WindowColumn &window, Fold &&fold);
  template <typename Value> Status foldExtremes(const plan::WindowColumn &window);

  /// Lists the rows in which a field is not NULL.
  void listPresent(const plan::StateField &field);
  /// How many of those are before a row.
  uint32_t presentBefore(uint32_t row) const;
  /// Copies a field of a row (or NULL) into the result's of another row.
  void copyValue(const plan::WindowColumn &window, uint32_t row, const uint8_t *from,
                 int32_t field);
  /// The count of a function in a row; nothing if it is NULL.
  std::optional<int64_t> countOf(const plan::WindowColumn &window, uint32_t row) const;
  const plan::StateField &field(int32_t index) const { return state_.fields[index]; }

  const plan::State &state_;
  bool needsPeers_ = false;
  Partition partition_;
  Frames frames_;
  std::vector<uint32_t> present_;
};

} // namespace headrace::exec
