// A compiled program on disk, NAME.plan/:
//
//   plan.json                          the plan
//   kernels.ISA.so or kernels.so       its kernels; absent if it has none
//   manifest.json                      {table: identities of its files}; absent: nothing is checked
#pragma once

#include "runtime/exec/program.h"
#include "runtime/storage/identity.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::exec {

struct StoredPlan {
  std::shared_ptr<const Program> program;
  /// The files that the plan was compiled against, by slot.
  std::map<std::string, std::vector<storage::FileIdentity>> manifest;
};

/// Errors: kIo for a file that cannot be read, kCorrupt and kMismatch as plan::fromJson and
/// Program::load give them; each names the file.
Expected<StoredPlan> loadPlanDirectory(const std::string &path);

} // namespace headrace::exec
