// What is at a quantile, for the compiler and for functions of lists.
#pragma once

#include <cstdint>

namespace headrace {

enum class QuantileKind : uint8_t {
  kDiscrete, ///< the first value that is not in front of the share
  kBetween,  ///< what is between two values
  kRounded,  ///< that, rounded to the values' units
  kFront,    ///< the one of the two that is in front
};

} // namespace headrace
