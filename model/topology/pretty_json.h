// Prints JSON for people: what fits on a line stands on one, numbers in their shortest form.
// Private to model/topology.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace headrace::topology {

/// Ends in a newline. The document must be shallow (it is printed by recursion).
std::string prettyJson(const nlohmann::ordered_json &document);

} // namespace headrace::topology
