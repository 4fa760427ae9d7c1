// Splits at '=', ':' and ','.
#include "model/simulate/workload_text.h"
#include "runtime/base/number_text.h"

#include <set>
#include <sstream>

namespace headrace::simulate {
namespace {

constexpr double kNumberMax = 1e18;

} // namespace

Status addRows(Workload &workload, const std::string &text) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    return makeError(ErrorKind::kUser, "expected rows such as lineitem=1e9, got ", text);
  }
  std::string name = text.substr(0, equals);
  HR_ASSIGN_OR_RETURN(workload.rows[name],
                      parseNumber("rows of " + name, text.substr(equals + 1), 0, kNumberMax));
  return {};
}

Status addSkew(Workload &workload, const std::string &text) {
  std::istringstream parts(text);
  std::string first;
  std::string count;
  std::string factor;
  if (!std::getline(parts, first, ':') || !std::getline(parts, count, ':') || parts.peek() == EOF) {
    return makeError(ErrorKind::kUser, "expected a skew such as 3:1:speed=0.5, got ", text);
  }
  RankSkew skew;
  HR_ASSIGN_OR_RETURN(double firstRank, parseCount("a skew's first rank", first, 0, kNumberMax));
  HR_ASSIGN_OR_RETURN(double ranks, parseCount("a skew's count of ranks", count, 1, kNumberMax));
  skew.first = static_cast<int64_t>(firstRank);
  skew.count = static_cast<int64_t>(ranks);
  while (std::getline(parts, factor, ',')) {
    size_t equals = factor.find('=');
    std::string name = factor.substr(0, equals);
    double *value = name == "speed"  ? &skew.speed
                    : name == "rows" ? &skew.rows
                    : name == "keys" ? &skew.keys
                                     : nullptr;
    if (!value || equals == std::string::npos) {
      return makeError(ErrorKind::kUser, "a skew has speed, rows and keys, got ", factor);
    }
    HR_ASSIGN_OR_RETURN(*value,
                        parseNumber("a skew's " + name, factor.substr(equals + 1), 0, kNumberMax));
  }
  workload.skews.push_back(skew);
  return {};
}

Status checkRows(const plan::Plan &plan, const std::map<std::string, double> &rows) {
  std::set<std::string> known;
  for (const plan::Slot &slot : plan.slots) {
    known.insert(slot.name);
  }
  for (const plan::Stream &stream : plan.streams) {
    known.insert(stream.name);
  }
  for (const auto &[name, count] : rows) {
    if (!known.contains(name)) {
      std::string names;
      for (const std::string &each : known) {
        names += (names.empty() ? "" : ", ") + each;
      }
      return makeError(ErrorKind::kUser, "rows are of the plan's slots and streams (", names,
                       "), got ", name);
    }
    if (!(count >= 0 && count <= kNumberMax)) {
      return makeError(ErrorKind::kUser, "rows of ", name, " need a number from 0 to ", kNumberMax,
                       ", got ", count);
    }
  }
  return {};
}

} // namespace headrace::simulate
