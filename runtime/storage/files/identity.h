// What makes a file the same file: the manifest entry that a plan is bound to.
#pragma once

#include "runtime/base/status.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::storage {

/// A changed size, modification time or footer makes statistics and plans stale.
struct FileIdentity {
  std::string path;
  uint64_t bytes = 0;
  int64_t modifiedNanoseconds = 0; ///< since 1970
  uint64_t footerHash = 0;

  bool operator==(const FileIdentity &) const = default;
};

/// {"path", "bytes", "modified_nanoseconds", "footer_hash" (hexadecimal text)} per file.
nlohmann::json toJson(const std::vector<FileIdentity> &manifest);
Expected<std::vector<FileIdentity>> manifestFromJson(const nlohmann::json &document);

} // namespace headrace::storage
