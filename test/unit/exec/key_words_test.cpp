// Words of keys, and sorting by them, beside a comparison of the values themselves.
// Sources: runtime/exec/sort/sort_order.cpp
#include "runtime/exec/sort/sort_order.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace headrace::exec {
namespace {

constexpr HrType kTypes[] = {HR_BOOL, HR_I8,  HR_I16, HR_I32,   HR_I64,
                             HR_I128, HR_F32, HR_F64, HR_STRING};
constexpr uint32_t kFieldBytes = 32; // a value, and from 16 on whether there is one

/// Rows of random values of random types, few of which differ, sorted by all of them.
class Rows {
public:
  Rows(uint64_t seed, size_t count) : random_(seed) {
    state_.kind = plan::StateKind::kSortBuffer;
    const size_t fields = 1 + random_() % 4;
    for (size_t f = 0; f < fields; ++f) {
      plan::StateField field;
      field.type = kTypes[random_() % std::size(kTypes)];
      field.offset = static_cast<uint32_t>(f) * kFieldBytes;
      field.nullable = random_() % 2 == 0;
      field.validOffset = field.offset + 16;
      state_.fields.push_back(field);
      state_.order.push_back({static_cast<int32_t>(f), random_() % 2 == 0, random_() % 2 == 0});
    }
    // Texts that are alike far beyond a word, with zeros and what no text begins with.
    for (const char *start : {"", "a", "a longer beginning that they share, "}) {
      for (const char *end : {"", "b", "bcdefg", "bcdefgh", "\xff", "z and more than a word"}) {
        texts_.push_back(std::string(start) + end + std::string(random_() % 2, '\0'));
      }
    }
    for (std::string &text : texts_) {
      text.append(HR_PADDING, '\x7f');
    }
    rows_.resize(count * fields * kFieldBytes);
    for (size_t row = 0; row < count; ++row) {
      for (size_t f = 0; f < fields; ++f) {
        fill(state_.fields[f], at(row) + f * kFieldBytes);
      }
    }
  }

  const plan::State &state() const { return state_; }
  size_t rowBytes() const { return state_.fields.size() * kFieldBytes; }
  const uint8_t *row(size_t index) const { return rows_.data() + index * rowBytes(); }

  /// Below, equal, above: -1, 0, 1.
  int compare(const uint8_t *a, const uint8_t *b) const {
    for (const plan::OrderKey &key : state_.order) {
      const plan::StateField &field = state_.fields[key.field];
      const bool isThere = !field.nullable || a[field.validOffset] != 0;
      if (isThere != (!field.nullable || b[field.validOffset] != 0)) {
        return isThere == key.nullsFirst ? 1 : -1;
      }
      if (int order = isThere ? compareValues(field, a, b) : 0; order != 0) {
        return key.descending ? -order : order;
      }
    }
    return 0;
  }

private:
  uint8_t *at(size_t row) { return rows_.data() + row * rowBytes(); }

  template <typename Value> static Value valueOf(const uint8_t *at) {
    Value value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  template <typename Value> static int compareAs(const uint8_t *a, const uint8_t *b) {
    auto x = valueOf<Value>(a), y = valueOf<Value>(b);
    if constexpr (std::is_floating_point_v<Value>) {
      if (std::isnan(x) || std::isnan(y)) {
        return static_cast<int>(std::isnan(x)) - static_cast<int>(std::isnan(y));
      }
    }
    return x < y ? -1 : x > y ? 1 : 0;
  }
  static int compareValues(const plan::StateField &field, const uint8_t *a, const uint8_t *b) {
    a += field.offset;
    b += field.offset;
    switch (field.type) {
    case HR_BOOL:
      return compareAs<uint8_t>(a, b);
    case HR_I8:
      return compareAs<int8_t>(a, b);
    case HR_I16:
      return compareAs<int16_t>(a, b);
    case HR_I32:
      return compareAs<int32_t>(a, b);
    case HR_I128:
      return compareAs<__int128>(a, b);
    case HR_F32:
      return compareAs<float>(a, b);
    case HR_F64:
      return compareAs<double>(a, b);
    case HR_STRING: {
      auto x = valueOf<HrString>(a), y = valueOf<HrString>(b);
      const int order = std::memcmp(x.data, y.data, std::min(x.length, y.length));
      return order != 0            ? (order < 0 ? -1 : 1)
             : x.length < y.length ? -1
                                   : static_cast<int>(x.length > y.length);
    }
    default:
      return compareAs<int64_t>(a, b);
    }
  }

  template <typename Value> void put(uint8_t *to, std::initializer_list<Value> values) {
    const Value value = values.begin()[random_() % values.size()];
    std::memcpy(to, &value, sizeof value);
  }
  template <typename Integer> void putInteger(uint8_t *to) {
    using Limits = std::numeric_limits<Integer>;
    put<Integer>(to, {Limits::min(), -1, 0, 1, 2, Limits::max()});
  }
  template <typename Real> void putReal(uint8_t *to) {
    using Limits = std::numeric_limits<Real>;
    put<Real>(to, {-Limits::infinity(), -1, -0.0, 0.0, Limits::denorm_min(), 2, Limits::infinity(),
                   Limits::quiet_NaN(), -Limits::quiet_NaN()});
  }
  void fill(const plan::StateField &field, uint8_t *to) {
    to[16] = random_() % 4 != 0;
    switch (field.type) {
    case HR_BOOL:
      return put<uint8_t>(to, {0, 1});
    case HR_I8:
      return putInteger<int8_t>(to);
    case HR_I16:
      return putInteger<int16_t>(to);
    case HR_I32:
      return putInteger<int32_t>(to);
    case HR_I128:
      return put<__int128>(
          to, {static_cast<__int128>(1) << 100, 1, 0, -1, -(static_cast<__int128>(1) << 64)});
    case HR_F32:
      return putReal<float>(to);
    case HR_F64:
      return putReal<double>(to);
    case HR_STRING: {
      const std::string &text = texts_[random_() % texts_.size()];
      const HrString value{static_cast<uint32_t>(text.size() - HR_PADDING),
                           {},
                           reinterpret_cast<const uint8_t *>(text.data())};
      std::memcpy(to, &value, sizeof value);
      return;
    }
    default:
      return putInteger<int64_t>(to);
    }
  }

  std::mt19937_64 random_;
  plan::State state_;
  std::vector<std::string> texts_;
  std::vector<uint8_t> rows_;
};

int compareWords(const KeyWords &words, const uint8_t *a, const uint8_t *b) {
  for (std::optional<KeyWords::Place> place = KeyWords::Place{}; place;) {
    const uint64_t x = words.word(a, *place), y = words.word(b, *place);
    if (x != y) {
      return x < y ? -1 : 1;
    }
    place = words.after(*place, x);
  }
  return 0;
}

TEST(KeyWords, AreOrderedAsTheValuesAre) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Rows rows(seed, 60);
    const KeyWords words(rows.state(), rows.state().order);
    for (size_t a = 0; a < 60; ++a) {
      for (size_t b = 0; b < 60; ++b) {
        ASSERT_EQ(compareWords(words, rows.row(a), rows.row(b)),
                  rows.compare(rows.row(a), rows.row(b)))
            << "seed " << seed << ", rows " << a << " and " << b;
      }
    }
  }
}

TEST(KeyWords, WithoutKeysAllAreEqual) {
  const Rows rows(1, 2);
  const KeyWords words(rows.state(), {});
  EXPECT_EQ(compareWords(words, rows.row(0), rows.row(1)), 0);
}

TEST(SortOrder, SortsAnyNumberOfRows) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    for (size_t count : {0, 1, 2, 3, 50, 2000}) {
      const Rows rows(seed, count);
      const SortOrder order(rows.state());
      std::vector<SortEntry> entries;
      for (size_t row = 0; row < count; ++row) {
        entries.push_back(order.entryOf(rows.row(row)));
      }
      std::vector<SortEntry> room(seed % 2 == 0 ? count : 0);
      order.sort(entries, room.empty() ? nullptr : room.data());
      std::vector<const uint8_t *> seen;
      for (size_t i = 0; i < count; ++i) {
        seen.push_back(entries[i].row);
        ASSERT_LE(i == 0 ? 0 : rows.compare(entries[i - 1].row, entries[i].row), 0)
            << "seed " << seed << ", " << count << " rows, at " << i;
        if (i != 0) {
          ASSERT_FALSE(
              order.isBefore(order.entryOf(entries[i].row), order.entryOf(entries[i - 1].row)));
        }
      }
      std::sort(seen.begin(), seen.end());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(seen[i], rows.row(i)) << "a row is lost, or there twice";
      }
    }
  }
}

} // namespace
} // namespace headrace::exec
