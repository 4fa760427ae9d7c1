// Says which node it is that leaves a problem without an allowed choice.
#pragma once

#include "model/solve/problem.h"

#include <functional>
#include <string>

namespace headrace::solve {

/// The error (kUser) for a problem without an allowed choice. With `nameOf` it names the first node
/// that no choice of the nodes before it leaves an allowed strategy, and those of them that it has
/// edges with. `isAllowed` says whether a problem has an allowed choice.
Status contradiction(const Problem &problem, const std::function<bool(const Problem &)> &isAllowed,
                     const std::function<std::string(int32_t node)> &nameOf);

} // namespace headrace::solve
