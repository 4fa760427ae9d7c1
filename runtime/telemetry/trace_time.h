// Times in traces.
#pragma once

#include <cstdint>

namespace headrace {

/// Microseconds in steps of 125 ns, rounded down. Eighths are exact in binary and times 1000 whole
/// numbers: Perfetto multiplies and cuts, and drops a span that then ends a nanosecond after the
/// one around it.
inline double traceMicroseconds(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds / 125) * 0.125;
}

} // namespace headrace
