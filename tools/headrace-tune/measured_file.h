// Measurements of plans in a file, so that changes to the cost model are judged by the same ones.
#pragma once

#include "tools/headrace-tune/measured_plan.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace headrace::tune {

/// What a task handled, as it stands in the file.
nlohmann::ordered_json rowsJson(const cost::TaskRows &rows);
/// Writes what was measured, as JSON.
Status writeMeasured(const std::string &path, const std::vector<MeasuredPlan> &plans);
/// What was written, which must be of the plans of these directories, in this order.
Expected<std::vector<MeasuredPlan>> readMeasured(const std::string &path,
                                                 const std::vector<std::string> &directories);

} // namespace headrace::tune
