// What is known of a table, from what is known of its parts.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

namespace headrace::storage {

/// The statistics document of a table whose parts have these. The number of distinct values is that
/// of the part with most, or their sum if most rows of that part differ.
nlohmann::json unitedStatistics(std::span<const nlohmann::json> parts);

} // namespace headrace::storage
