// A workload as a user tells it: rows and skews in words.
#pragma once

#include "model/simulate/plan_graph.h"

#include <map>
#include <string>

namespace headrace::simulate {

/// "NAME=ROWS", the rows of a slot or stream over all ranks. Errors: kUser.
Status addRows(Workload &workload, const std::string &text);

/// "FIRST:COUNT:NAME=FACTOR[,NAME=FACTOR]", the names speed, rows and keys: "3:1:speed=0.5".
/// Errors: kUser; ranks that overlap or are not there are found by planGraph.
Status addSkew(Workload &workload, const std::string &text);

/// Errors (kUser): rows of what is no slot or stream of the plan, and no number of rows.
Status checkRows(const plan::Plan &plan, const std::map<std::string, double> &rows);

} // namespace headrace::simulate
