// Numbers in what a user wrote.
#pragma once

#include "runtime/base/status.h"

#include <string>

namespace headrace {

/// A number from `least` to `most`, or the error (kUser) that says so; `what` names it.
Expected<double> parseNumber(const std::string &what, const std::string &text, double least,
                             double most);

/// Likewise a whole number.
Expected<double> parseCount(const std::string &what, const std::string &text, double least,
                            double most);

} // namespace headrace
