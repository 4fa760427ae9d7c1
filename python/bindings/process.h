// What all queries of this process share, and what they are given.
#pragma once

#include "python/bindings/arrow_stream.h"
#include "python/bindings/tensors.h"
#include "runtime/base/settings.h"
#include "runtime/exec/program.h"
#include "runtime/storage/storage.h"

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headrace::python {

template <typename T> T valueOf(Expected<T> expected) {
  if (!expected.ok()) {
    raise(expected.status());
  }
  return *std::move(expected);
}

/// What all queries of the process share: open files with their pages, threads, memory.
class Process {
public:
  static Process &instance() { return *current(); }

  /// A child of fork has the memory of its parent, but none of its threads: it begins anew, and
  /// what the threads worked with is left as it is, since nothing would end it.
  static void beginAnewInChild() {
    (void)current().release();
    current() = std::make_unique<Process>();
  }

  const std::shared_ptr<storage::Storage> &storage() const { return storage_; }

  /// The GPU of the last run that asked for it in the same way; null: none is asked for, or there.
  Expected<std::shared_ptr<Accelerator>> accelerator(const Settings &settings);

  /// The session of the last run if it has the same threads, memory and GPU; runs under way keep
  /// theirs.
  std::shared_ptr<exec::Session> session(const exec::SessionOptions &options) {
    std::lock_guard lock(mutex_);
    if (!session_ || session_->options().threads != options.threads ||
        session_->options().memoryBytes != options.memoryBytes ||
        session_->options().accelerator != options.accelerator) {
      session_ = std::make_shared<exec::Session>(options);
    }
    return session_;
  }

private:
  static std::unique_ptr<Process> &current() {
    static auto process = std::make_unique<Process>();
    return process;
  }

  std::mutex mutex_;
  std::shared_ptr<storage::Storage> storage_ = std::make_shared<storage::Storage>();
  std::shared_ptr<Accelerator> accelerator_;
  std::string acceleratorAsked_;
  std::shared_ptr<exec::Session> session_;
};

/// An Arrow table read once, for statistics and any number of runs. Immutable.
struct ImportedTable {
  std::shared_ptr<const storage::ArrowTable> table;
};

std::shared_ptr<const storage::ArrowTable> arrowTableOf(nanobind::handle object);
bool isArrow(nanobind::handle object);
std::vector<std::string> pathsOf(nanobind::handle object);

/// An array in host memory; throws Error, with the tensor's name, if it is none.
TensorArgument tensorOf(nanobind::handle object, const std::string &name);

/// Of all that the caller offers only what the plan reads. `held` keeps bound arrays for the run.
exec::Bindings bind(const plan::Plan &plan, const nanobind::dict &offered,
                    std::vector<TensorArgument> &held);

/// By name. Throws Error for what is no setting, or no value of it.
void applySettings(Settings &settings, const std::map<std::string, std::string> &given);

/// What the tuner found under the environment's values, and the caller's over both. Throws Error.
Settings settingsOf(const std::map<std::string, std::string> &tuned,
                    const std::map<std::string, std::string> &given, std::optional<int> threads,
                    std::optional<int64_t> memory);

/// Throws Error with the name of the setting, if its trace cannot be written.
void checkTrace(const Settings &settings, const std::map<std::string, std::string> &given);

} // namespace headrace::python
