// What the ranks of other processes measured, on its way to the first.
#pragma once

#include "runtime/exec/program.h"

#include <vector>

namespace headrace::run {

/// Purpose: files in memory that forked ranks inherit: each fills its own, and the first reads them
/// when all have ended. Make it before the fork. Not thread-safe.
class RankReports {
public:
  static Expected<RankReports> create(int ranks);
  ~RankReports();
  RankReports(RankReports &&other) noexcept : files_(std::move(other.files_)) {}
  RankReports(const RankReports &) = delete;
  RankReports &operator=(const RankReports &) = delete;

  /// In the process of a rank that is not the first.
  Status put(int rank, const exec::RunResult &result) const;
  /// In the first: adds profiles and traces of the others to its own.
  Status addTo(exec::RunResult &result) const;

private:
  RankReports() = default;
  std::vector<int> files_;
};

} // namespace headrace::run
