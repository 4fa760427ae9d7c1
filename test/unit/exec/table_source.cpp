// A source of morsels over columns in memory.
#include "test/unit/exec/table_source.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

class TestSource final : public storage::MorselSource {
public:
  TestSource(TestTable table, size_t first, size_t end, size_t morselRows,
             storage::MorselRange share)
      : table_(std::move(table)), first_(first), end_(end), morselRows_(morselRows), share_(share) {
  }
  storage::MorselRange share() const override { return share_; }
  size_t morselCount() const override { return (end_ - first_ + morselRows_ - 1) / morselRows_; }
  uint64_t rows(size_t index) const override {
    return std::min(morselRows_, end_ - first_ - index * morselRows_);
  }
  uint64_t rows() const override { return end_ - first_; }
  Expected<storage::MorselHandle> load(size_t index, Reservation &) const override {
    struct Pin {
      std::vector<std::vector<int64_t>> data;
      std::vector<HrSegment> segments;
    };
    auto pin = std::make_shared<Pin>();
    auto loaded = std::make_shared<storage::LoadedMorsel>();
    size_t count = rows(index);
    size_t from = first_ + index * morselRows_;
    for (const std::vector<int64_t> &column : table_) {
      auto begin = column.begin() + static_cast<ptrdiff_t>(from);
      pin->data.emplace_back(begin, begin + static_cast<ptrdiff_t>(count));
      pin->data.back().resize(count + HR_PADDING / 8);
      HrSegment segment{};
      segment.rows = static_cast<uint32_t>(count);
      segment.bytes = count * 8;
      pin->segments.push_back(segment);
    }
    for (size_t c = 0; c < table_.size(); ++c) {
      pin->segments[c].data = pin->data[c].data();
      loaded->columns.push_back(HrColumn{&pin->segments[c], 1, 0, nullptr});
    }
    loaded->morsel.rows = static_cast<uint32_t>(count);
    loaded->morsel.firstRow = index * morselRows_;
    loaded->morsel.columnCount = static_cast<uint32_t>(loaded->columns.size());
    loaded->morsel.columns = loaded->columns.data();
    loaded->bytes = count * 8 * table_.size();
    loaded->pins.push_back(std::move(pin));
    return storage::MorselHandle(std::move(loaded));
  }

private:
  TestTable table_;
  size_t first_;
  size_t end_;
  size_t morselRows_;
  storage::MorselRange share_;
};

} // namespace

OpenSource openTable(const TestTable &table, size_t morselRows) {
  return [table,
          morselRows](const plan::Slot &,
                      storage::Share share) -> Expected<std::unique_ptr<storage::MorselSource>> {
    size_t rows = table.empty() ? 0 : table.front().size();
    if (share.reach == storage::Reach::kAll) {
      const size_t morsels = (rows + morselRows - 1) / morselRows;
      const storage::MorselRange own{morsels * share.rank / share.size,
                                     morsels * (share.rank + 1) / share.size};
      return std::unique_ptr<storage::MorselSource>(
          std::make_unique<TestSource>(table, 0, rows, morselRows, own));
    }
    const size_t first = rows * share.rank / share.size;
    const size_t end = rows * (share.rank + 1) / share.size;
    const storage::MorselRange all{0, (end - first + morselRows - 1) / morselRows};
    return std::unique_ptr<storage::MorselSource>(
        std::make_unique<TestSource>(table, first, end, morselRows, all));
  };
}

} // namespace headrace::exec
