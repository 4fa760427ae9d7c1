// Operations per second of one core: multiply-adds on vectors, and integers one by one.
#pragma once

#include "tools/headrace-topo/node_structure.h"

#include <map>
#include <string>

namespace headrace::topo {

/// "f32", "f64" (flop/s) and "scalar" (integer operations per second). Each run takes `seconds`.
std::map<std::string, Measured> measureArithmetic(double seconds);

} // namespace headrace::topo
