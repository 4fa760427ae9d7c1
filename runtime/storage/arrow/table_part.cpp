// Rows are numbered as in the whole table.
#include "runtime/storage/arrow/table_part.h"

#include <algorithm>

namespace headrace::storage {
namespace {

using nlohmann::json;

class PlacedSource final : public MorselSource {
public:
  PlacedSource(std::unique_ptr<MorselSource> rows, uint64_t firstRow)
      : rows_(std::move(rows)), firstRow_(firstRow) {}

  size_t morselCount() const override { return rows_->morselCount(); }
  uint64_t rows(size_t index) const override { return rows_->rows(index); }
  uint64_t rows() const override { return rows_->rows(); }
  Reach reach() const override { return Reach::kShare; }

  Expected<MorselHandle> load(size_t index, Reservation &memory) const override {
    HR_ASSIGN_OR_RETURN(MorselHandle found, rows_->load(index, memory));
    auto placed = std::make_shared<LoadedMorsel>();
    placed->columns = found->columns;
    placed->morsel = found->morsel;
    placed->morsel.columns = placed->columns.data();
    placed->place = firstRow_ + found->place;
    placed->bytes = found->bytes;
    placed->pins = {std::move(found)};
    return MorselHandle(std::move(placed));
  }

private:
  const std::unique_ptr<MorselSource> rows_;
  const uint64_t firstRow_;
};

class PartedTable final : public ArrowTable {
public:
  PartedTable(std::vector<TablePart> parts, uint32_t ranks, std::string identity)
      : parts_(std::move(parts)), ranks_(ranks), statistics_({{"part_of", std::move(identity)}}) {}

  const json &statistics() const override { return statistics_; }

  Expected<std::unique_ptr<MorselSource>> scan(const plan::Slot &slot, Share share) const override {
    auto part = std::ranges::find(parts_, share.rank, &TablePart::rank);
    if (part == parts_.end() || share.size != ranks_) {
      return makeError(ErrorKind::kUser, "the rows of a table lie on ", ranks_,
                       " ranks, each of which reads its own, and the query runs on ", share.size,
                       ": ", slot.name);
    }
    HR_ASSIGN_OR_RETURN(auto source, part->rows->scan(slot, Share()));
    return std::unique_ptr<MorselSource>(
        std::make_unique<PlacedSource>(std::move(source), part->firstRow));
  }

private:
  const std::vector<TablePart> parts_;
  const uint32_t ranks_;
  const json statistics_;
};

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

std::shared_ptr<const ArrowTable> partedTable(std::vector<TablePart> parts, uint32_t ranks,
                                              std::string identity) {
  return std::make_shared<PartedTable>(std::move(parts), ranks, std::move(identity));
}

json unitedStatistics(std::span<const json> parts, const std::vector<std::string> &keys) {
  json whole = parts.front();
  uint64_t rows = 0, groups = 0;
  for (const json &part : parts) {
    rows += part["rows"].get<uint64_t>();
    groups += part["row_groups"].get<uint64_t>();
  }
  whole["resident"] = keys;
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
