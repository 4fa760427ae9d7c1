// Reads figures with their provenance: a number, or {"v", "eff", "rel_err", "kind", "src", "date"}.
// Private to model/topology.
#pragma once

#include "model/topology/json_reader.h"
#include "model/topology/topology.h"

namespace headrace::topology {

/// What figures say of themselves where they say nothing, and what `src` may name.
struct FigureDefaults {
  double relativeError = 0.15;
  Provenance provenance;
  const std::map<std::string, Source> *sources = nullptr;
};

enum class Bound : uint8_t { kPositive, kNotNegative };

/// The figure of a value; fails on the reader.
Quantity readFigure(JsonReader &value, Bound bound, const FigureDefaults &defaults);
/// The figure under a key, or `fallback`, with the defaults' error and provenance.
Quantity readFigure(JsonReader &object, const char *key, Presence presence, Bound bound,
                    const FigureDefaults &defaults, double fallback = 0);
/// The keys "kind", "src" and "date" of an object.
Provenance readProvenance(JsonReader &object, const FigureDefaults &defaults);
/// The key "rel_err" of an object.
double readRelativeError(JsonReader &object, double fallback);
/// "2025", "2025-08" or "2025-08-21" under "date"; fails on the reader otherwise.
std::string readDate(JsonReader &object, std::string fallback);

} // namespace headrace::topology
