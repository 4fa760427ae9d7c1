// How much memory this process may use: the machine's, or what its control groups leave of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace headrace {

/// In bytes. Asks the system anew with every call.
int64_t usableMemoryBytes();

/// The least limit of the groups in `groups` (as /proc/self/cgroup has them, versions 1 and 2) and
/// of those around them, in the tree at `root`; INT64_MAX: none.
int64_t memoryLimitOfGroups(const std::string &groups, const std::filesystem::path &root);

} // namespace headrace
