// Units of work by kind ("terms"), and the seconds that they take on one core: what all costs of
// CPU ranks are made of.
#pragma once

#include "model/topology/topology.h"

#include <map>
#include <string>

namespace headrace::cost {

/// Units of work by term; see `assumedSeconds` for the names.
using Terms = std::map<std::string, double>;
void add(Terms &terms, const Terms &others);

/// Seconds that one unit of each term is assumed to take on a core of the early 2020s: what a
/// device has before it is calibrated, and what calibration leans to where measurements say
/// nothing.
const std::map<std::string, double> &assumedSeconds();

/// Σ units · seconds a unit on one core of the device.
double secondsOf(const topology::DeviceType &device, const Terms &terms);

} // namespace headrace::cost
