// Builds the columns once, when the source is opened; there are as many rows as somebody wrote.
#include "runtime/exec/source/values_source.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/storage/files/padded_buffer.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

/// What a morsel's pointers reach, beside its columns.
struct Storage {
  std::vector<HrSegment> segments;
  std::vector<storage::PaddedBuffer> buffers;
};

class ValuesSource final : public storage::MorselSource {
public:
  explicit ValuesSource(storage::MorselHandle morsel) : morsel_(std::move(morsel)) {}
  size_t morselCount() const override { return morsel_->morsel.rows == 0 ? 0 : 1; }
  uint64_t rows(size_t) const override { return morsel_->morsel.rows; }
  uint64_t rows() const override { return morsel_->morsel.rows; }
  /// The few rows of the query's text are part of the plan.
  Expected<storage::MorselHandle> load(size_t, Reservation &) const override { return morsel_; }

private:
  storage::MorselHandle morsel_;
};

/// `text` is a copy of the cell's with padding behind it.
void writeCell(const plan::Cell &cell, HrType type, const uint8_t *text, uint8_t *to) {
  auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (type) {
  case HR_F32:
    return put(static_cast<float>(cell.real));
  case HR_F64:
    return put(cell.real);
  case HR_STRING: {
    HrString view{};
    view.length = static_cast<uint32_t>(cell.text.size());
    std::memcpy(view.prefix, cell.text.data(), std::min<size_t>(cell.text.size(), 4));
    view.data = text;
    return put(view);
  }
  case HR_I128:
    put(cell.integer);
    to += 8;
    return put(cell.high);
  default: // little-endian: the low bytes come first
    std::memcpy(to, &cell.integer, abi::bytesOf(type));
  }
}

} // namespace

Expected<std::unique_ptr<storage::MorselSource>> openValues(const plan::Slot &slot,
                                                            storage::Share share) {
  size_t columns = slot.columns.size();
  size_t rows = share.rank == 0 ? slot.cells.size() / columns : 0;
  auto made = std::make_shared<storage::LoadedMorsel>();
  auto kept = std::make_shared<Storage>();
  kept->segments.resize(columns);
  auto allocate = [&](uint64_t bytes) -> Expected<uint8_t *> {
    storage::PaddedBuffer &buffer = kept->buffers.emplace_back(bytes);
    if (!buffer) {
      // no test: it takes more memory than a machine has
      return makeError(ErrorKind::kMemory, "literal rows do not fit memory, bytes: ", bytes);
    }
    std::memset(buffer.data(), 0, bytes);
    made->bytes += bytes;
    return buffer.data();
  };
  for (size_t c = 0; c < columns; ++c) {
    const plan::SlotColumn &column = slot.columns[c];
    uint32_t width = abi::bytesOf(column.type);
    uint64_t textBytes = HR_PADDING;
    for (size_t r = 0; r < rows; ++r) {
      textBytes += slot.cells[r * columns + c].text.size();
    }
    HR_ASSIGN_OR_RETURN(uint8_t *data, allocate(rows * width));
    HR_ASSIGN_OR_RETURN(uint8_t *text, allocate(textBytes));
    uint8_t *validity = nullptr;
    if (column.nullable) {
      HR_ASSIGN_OR_RETURN(validity, allocate(rows / 8 + 1));
    }
    for (size_t r = 0; r < rows; ++r) {
      const plan::Cell &cell = slot.cells[r * columns + c];
      if (cell.null && !column.nullable) {
        return makeError(ErrorKind::kCorrupt, "a NULL in a column that has none: ", column.file);
      }
      if (validity && !cell.null) {
        validity[r / 8] |= static_cast<uint8_t>(1 << (r % 8));
      }
      if (!cell.null) {
        std::memcpy(text, cell.text.data(), cell.text.size());
        writeCell(cell, column.type, text, data + r * width);
        text += cell.text.size();
      }
    }
    kept->segments[c] = HrSegment{
        static_cast<uint32_t>(rows), HR_VALUES, 0, 0, rows * width, data, nullptr, validity};
  }
  for (HrSegment &segment : kept->segments) {
    made->columns.push_back(HrColumn{&segment, 1, 0, nullptr, 0, 0});
  }
  made->pins.push_back(kept);
  made->morsel.rows = static_cast<uint32_t>(rows);
  made->morsel.columnCount = static_cast<uint32_t>(columns);
  made->morsel.columns = made->columns.data();
  return std::unique_ptr<storage::MorselSource>(std::make_unique<ValuesSource>(std::move(made)));
}

} // namespace headrace::exec
