// An ordinal is the number of the row in the table: the same whoever reads it, and whatever else is
// left out, so that rows of two scans can be compared by it.
#include "runtime/storage/ordinals.h"

#include "runtime/storage/files/padded_buffer.h"

#include <algorithm>
#include <numeric>

namespace headrace::storage {
namespace {

/// Ordinals of a morsel. The charge goes last.
struct Ordinals {
  Charge charge;
  PaddedBuffer values;
  HrSegment segment{};
};

class OrdinalSource final : public MorselSource {
public:
  OrdinalSource(std::unique_ptr<MorselSource> rows, size_t column)
      : rows_(std::move(rows)), column_(static_cast<ptrdiff_t>(column)) {}

  size_t morselCount() const override { return rows_->morselCount(); }
  uint64_t rows(size_t index) const override { return rows_->rows(index); }
  uint64_t rows() const override { return rows_->rows(); }
  Reach reach() const override { return rows_->reach(); }
  MorselRange share() const override { return rows_->share(); }
  void expect(MorselRange more) override { rows_->expect(more); }
  void leave(MorselRange left) override { rows_->leave(left); }

  Expected<MorselHandle> load(size_t index, Reservation &memory) const override {
    const uint64_t rows = rows_->rows(index), bytes = rows * sizeof(int64_t);
    auto ordinals = std::make_shared<Ordinals>();
    HR_ASSIGN_OR_RETURN(ordinals->charge, Charge::take(memory, static_cast<int64_t>(bytes)));
    ordinals->values = PaddedBuffer(bytes);
    if (!ordinals->values) {
      // no test: it takes more memory than a machine has
      return makeError(ErrorKind::kMemory, "numbers of rows do not fit memory, bytes: ", bytes);
    }
    HR_ASSIGN_OR_RETURN(MorselHandle found, rows_->load(index, memory));
    auto *values = reinterpret_cast<int64_t *>(ordinals->values.data());
    std::iota(values, values + rows, static_cast<int64_t>(found->place));
    ordinals->segment =
        HrSegment{static_cast<uint32_t>(rows), HR_VALUES, 0, 0, bytes, values, nullptr, nullptr};
    auto loaded = std::make_shared<LoadedMorsel>();
    loaded->columns = found->columns;
    loaded->columns.insert(loaded->columns.begin() + column_,
                           HrColumn{&ordinals->segment, 1, 0, nullptr, 0, 0});
    loaded->morsel = found->morsel;
    loaded->place = found->place;
    loaded->morsel.columnCount = static_cast<uint32_t>(loaded->columns.size());
    loaded->morsel.columns = loaded->columns.data();
    loaded->bytes = found->bytes + bytes;
    loaded->pins = {std::move(found), std::move(ordinals)};
    return MorselHandle(std::move(loaded));
  }

private:
  const std::unique_ptr<MorselSource> rows_;
  const ptrdiff_t column_;
};

} // namespace

Expected<std::unique_ptr<MorselSource>> openWithOrdinals(const plan::Slot &slot, Share share,
                                                         const OpenSource &open) {
  const auto ordinal = std::find_if(slot.columns.begin(), slot.columns.end(),
                                    [](const plan::SlotColumn &column) { return column.ordinal; });
  if (ordinal == slot.columns.end()) {
    return open(slot, share);
  }
  const auto column = static_cast<size_t>(ordinal - slot.columns.begin());
  plan::Slot inFiles = slot;
  inFiles.columns.erase(inFiles.columns.begin() + static_cast<ptrdiff_t>(column));
  HR_ASSIGN_OR_RETURN(auto rows, open(inFiles, share));
  return std::unique_ptr<MorselSource>(std::make_unique<OrdinalSource>(std::move(rows), column));
}

} // namespace headrace::storage
