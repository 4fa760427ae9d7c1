// Measured collectives (schema measurements/1): what the cost model is fitted to and judged by.
#pragma once

#include "model/cost/curve.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::cost {

/// One measured time. `groups` of `shape.members` ranks each ran at once.
struct Measurement {
  std::string source; ///< who measured it
  std::string system; ///< on what
  topology::CollectiveKind kind = topology::CollectiveKind::kAllReduce;
  GroupShape shape;
  int64_t groups = 1;
  double bytes = 0; ///< the whole buffer of one rank: input, or output of all_gather
  double seconds = 0;
};

struct Measurements {
  std::vector<Measurement> points;
  /// Datasheet bytes per second of one rank's link, per direction, for systems where it is known.
  std::map<std::string, double> linkBandwidth;
  /// What is known of those that `Measurement::source` names.
  std::map<std::string, topology::Source> sources;
};

/// Errors are of kind kUser and open with the JSON path.
Expected<Measurements> parseMeasurements(std::string_view json);

} // namespace headrace::cost
