// Ordinals grow from row to row, from morsel to morsel and from rank to rank.
#include "runtime/storage/ordinals.h"
#include "test/unit/storage/tables.h"

namespace headrace::storage {
namespace {

using namespace testing;

/// Morsels of these rows, without columns.
class BareSource final : public MorselSource {
public:
  BareSource(std::vector<uint32_t> rows, uint64_t begin) : rows_(std::move(rows)), begin_(begin) {}
  size_t morselCount() const override { return rows_.size(); }
  uint64_t rows(size_t index) const override { return rows_[index]; }
  uint64_t rows() const override { return std::accumulate(rows_.begin(), rows_.end(), 0u); }
  Expected<MorselHandle> load(size_t index, Reservation &) const override {
    auto loaded = std::make_shared<LoadedMorsel>();
    loaded->morsel.rows = rows_[index];
    loaded->morsel.firstRow =
        std::accumulate(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(index), 0u);
    loaded->place = begin_ + 2 * loaded->morsel.firstRow; // rows between are left out
    return MorselHandle(std::move(loaded));
  }

private:
  std::vector<uint32_t> rows_;
  uint64_t begin_;
};

plan::Slot slotOfOrdinals() {
  plan::Slot slot;
  plan::SlotColumn &column = slot.columns.emplace_back();
  column.logical = {LogicalKind::kI64};
  column.ordinal = true;
  return slot;
}

TEST(Ordinals, GrowFromRowToRowAndFromRankToRank) {
  int64_t last = -1;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    const OpenSource open = [&](const plan::Slot &slot,
                                Share share) -> Expected<std::unique_ptr<MorselSource>> {
      EXPECT_TRUE(slot.columns.empty());
      EXPECT_EQ(share.rank, rank);
      return std::unique_ptr<MorselSource>(
          std::make_unique<BareSource>(std::vector<uint32_t>{3, 1, 5}, 100 * rank));
    };
    auto source = openWithOrdinals(slotOfOrdinals(), Share{rank, 3}, open);
    ASSERT_TRUE(source.ok());
    auto rows = readAll(**source, slotOfOrdinals());
    ASSERT_TRUE(rows.ok());
    ASSERT_EQ(rows->front().size(), 9u);
    for (const std::string &text : rows->front()) {
      EXPECT_GT(std::stoll(text), last);
      last = std::stoll(text);
    }
  }
}

TEST(Ordinals, OfASlotWithoutThemItIsTheSourceItself) {
  auto source =
      openWithOrdinals(plan::Slot(), Share{},
                       [](const plan::Slot &, Share) -> Expected<std::unique_ptr<MorselSource>> {
                         return makeError(ErrorKind::kIo, "no such file");
                       });
  EXPECT_EQ(source.status().message(), "no such file");
}

} // namespace
} // namespace headrace::storage
