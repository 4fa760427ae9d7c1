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

} // namespace

std::shared_ptr<const ArrowTable> partedTable(std::vector<TablePart> parts, uint32_t ranks,
                                              std::string identity) {
  return std::make_shared<PartedTable>(std::move(parts), ranks, std::move(identity));
}

} // namespace headrace::storage
