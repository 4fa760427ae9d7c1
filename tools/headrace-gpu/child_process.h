// ChildProcess: a part of the work in a process of its own, with an end to its time.
#pragma once

#include <string>
#include <vector>

namespace headrace::gpu {

struct ChildResult {
  std::string output; ///< what it wrote
  std::string errors; ///< the end of what it wrote beside
  /// Empty if it ended by itself with 0; else how it ended.
  std::string failure;
};

/// Runs a program to its end, or kills it after `seconds`; one that cannot be killed (in a hanging
/// driver) is left behind.
ChildResult runChild(const std::vector<std::string> &words, double seconds);

} // namespace headrace::gpu
