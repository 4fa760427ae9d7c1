// The least and the greatest of values in the order that Parquet gives to their type.
#pragma once

#include <parquet/schema.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace headrace::storage {

/// How values are compared; none: their order is not defined.
enum class ValueOrder : uint8_t { kSigned, kUnsigned, kNone };

ValueOrder valueOrder(const parquet::ColumnDescriptor &column);

/// Of numbers. NaN counts as absent.
template <typename Number> class NumberBounds {
public:
  explicit NumberBounds(ValueOrder order) : order_(order) {}

  void add(std::span<const Number> values) {
    if constexpr (std::is_floating_point_v<Number>) {
      widen<Number>(values, std::numeric_limits<Number>::infinity(),
                    -std::numeric_limits<Number>::infinity());
    } else if (order_ == ValueOrder::kUnsigned) {
      using Natural = std::make_unsigned_t<Number>;
      widen<Natural>(values, std::numeric_limits<Natural>::max(), 0);
    } else {
      widen<Number>(values, std::numeric_limits<Number>::max(), std::numeric_limits<Number>::min());
    }
  }
  void add(const NumberBounds &other) {
    if (other.isSet_) {
      add({&other.least_, 1});
      add({&other.greatest_, 1});
    }
  }
  void encode(parquet::EncodedStatistics &out) const {
    if (isSet_ && order_ != ValueOrder::kNone) {
      Number least = least_, greatest = greatest_;
      if constexpr (std::is_floating_point_v<Number>) { // a reader may tell zeros apart
        least = least == 0 ? -Number(0) : least;
        greatest = greatest == 0 ? Number(0) : greatest;
      }
      out.set_min({reinterpret_cast<const char *>(&least), sizeof least});
      out.set_max({reinterpret_cast<const char *>(&greatest), sizeof greatest});
    }
  }

private:
  template <typename Compared>
  void widen(std::span<const Number> values, Compared least, Compared greatest) {
    bool isSet = false;
    for (Number value : values) {
      const auto compared = static_cast<Compared>(value);
      least = compared < least ? compared : least;
      greatest = compared > greatest ? compared : greatest;
      isSet |= compared == compared;
    }
    if (!isSet) {
      return;
    }
    if (isSet_) {
      least = std::min(least, static_cast<Compared>(least_));
      greatest = std::max(greatest, static_cast<Compared>(greatest_));
    }
    least_ = static_cast<Number>(least);
    greatest_ = static_cast<Number>(greatest);
    isSet_ = true;
  }

  ValueOrder order_;
  Number least_ = 0, greatest_ = 0;
  bool isSet_ = false;
};

/// Of texts and bytes; the signed ones are numbers of several bytes, the highest first.
class BytesBounds {
public:
  explicit BytesBounds(ValueOrder order) : order_(order) {}

  void add(std::string_view value) {
    if (order_ == ValueOrder::kNone) {
      return;
    }
    if (!isSet_) {
      least_ = greatest_ = value;
      isSet_ = true;
    } else if (isBefore(value, least_)) {
      least_ = value;
    } else if (isBefore(greatest_, value)) {
      greatest_ = value;
    }
  }
  void add(std::span<const std::string_view> values) {
    for (std::string_view value : values) {
      add(value);
    }
  }
  void add(const BytesBounds &other) {
    if (other.isSet_) {
      add(other.least_);
      add(other.greatest_);
    }
  }
  void encode(parquet::EncodedStatistics &out) const {
    if (isSet_) {
      out.set_min(least_);
      out.set_max(greatest_);
      out.ApplyStatSizeLimits(kBytesMax);
    }
  }

private:
  /// Longer ones are left out.
  static constexpr size_t kBytesMax = 4096;

  bool isBefore(std::string_view a, std::string_view b) const {
    if (order_ == ValueOrder::kSigned && !a.empty() && !b.empty() && (a[0] ^ b[0]) < 0) {
      return a[0] < 0;
    }
    return a < b;
  }

  ValueOrder order_;
  std::string least_, greatest_;
  bool isSet_ = false;
};

} // namespace headrace::storage
