// Short measurements of this machine: memory, arithmetic, hand-over between threads, codecs, GPUs,
// a disk.
#pragma once

#include "tools/headrace-topo/node_structure.h"

#include <functional>
#include <string>

namespace headrace::topo {

/// Told before each measurement what it is, and after it what came out.
using Progress = std::function<void(const std::string &line)>;

struct MeasureOptions {
  int64_t threads = 1;
  double cacheBytes = 0;  ///< of the largest cache: buffers are made well beyond it
  int64_t gpus = 0;       ///< that were found; 0: their driver is left alone
  double memoryBytes = 0; ///< of the machine: buffers take a small part
  std::string diskFolder; ///< a file is made here, without a name
};

/// Takes about six seconds. What cannot be measured is left at 0, and `progress` told why.
Rates measureRates(const MeasureOptions &options, const Progress &progress);

} // namespace headrace::topo
