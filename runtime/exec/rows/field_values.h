// Values of fields in rows, as C++ types in SQL's order.
#pragma once

#include "model/plan/plan.h"
#include "runtime/abi/imports.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace headrace::exec {

template <typename T> T loadAs(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// SQL's order: NaN is the largest number and equals itself, strings compare bytewise.
template <typename T> bool isLess(const T &a, const T &b) {
  if constexpr (std::is_same_v<T, HrString>) {
    int order = std::memcmp(a.data, b.data, std::min(a.length, b.length));
    return order != 0 ? order < 0 : a.length < b.length;
  } else if constexpr (std::is_floating_point_v<T>) {
    return a < b || (a == a && b != b);
  } else {
    return a < b;
  }
}

inline bool isValid(const plan::StateField &field, const uint8_t *row) {
  return !field.nullable || row[field.validOffset] != 0;
}

/// A field of a number type as Value, which holds all its values.
template <typename Value> Value numberIn(HrType type, const uint8_t *at) {
  switch (type) {
  case HR_BOOL:
    return static_cast<Value>(*at);
  case HR_I8:
    return static_cast<Value>(loadAs<int8_t>(at));
  case HR_I16:
    return static_cast<Value>(loadAs<int16_t>(at));
  case HR_I32:
    return static_cast<Value>(loadAs<int32_t>(at));
  case HR_I64:
    return static_cast<Value>(loadAs<int64_t>(at));
  case HR_I128:
    return static_cast<Value>(loadAs<__int128>(at));
  case HR_F32:
    return static_cast<Value>(loadAs<float>(at));
  case HR_F64:
    return static_cast<Value>(loadAs<double>(at));
  case HR_STRING:
    break;
  }
  return Value();
}

template <typename Value> Value valueIn(const plan::StateField &field, const uint8_t *row) {
  if constexpr (std::is_same_v<Value, HrString>) {
    return loadAs<HrString>(row + field.offset);
  } else {
    return numberIn<Value>(field.type, row + field.offset);
  }
}

template <typename T> void storeAs(uint8_t *at, T value) { std::memcpy(at, &value, sizeof value); }

/// Sets a field to a value that fits it.
template <typename Value>
void setValue(const plan::StateField &field, uint8_t *row, const Value &value) {
  uint8_t *at = row + field.offset;
  if constexpr (std::is_same_v<Value, HrString>) {
    storeAs(at, value);
  } else {
    switch (field.type) {
    case HR_BOOL:
    case HR_I8:
      return storeAs(at, static_cast<int8_t>(value));
    case HR_I16:
      return storeAs(at, static_cast<int16_t>(value));
    case HR_I32:
      return storeAs(at, static_cast<int32_t>(value));
    case HR_I64:
      return storeAs(at, static_cast<int64_t>(value));
    case HR_I128:
      return storeAs(at, static_cast<__int128>(value));
    case HR_F32:
      return storeAs(at, static_cast<float>(value));
    case HR_F64:
      return storeAs(at, static_cast<double>(value));
    case HR_STRING:
      return;
    }
  }
}

inline void setValid(const plan::StateField &field, uint8_t *row, bool valid) {
  if (field.nullable) {
    row[field.validOffset] = valid ? 1 : 0;
  }
}

} // namespace headrace::exec
