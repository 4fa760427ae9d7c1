// sysconf and the files of control groups; what cannot be read limits nothing.
#include "runtime/base/usable_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <unistd.h>

namespace headrace {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

/// A number of bytes; "max" and what is absent are none.
int64_t limitIn(const std::filesystem::path &file) {
  std::ifstream in(file);
  int64_t bytes = 0;
  return in >> bytes && bytes > 0 ? bytes : kNone;
}

/// Of a group and all around it.
int64_t limitUpwards(const std::filesystem::path &root, const std::string &group,
                     const char *file) {
  int64_t least = limitIn(root / file);
  std::filesystem::path folder = root;
  for (const std::filesystem::path &part : std::filesystem::path(group).relative_path()) {
    folder /= part;
    least = std::min(least, limitIn(folder / file));
  }
  return least;
}

} // namespace

int64_t memoryLimitOfGroups(const std::string &groups, const std::filesystem::path &root) {
  int64_t least = kNone;
  std::istringstream lines(groups);
  // "0::/path" of version 2; "7:cpu,memory:/path" of version 1.
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(least, limitUpwards(root, group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, limitUpwards(root / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

int64_t usableMemoryBytes() {
  const int64_t machine = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream groups;
  groups << file.rdbuf();
  return std::min(machine, memoryLimitOfGroups(groups.str(), "/sys/fs/cgroup"));
}

} // namespace headrace
