// Figures that nobody measured: guesses, and what datasheets state.
#pragma once

#include "model/topology/assumed_machine.h"
#include "model/topology/topology.h"

namespace headrace::topo {

// What people derive from datasheets by rules for like systems.
constexpr double kRuleError = 0.2;

inline topology::Quantity assumed(double value, double relativeError = topology::kAssumedError) {
  topology::Quantity quantity(value, relativeError);
  quantity.provenance.origin = topology::Origin::kAssumed;
  return quantity;
}

inline topology::Quantity datasheet(double nominal, double efficiency) {
  topology::Quantity quantity(nominal, kRuleError);
  quantity.efficiency = efficiency;
  quantity.value = nominal * efficiency;
  quantity.provenance.origin = topology::Origin::kDatasheet;
  return quantity;
}

} // namespace headrace::topo
