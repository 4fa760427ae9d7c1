// The whole text must be the number.
#include "runtime/base/number_text.h"

#include <cmath>
#include <cstdlib>

namespace headrace {

Expected<double> parseNumber(const std::string &what, const std::string &text, double least,
                             double most) {
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= least && number <= most)) {
    return makeError(ErrorKind::kUser, what, " needs a number from ", least, " to ", most, ", got ",
                     text);
  }
  return number;
}

Expected<double> parseCount(const std::string &what, const std::string &text, double least,
                            double most) {
  HR_ASSIGN_OR_RETURN(double number, parseNumber(what, text, least, most));
  if (number != std::floor(number)) {
    return makeError(ErrorKind::kUser, what, " needs a whole number, got ", text);
  }
  return number;
}

} // namespace headrace
