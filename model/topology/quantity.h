// A figure of a topology: its value, how far it may be off, and where it comes from.
#pragma once

#include <cstdint>
#include <string>

namespace headrace::topology {

enum class Origin : uint8_t {
  kAssumed,   ///< a guess, or a rule carried over from like systems
  kDatasheet, ///< the maker's figure
  kMeasured,  ///< seen on such a system
  kFitted,    ///< solved for, from measurements
};
/// "assumed", "datasheet", "measured", "fitted".
const char *originName(Origin origin);

struct Provenance {
  Origin origin = Origin::kAssumed;
  std::string source; ///< key into Topology::sources, or empty
  std::string date;   ///< "2025", "2025-08", "2025-08-21", or empty
  bool operator==(const Provenance &) const = default;
};

/// A figure in SI units. Reads as its value wherever a number is wanted.
struct Quantity {
  Quantity() = default;
  Quantity(double value, double relativeError = 0.15)
      : value(value), relativeError(relativeError), nominal(value) {}
  operator double() const { return value; }

  double value = 0;            ///< what is achieved: nominal × efficiency
  double relativeError = 0.15; ///< 0.15 = 15 %
  double nominal = 0;          ///< what the source states
  double efficiency = 1;       ///< the part of it that is achieved
  Provenance provenance;
};

} // namespace headrace::topology
