// A page's values are kept as codes or in their plain form until it ends; its levels as numbers.
#include "runtime/storage/parquet/write/column_encoder.h"

#include "runtime/storage/parquet/write/bounds.h"
#include "runtime/storage/parquet/write/code_runs.h"
#include "runtime/storage/parquet/write/leaf_values.h"
#include "runtime/storage/parquet/write/value_dictionary.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

namespace headrace::storage {
namespace {

constexpr uint64_t kPageRows = 1 << 15;
/// A dictionary pays if values take this share of their plain form at most.
constexpr double kPayingShare = 0.75;
/// That are looked at before it is seen whether a page is full.
constexpr uint64_t kStepRows = 1024;

/// Numbers, and booleans as bytes of 0 and 1.
template <typename Number> struct NumberValues {
  using Value = Number;
  using Dictionary = NumberDictionary<Number>;
  using Bounds = NumberBounds<Number>;

  explicit NumberValues(const parquet::ColumnDescriptor &) {}
  static constexpr bool isFixed = true, canCode = sizeof(Number) > 1;

  Expected<std::span<const Number>> of(const LeafRows &leaf) {
    return numbersOf<Number>(leaf, room);
  }
  static uint64_t plainBytes(Number) { return sizeof(Number); }
  static void appendPlain(std::span<const Number> values, std::vector<uint8_t> &out) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(values.data());
    out.insert(out.end(), bytes, bytes + values.size_bytes());
  }
  static constexpr bool boundsOfCodes = false;

  ValueRoom room;
};

struct BytesValues {
  using Value = std::string_view;
  using Dictionary = BytesDictionary;
  using Bounds = BytesBounds;

  explicit BytesValues(const parquet::ColumnDescriptor &column)
      : column(column), hasLengths(column.physical_type() == parquet::Type::BYTE_ARRAY) {}
  static constexpr bool isFixed = false, canCode = true;

  Expected<std::span<const std::string_view>> of(const LeafRows &leaf) {
    return bytesOf(leaf, column, room);
  }
  uint64_t plainBytes(std::string_view value) const {
    return value.size() + (hasLengths ? sizeof(uint32_t) : 0);
  }
  void appendPlain(std::span<const std::string_view> values, std::vector<uint8_t> &out) const {
    size_t at = out.size(), bytes = 0;
    for (std::string_view value : values) {
      bytes += plainBytes(value);
    }
    out.resize(at + bytes);
    for (std::string_view value : values) {
      if (hasLengths) {
        const auto length = static_cast<uint32_t>(value.size());
        std::memcpy(out.data() + at, &length, sizeof length);
        at += sizeof length;
      }
      std::memcpy(out.data() + at, value.data(), value.size());
      at += value.size();
    }
  }
  /// Of a page of codes those of its different ones are looked at, when it ends.
  static constexpr bool boundsOfCodes = true;

  const parquet::ColumnDescriptor &column;
  bool hasLengths;
  ValueRoom room;
};

/// Eight to a byte.
void packBits(std::vector<uint8_t> &bytes) {
  const size_t count = bytes.size();
  bytes.resize((count + 7) / 8 * 8);
  for (size_t group = 0; group < bytes.size() / 8; ++group) {
    uint8_t packed = 0;
    for (size_t bit = 0; bit < 8; ++bit) {
      packed |= static_cast<uint8_t>(bytes[8 * group + bit] << bit);
    }
    bytes[group] = packed;
  }
  bytes.resize(bytes.size() / 8);
}

template <typename Values> class TypedEncoder final : public ColumnEncoder {
public:
  using Value = typename Values::Value;

  TypedEncoder(const parquet::ColumnDescriptor &column, uint64_t pageBytes)
      : pageBytes_(pageBytes), definitionMax_(static_cast<uint16_t>(column.max_definition_level())),
        repetitionMax_(static_cast<uint16_t>(column.max_repetition_level())),
        order_(valueOrder(column)), values_(column), bounds_(order_), chunkBounds_(order_) {}

  Status append(const LeafRows &leaf) override {
    HR_ASSIGN_OR_RETURN(std::span<const Value> values, values_.of(leaf));
    for (uint64_t entry = 0; entry < leaf.entries;) {
      const Step step = nextStep(leaf, entry, values);
      addLevels(leaf, entry, step);
      add(values.first(step.values));
      rows_ += step.rows;
      entry += step.entries;
      values = values.subspan(step.values);
      if (isPageFull()) {
        HR_RETURN_IF_ERROR(endPage());
      }
    }
    return Status();
  }

  Expected<WrittenChunk> finish() override {
    if (entries_ > 0) {
      HR_RETURN_IF_ERROR(endPage());
    }
    if (dictionary_.size() > 0) {
      WrittenPage &page = chunk_.dictionary.emplace();
      page.entries = dictionary_.size();
      for (uint32_t code = 0; code < dictionary_.size(); ++code) {
        const Value value = dictionary_.at(code);
        values_.appendPlain({&value, 1}, page.bytes);
      }
      page.plainBytes = page.bytes.size();
    }
    chunkBounds_.encode(chunk_.statistics);
    chunk_.statistics.set_is_signed(order_ == ValueOrder::kSigned);
    dictionary_.clear();
    chunkBounds_ = typename Values::Bounds(order_);
    hasCodedPages_ = false;
    coding_ = Values::canCode;
    rows_ = firstRow_ = 0;
    return std::exchange(chunk_, {});
  }

private:
  bool isPageFull() const {
    return rows_ - firstRow_ >= kPageRows || plain_.size() >= pageBytes_ ||
           (coding_ && dictionary_.bytes() > pageBytes_);
  }

  struct Step {
    uint64_t entries = 0, values = 0, rows = 0;
  };

  /// Whole rows, few enough that a page cannot grow far beyond its size.
  Step nextStep(const LeafRows &leaf, uint64_t first, std::span<const Value> values) const {
    Step step;
    if (Values::isFixed && leaf.definition.empty()) {
      step.entries = step.values = step.rows = std::min(kStepRows, leaf.entries - first);
      return step;
    }
    uint64_t bytes = 0;
    for (uint64_t entry = first; entry < leaf.entries; ++entry) {
      const bool beginsRow = leaf.repetition.empty() || leaf.repetition[entry] == 0;
      if (beginsRow && (step.rows == kStepRows || bytes >= pageBytes_)) {
        break;
      }
      step.rows += beginsRow;
      ++step.entries;
      if (leaf.definition.empty() || leaf.definition[entry] == definitionMax_) {
        bytes += values_.plainBytes(values[step.values++]);
      }
    }
    return step;
  }

  void addLevels(const LeafRows &leaf, uint64_t first, const Step &step) {
    entries_ += step.entries;
    if (definitionMax_ > 0 && leaf.definition.empty()) {
      definition_.resize(entries_, definitionMax_);
    } else if (definitionMax_ > 0) {
      const auto begin = leaf.definition.begin() + static_cast<ptrdiff_t>(first);
      definition_.insert(definition_.end(), begin, begin + static_cast<ptrdiff_t>(step.entries));
    }
    if (repetitionMax_ > 0) {
      const auto begin = leaf.repetition.begin() + static_cast<ptrdiff_t>(first);
      repetition_.insert(repetition_.end(), begin, begin + static_cast<ptrdiff_t>(step.entries));
    }
  }

  void add(std::span<const Value> values) {
    valueCount_ += values.size();
    if (!coding_) {
      values_.appendPlain(values, plain_);
      bounds_.add(values);
      return;
    }
    if constexpr (!Values::boundsOfCodes) {
      bounds_.add(values);
    }
    for (const Value &value : values) {
      codes_.push_back(dictionary_.codeOf(value));
      codedBytes_ += values_.plainBytes(value);
    }
  }

  /// Whether those of the first page take much less as codes.
  bool pays() const {
    const double codes = static_cast<double>(codes_.size()) * bitsOf(dictionary_.size()) / 8;
    return static_cast<double>(dictionary_.bytes()) + codes <=
           kPayingShare * static_cast<double>(codedBytes_);
  }

  /// No page has codes yet, and none will.
  void makePlain() {
    addBoundsOfCodes();
    for (uint32_t code : codes_) {
      const Value value = dictionary_.at(code);
      values_.appendPlain({&value, 1}, plain_);
    }
    codes_.clear();
    dictionary_.clear();
    coding_ = false;
  }

  void addBoundsOfCodes() {
    if constexpr (Values::boundsOfCodes) {
      std::vector<bool> isThere(dictionary_.size());
      for (uint32_t code : codes_) {
        if (!isThere[code]) {
          isThere[code] = true;
          bounds_.add(dictionary_.at(code));
        }
      }
    }
  }

  Status endPage() {
    const bool isFull = dictionary_.bytes() > pageBytes_;
    if (!codes_.empty() && !hasCodedPages_ && (isFull || !pays())) {
      makePlain();
    }
    WrittenPage page;
    page.entries = static_cast<uint32_t>(entries_);
    page.firstRow = firstRow_;
    appendLevels(repetition_, repetitionMax_, page.bytes);
    appendLevels(definition_, definitionMax_, page.bytes);
    if (!codes_.empty()) {
      addBoundsOfCodes();
      page.encoding = parquet::Encoding::RLE_DICTIONARY;
      const uint32_t width = std::max(1u, bitsOf(dictionary_.size() - 1));
      page.bytes.push_back(static_cast<uint8_t>(width));
      appendCodes(codes_, width, page.bytes);
      hasCodedPages_ = true;
      coding_ = !isFull;
    } else {
      if constexpr (!Values::canCode) {
        packBits(plain_);
      }
      if (page.bytes.empty()) {
        page.bytes.swap(plain_);
      } else {
        page.bytes.insert(page.bytes.end(), plain_.begin(), plain_.end());
      }
    }
    if (page.bytes.size() > INT32_MAX) {
      // no test: takes gigabytes
      return makeError(ErrorKind::kUnsupported, "rows of 2 GiB in one column");
    }
    page.plainBytes = page.bytes.size();
    addStatistics(page);
    chunk_.pages.push_back(std::move(page));
    clearPage();
    return Status();
  }

  static void appendLevels(const std::vector<uint16_t> &levels, uint16_t greatest,
                           std::vector<uint8_t> &out) {
    if (greatest == 0) {
      return;
    }
    const size_t begin = out.size();
    out.resize(begin + sizeof(uint32_t));
    appendCodes(levels, bitsOf(greatest), out);
    const auto bytes = static_cast<uint32_t>(out.size() - begin - sizeof(uint32_t));
    std::memcpy(out.data() + begin, &bytes, sizeof bytes);
  }

  void addStatistics(WrittenPage &page) {
    bounds_.encode(page.statistics);
    const auto nulls = static_cast<int64_t>(entries_ - valueCount_);
    page.statistics.set_null_count(nulls);
    page.statistics.all_null_value = valueCount_ == 0;
    page.statistics.set_is_signed(order_ == ValueOrder::kSigned);
    chunk_.statistics.set_null_count(chunk_.statistics.null_count + nulls);
    chunkBounds_.add(bounds_);
  }

  void clearPage() {
    plain_.clear();
    codes_.clear();
    definition_.clear();
    repetition_.clear();
    entries_ = valueCount_ = codedBytes_ = 0;
    firstRow_ = rows_;
    bounds_ = typename Values::Bounds(order_);
  }

  const uint64_t pageBytes_; ///< of plain values, and of the dictionary
  const uint16_t definitionMax_, repetitionMax_;
  const ValueOrder order_;
  Values values_;
  // Of the chunk.
  bool coding_ = Values::canCode;
  bool hasCodedPages_ = false;
  typename Values::Dictionary dictionary_;
  typename Values::Bounds chunkBounds_;
  uint64_t rows_ = 0;
  // Of the page.
  std::vector<uint8_t> plain_;
  std::vector<uint32_t> codes_;
  std::vector<uint16_t> definition_, repetition_;
  uint64_t entries_ = 0, valueCount_ = 0;
  uint64_t codedBytes_ = 0; ///< that its codes would take as plain values
  uint64_t firstRow_ = 0;
  typename Values::Bounds bounds_;
};

} // namespace

ValueOrder valueOrder(const parquet::ColumnDescriptor &column) {
  switch (column.sort_order()) {
  case parquet::SortOrder::SIGNED:
    return ValueOrder::kSigned;
  case parquet::SortOrder::UNSIGNED:
    return ValueOrder::kUnsigned;
  case parquet::SortOrder::UNKNOWN:
    break;
  }
  return ValueOrder::kNone;
}

std::unique_ptr<ColumnEncoder> ColumnEncoder::make(const parquet::ColumnDescriptor &column,
                                                   uint64_t pageBytes) {
  switch (column.physical_type()) {
  case parquet::Type::BOOLEAN:
    return std::make_unique<TypedEncoder<NumberValues<uint8_t>>>(column, pageBytes);
  case parquet::Type::INT32:
    return std::make_unique<TypedEncoder<NumberValues<int32_t>>>(column, pageBytes);
  case parquet::Type::INT64:
    return std::make_unique<TypedEncoder<NumberValues<int64_t>>>(column, pageBytes);
  case parquet::Type::FLOAT:
    return std::make_unique<TypedEncoder<NumberValues<float>>>(column, pageBytes);
  case parquet::Type::DOUBLE:
    return std::make_unique<TypedEncoder<NumberValues<double>>>(column, pageBytes);
  default:
    return std::make_unique<TypedEncoder<BytesValues>>(column, pageBytes);
  }
}

uint64_t ColumnEncoder::bytes() const {
  uint64_t bytes = 0;
  for (const WrittenPage &page : chunk_.pages) {
    bytes += page.bytes.size();
  }
  return bytes;
}

} // namespace headrace::storage
