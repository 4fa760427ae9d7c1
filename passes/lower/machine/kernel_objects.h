// Kernels to objects: found in the cache, or compiled beside each other on all threads.
#pragma once

#include "passes/lower/machine/code_generator.h"
#include "passes/lower/machine/workers.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace headrace::lower {

/// Where compiled objects are kept, keyed by content. Either function may be empty. Thread-safe.
struct ObjectCache {
  std::function<bool(const std::string &key, std::vector<char> *object)> find;
  std::function<void(const std::string &key, const std::vector<char> &object)> put;
};

/// Generators that wait for their next kernel. Thread-safe.
class CodeGenerators {
public:
  /// One of those that wait, or a new one.
  std::unique_ptr<CodeGenerator> take(const CompileOptions &options);
  void giveBack(const CompileOptions &options, std::unique_ptr<CodeGenerator> generator);

private:
  std::mutex mutex_;
  std::map<std::pair<TargetIsa, Effort>, std::vector<std::unique_ptr<CodeGenerator>>> waiting_;
};

/// What compilations share. Outlives them, whatever becomes of them.
struct Backend {
  ObjectCache cache;
  CodeGenerators *generators = nullptr;
  Workers *workers = nullptr;
};

class KernelObjects {
public:
  explicit KernelObjects(const Backend &backend) : backend_(backend) {}

  /// `key` is that of the code's content.
  void add(KernelCode code, const std::string &key, const CompileOptions &options);

  /// The objects in the order in which they were added, whoever compiled them.
  mlir::FailureOr<std::vector<std::vector<char>>> finish(mlir::ModuleOp program);

  int compiled() const { return compiled_; }
  int cached() const { return cached_; }

private:
  /// Shared with the thread that compiles it.
  struct Job {
    KernelCode code;
    std::vector<char> object;
    std::string error;
  };
  Backend backend_;
  std::vector<std::shared_ptr<Job>> jobs_;
  int compiled_ = 0, cached_ = 0;
};

} // namespace headrace::lower
