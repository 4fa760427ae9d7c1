// Bounds hold for all parts; numbers add up.
#include "runtime/storage/arrow/united_statistics.h"

#include <cstdint>

namespace headrace::storage {
namespace {

using nlohmann::json;

/// A part with so many rows that differ has most likely others than the other parts.
constexpr double kMostlyDistinct = 0.5;

/// A column of the whole, from those of the parts that have rows.
class UnitedColumn {
public:
  void add(const json &column, uint64_t rows) {
    const uint64_t nulls = column["nulls"];
    nulls_ += nulls;
    const bool hasValues = rows > nulls;
    if (hasValues) {
      unite("min", column, [](const json &a, const json &b) { return b < a; });
      unite("max", column, [](const json &a, const json &b) { return a < b; });
      any_ = true;
      const uint64_t distinct = column["distinct"];
      sum_ += distinct;
      if (distinct >= most_) {
        most_ = distinct;
        addsUp_ = static_cast<double>(distinct) > kMostlyDistinct * static_cast<double>(rows);
      }
      if (column["average_bytes"].is_number()) {
        bytes_ += column["average_bytes"].get<double>() * static_cast<double>(rows - nulls);
        values_ += static_cast<double>(rows - nulls);
      }
    }
  }

  /// `first`: the column of any part.
  json united(const json &first) const {
    json column = first;
    column["min"] = bounds_.value("min", json());
    column["max"] = bounds_.value("max", json());
    column["nulls"] = nulls_;
    column["nullable"] = nulls_ != 0;
    column["distinct"] = addsUp_ ? sum_ : most_;
    column["ordered"] = false;
    if (values_ > 0) {
      column["average_bytes"] = bytes_ / values_;
    }
    return column;
  }

private:
  template <typename Less> void unite(const char *bound, const json &column, Less isBeyond) {
    const json &own = column[bound];
    json &known = bounds_[bound];
    if (!any_) {
      known = own;
    } else if (known.is_null() || own.is_null()) {
      known = json();
    } else if (isBeyond(known, own)) {
      known = own;
    }
  }

  bool any_ = false, addsUp_ = false;
  json bounds_ = json::object();
  uint64_t nulls_ = 0, sum_ = 0, most_ = 0;
  double bytes_ = 0, values_ = 0;
};

} // namespace

json unitedStatistics(std::span<const json> parts) {
  json whole = parts.front();
  uint64_t rows = 0, groups = 0;
  for (const json &part : parts) {
    rows += part["rows"].get<uint64_t>();
    groups += part["row_groups"].get<uint64_t>();
  }
  whole["rows"] = rows;
  whole["row_groups"] = groups;
  for (auto &[name, column] : whole["columns"].items()) {
    UnitedColumn united;
    for (const json &part : parts) {
      united.add(part["columns"][name], part["rows"]);
    }
    column = united.united(column);
  }
  return whole;
}

} // namespace headrace::storage
