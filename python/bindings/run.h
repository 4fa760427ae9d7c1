// A loaded plan and its runs.
#pragma once

#include "python/bindings/part_rows.h"
#include "python/bindings/process.h"

#include <nanobind/nanobind.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headrace::python {

/// What a run gave. Immutable.
struct Result {
  std::shared_ptr<const exec::ResultRows> table;
  std::vector<exec::TensorResult> tensors;
  std::vector<KeptTensor> kept = {}; ///< those that stay on the ranks, instead
  /// Of a resident result: the rows of the ranks of this process; what is known of those of each
  /// rank, as statistics documents; and the columns by whose hash they are divided.
  std::vector<ImportedTable> parts = {};
  std::vector<std::string> partStatistics = {};
  std::vector<std::string> partKeys = {};
  /// Of one that goes into a sink, instead: the rows of the ranks of this process, or what each
  /// rank of a cluster has told of those that it has written.
  std::vector<PartRows> rows = {};
  std::vector<std::string> written = {};
};

/// RunOptions::progress; empty for None.
std::function<void(const exec::Progress &)> tellerOf(const nanobind::object &progress);

/// A loaded plan and the profile of its last run. Thread-safe.
class LoadedProgram {
public:
  explicit LoadedProgram(std::shared_ptr<const exec::Program> program)
      : program_(std::move(program)) {}

  Result run(const nanobind::dict &offered, uint32_t ranks, std::optional<int> threads,
             std::optional<int64_t> memory, std::optional<uint64_t> simulationSeed,
             const std::map<std::string, double> &faults,
             const std::map<std::string, std::string> &tuned,
             const std::map<std::string, std::string> &given, const nanobind::object &poll,
             const nanobind::object &progress, const std::string &sink,
             const std::vector<uint32_t> &keyShares);

  /// One rank of a run of so many, whose peers do what it does: what it sends and holds, as JSON.
  std::string mirrored(const nanobind::dict &offered, uint32_t ranks, uint32_t rank,
                       std::optional<int64_t> memory,
                       const std::map<std::string, std::string> &given) const;

  /// The result of a run of program(), once its trace is written. `sink`: where a resident one
  /// goes; empty: it is kept. Throws Error, or what a callback raised.
  Result take(Expected<exec::RunResult> result, const Settings &settings, const std::string &sink);

  const std::shared_ptr<const exec::Program> &program() const { return program_; }

  /// Of a run in another process.
  void keepProfile(const std::string &profile) {
    std::lock_guard lock(mutex_);
    profile_ = profile;
  }
  std::string profile() const {
    std::lock_guard lock(mutex_);
    return profile_;
  }

private:
  std::shared_ptr<const exec::Program> program_;
  mutable std::mutex mutex_;
  std::string profile_ = "{}";
};

} // namespace headrace::python
