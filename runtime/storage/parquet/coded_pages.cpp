// Chooses by the dictionary's size and the runs of the first page.
#include "runtime/storage/parquet/coded_pages.h"

#include "model/plan/page_form.h"
#include "runtime/abi/type_bytes.h"
#include "runtime/storage/columns/column_type.h"
#include "runtime/storage/parquet/packed_codes.h"

#include <algorithm>
#include <array>
#include <bit>

namespace headrace::storage {
namespace {

Status corruptCodes() { return makeError(ErrorKind::kCorrupt, "a page of codes does not decode"); }

/// A dictionary whose entries are their codes.
constexpr uint32_t kPackedEntriesMax = 1 << kPackedCodeBitsMax;
constexpr std::array<uint8_t, kPackedEntriesMax + HR_PADDING> kSameCode = [] {
  std::array<uint8_t, kPackedEntriesMax + HR_PADDING> same{};
  for (size_t i = 0; i < same.size(); ++i) {
    same[i] = static_cast<uint8_t>(i);
  }
  return same;
}();

} // namespace

void CodedPages::begin(std::shared_ptr<const EncodedDictionary> dictionary, uint64_t rows,
                       uint64_t bytes, double share) {
  chunk_.table = std::move(dictionary);
  chunk_.dictionary = chunk_.table->values.data();
  chunk_.dictionaryCount = chunk_.table->entries;
  chunk_.widen(chunk_.table->min, chunk_.table->max);
  if (chunk_.type == HR_STRING || rows == 0) {
    return;
  }
  const uint64_t width = abi::bytesOf(chunk_.type);
  if (plan::keepsValues(static_cast<double>(rows), static_cast<double>(width),
                        chunk_.dictionaryCount * share, static_cast<double>(bytes))) {
    values_ = PaddedBuffer(rows * width, memory_);
    form_ = values_ ? Form::kValues : Form::kAsIs;
  }
}

Status CodedPages::decode(const HrSegment &codes, void *out) const {
  return decoders_.decode(codes, chunk_.dictionary, chunk_.dictionaryCount,
                          abi::bytesOf(chunk_.type), out)
             ? Status()
             : corruptCodes();
}

Status CodedPages::add(const HrSegment &codes, BufferHandle owner) {
  if (form_ == Form::kUnknown) {
    const bool small = codes.bitWidth != 0 && chunk_.dictionaryCount <= kPackedEntriesMax;
    const bool packs = small && hasShortRuns(static_cast<const uint8_t *>(codes.data), codes.bytes,
                                             codes.rows, codes.bitWidth);
    form_ = packs ? Form::kPacked : Form::kAsIs;
  }
  switch (form_) {
  case Form::kValues:
    return addValues(codes);
  case Form::kPacked:
    return addPacked(codes);
  default:
    HR_RETURN_IF_ERROR(check(codes));
    chunk_.segments.push_back(codes);
    chunk_.keep(std::move(owner));
    return Status();
  }
}

/// Once, here, where the place is known, and not in each kernel that reads them.
Status CodedPages::check(const HrSegment &codes) {
  const uint64_t tableBytes = uint64_t{chunk_.dictionaryCount} + HR_PADDING;
  ignored_.resize(std::max<uint64_t>(ignored_.size(), tableBytes + codes.rows));
  return decoders_.decode(codes, ignored_.data(), chunk_.dictionaryCount, 1,
                          ignored_.data() + tableBytes)
             ? Status()
             : corruptCodes();
}

/// Extends the segment before it if that is of such values too.
Status CodedPages::addValues(const HrSegment &codes) {
  const uint64_t width = abi::bytesOf(chunk_.type);
  uint8_t *values = values_.data() + valueRows_ * width;
  HR_RETURN_IF_ERROR(decode(codes, values));
  valueRows_ += codes.rows;
  if (!chunk_.segments.empty()) {
    HrSegment &last = chunk_.segments.back();
    if (!last.validity && last.encoding == HR_VALUES &&
        static_cast<const uint8_t *>(last.data) + last.bytes == values) {
      last.rows += codes.rows;
      last.bytes += codes.rows * width;
      return Status();
    }
  }
  HrSegment segment{};
  segment.rows = codes.rows;
  segment.encoding = HR_VALUES;
  segment.data = values;
  segment.bytes = codes.rows * width;
  chunk_.segments.push_back(segment);
  return Status();
}

/// Packed at the end, together with those of the pages around it.
Status CodedPages::addPacked(const HrSegment &codes) {
  const size_t first = codes_.size();
  codes_.resize(first + codes.rows);
  if (!decoders_.decode(codes, kSameCode.data(), chunk_.dictionaryCount, 1,
                        codes_.data() + first)) {
    return corruptCodes();
  }
  if (!packedSegments_.empty() && packedSegments_.back() + 1 == chunk_.segments.size()) {
    chunk_.segments.back().rows += codes.rows;
    return Status();
  }
  HrSegment segment{};
  segment.rows = codes.rows;
  segment.encoding = HR_CODES;
  segment.bitWidth =
      static_cast<uint8_t>(std::max<int>(1, std::bit_width(chunk_.dictionaryCount - 1)));
  packedSegments_.push_back(chunk_.segments.size());
  chunk_.segments.push_back(segment);
  return Status();
}

Status CodedPages::pack() {
  codes_.resize(codes_.size() + 7); // whole words are read
  const uint8_t *codes = codes_.data();
  for (size_t index : packedSegments_) {
    HrSegment &segment = chunk_.segments[index];
    PaddedBuffer packed = packCodes(codes, segment.rows, segment.bitWidth);
    if (!packed) {
      // no test: it takes more memory than a machine has
      return makeError(ErrorKind::kMemory, "no memory for the codes of rows: ", segment.rows);
    }
    codes += segment.rows;
    segment.data = packed.data();
    segment.bytes = packed.bytes();
    chunk_.keep(std::move(packed));
  }
  return Status();
}

Status CodedPages::end() {
  HR_RETURN_IF_ERROR(pack());
  const bool coded =
      std::any_of(chunk_.segments.begin(), chunk_.segments.end(),
                  [](const HrSegment &segment) { return segment.encoding == HR_CODES; });
  if (chunk_.table && !coded && chunk_.rows != 0) {
    chunk_.dictionary = nullptr;
    chunk_.dictionaryCount = 0;
    if (chunk_.type != HR_STRING) { // texts may point into it
      chunk_.table.reset();
    }
  }
  chunk_.keep(std::move(values_));
  return Status();
}

} // namespace headrace::storage
