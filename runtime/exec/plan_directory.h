// A compiled program on disk, NAME.plan/:
//
//   plan.json                          the plan
//   kernels.ISA.so or kernels.so       its kernels; absent if it has none
//   manifest.json                      {table: identities of its files}; absent: nothing is checked
#pragma once

#include "runtime/exec/program.h"
#include "runtime/storage/files/identity.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::exec {

/// The files that a plan was compiled against, by slot.
using Manifest = std::map<std::string, std::vector<storage::FileIdentity>>;

struct StoredPlan {
  std::shared_ptr<const Program> program;
  Manifest manifest;
  // What they were made of.
  std::string planText;
  std::string kernels;
  std::string manifestText;
};

/// Errors: kIo for a file that cannot be read, kCorrupt and kMismatch as plan::fromJson and
/// Program::load give them; each names the file.
Expected<StoredPlan> loadPlanDirectory(const std::string &path);

/// Of the text of a plan and the object file of its kernels, which is empty if it has none.
Expected<std::shared_ptr<const Program>> loadProgram(const std::string &planText,
                                                     const std::string &kernels);

/// Of a manifest's text; an empty one names no files.
Expected<Manifest> parseManifest(const std::string &text);

} // namespace headrace::exec
