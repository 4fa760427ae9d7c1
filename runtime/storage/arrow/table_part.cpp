// Rows are numbered as in the whole table.
#include "runtime/storage/arrow/table_part.h"

#include <nlohmann/json.hpp>

namespace headrace::storage {
namespace {

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

class PartTable final : public ArrowTable {
public:
  PartTable(std::shared_ptr<const ArrowTable> rows, TablePart part)
      : rows_(std::move(rows)), part_(std::move(part)), statistics_({{"part_of", part_.identity}}) {
  }

  const nlohmann::json &statistics() const override { return statistics_; }

  Expected<std::unique_ptr<MorselSource>> scan(const plan::Slot &slot, Share share) const override {
    if (share.rank != part_.share.rank || share.size != part_.share.size) {
      return makeError(ErrorKind::kInternal, "of table ", slot.name, " this rank has part ",
                       part_.share.rank, " of ", part_.share.size, ", the plan reads part ",
                       share.rank, " of ", share.size);
    }
    HR_ASSIGN_OR_RETURN(auto source, rows_->scan(slot, Share()));
    return std::unique_ptr<MorselSource>(
        std::make_unique<PlacedSource>(std::move(source), part_.firstRow));
  }

private:
  const std::shared_ptr<const ArrowTable> rows_;
  const TablePart part_;
  const nlohmann::json statistics_;
};

} // namespace

std::shared_ptr<const ArrowTable> partOfTable(std::shared_ptr<const ArrowTable> rows,
                                              TablePart part) {
  return std::make_shared<PartTable>(std::move(rows), std::move(part));
}

} // namespace headrace::storage
