// headrace-run as a function: the driver of its GPUs is another one in tests.
#pragma once

#include <string>
#include <vector>

#include "runtime/device/cuda/open_accelerator.h"

namespace headrace::run {

/// Exit status: 0; 2 for a user's error; 1 for any other.
int runMain(const std::vector<std::string> &arguments, const cuda::FindDriver &driver);

} // namespace headrace::run
