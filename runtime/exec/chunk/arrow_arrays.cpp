// Ownership of Arrow arrays, and packed lists, structs and maps as arrays.
#include "runtime/exec/chunk/arrow_arrays.h"

#include "runtime/base/check.h"
#include "runtime/base/enum_values.h"
#include "runtime/base/interval_values.h"
#include "runtime/base/list_values.h"
#include "runtime/base/unsigned128.h"
#include "runtime/base/uuid.h"

#include <cstring>
#include <optional>
#include <string_view>

namespace headrace::exec {

static void releaseArray(ArrowArray *array) {
  auto *holder = static_cast<ArrayHolder *>(array->private_data);
  for (ArrowArray &child : holder->children) {
    if (child.release) {
      child.release(&child);
    }
  }
  if (holder->dictionary.release) {
    holder->dictionary.release(&holder->dictionary);
  }
  delete holder;
  array->release = nullptr;
}

void fillArray(ArrowArray &array, ArrayHolder *holder, uint32_t rows, int64_t buffers) {
  for (ArrowArray &child : holder->children) {
    holder->pointers.push_back(&child);
  }
  array = ArrowArray{};
  array.length = rows;
  array.null_count = holder->buffers[0] ? -1 : 0;
  array.n_buffers = buffers;
  array.buffers = holder->buffers;
  array.n_children = static_cast<int64_t>(holder->children.size());
  array.children = holder->pointers.data();
  array.dictionary = holder->dictionary.release ? &holder->dictionary : nullptr;
  array.release = releaseArray;
  array.private_data = holder;
}

namespace {

/// Values as lists have them; nothing for NULL.
using Elements = std::vector<std::optional<std::string_view>>;

/// Fails where Arrow does not hold a value; the array is there all the same.
Status exportElements(const Elements &elements, ElementCode code, const ArrowType &type,
                      ArrowArray &out);

template <typename T> void append(std::vector<uint8_t> &to, T value) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

int32_t offsetOf(size_t count) {
  HR_CHECK(count <= INT32_MAX); // a chunk has fewer bytes
  return static_cast<int32_t>(count);
}

/// Arrays one behind the other, as many NULLs for each that is NULL itself.
Status fillArrays(const Elements &elements, const ArrowType &type, ArrayHolder &holder) {
  Elements below;
  ElementCode code = 0;
  for (const auto &element : elements) {
    if (!element) {
      below.resize(below.size() + type.size);
      continue;
    }
    const ListView list(*element);
    HR_CHECK(list.size() == type.size); // as casts have seen
    for (uint32_t index = 0; index < list.size(); ++index) {
      below.push_back(list.element(index));
    }
    code = list.code();
  }
  holder.children.resize(1);
  return exportElements(below, code, type.children.front(), holder.children.front());
}

/// Offsets in front of and behind each list; their elements become the child.
Status fillLists(const Elements &elements, const ArrowType &type, ArrayHolder &holder) {
  Elements below;
  ElementCode code = 0;
  append(holder.converted, offsetOf(0));
  for (const auto &element : elements) {
    const ListView list(element.value_or(std::string_view()));
    for (uint32_t index = 0; index < list.size(); ++index) {
      below.push_back(list.element(index));
    }
    code = list.size() == 0 ? code : list.code();
    append(holder.converted, offsetOf(below.size()));
  }
  holder.children.resize(1);
  return exportElements(below, code, type.children.front(), holder.children.front());
}

/// A child for each field, as long as the struct itself.
Status fillStructs(const Elements &elements, const ArrowType &type, ArrayHolder &holder) {
  holder.children.resize(type.children.size());
  Status status;
  for (uint32_t field = 0; field < type.children.size(); ++field) {
    Elements values;
    ElementCode code = 0;
    for (const auto &element : elements) {
      const ListView fields(element.value_or(std::string_view()));
      const bool isThere = field < fields.size();
      values.push_back(isThere ? fields.element(field) : std::nullopt);
      code = isThere ? fields.code(field) : code;
    }
    Status exported = exportElements(values, code, type.children[field], holder.children[field]);
    status = status.ok() ? exported : status;
  }
  return status;
}

void fillTexts(const Elements &elements, ArrayHolder &holder) {
  append(holder.converted, offsetOf(0));
  for (const auto &element : elements) {
    const std::string_view text = element.value_or(std::string_view());
    holder.texts.insert(holder.texts.end(), text.begin(), text.end());
    append(holder.converted, offsetOf(holder.texts.size()));
  }
}

void setBit(std::vector<uint8_t> &bits, size_t place) {
  bits[place / 8] = static_cast<uint8_t>(bits[place / 8] | 1 << (place % 8));
}

void fillNumbers(const Elements &elements, ElementCode code, const ArrowType &type,
                 ArrayHolder &holder) {
  const bool isBoolean = type.width == 0;
  holder.converted.resize(isBoolean ? (elements.size() + 7) / 8 : elements.size() * type.width);
  for (size_t index = 0; index < elements.size(); ++index) {
    if (!elements[index]) {
      continue;
    }
    const __int128 bits = integerIn(code, *elements[index]);
    if (!isBoolean) {
      std::memcpy(holder.converted.data() + index * type.width, &bits, type.width);
    } else if (bits != 0) {
      setBit(holder.converted, index);
    }
  }
}

/// Months, days and nanoseconds, one behind the other.
Status fillIntervals(const Elements &elements, ArrayHolder &holder) {
  bool fits = true;
  for (const auto &element : elements) {
    const IntervalParts parts = intervalParts(element.value_or(std::string_view()));
    append(holder.converted, parts.months);
    append(holder.converted, parts.days);
    int64_t nanos = 0;
    fits &= !__builtin_mul_overflow(parts.micros, 1000, &nanos);
    append(holder.converted, nanos);
  }
  return fits ? Status()
              : makeError(ErrorKind::kData,
                          "an interval has more time than nanoseconds of 64 bits hold, as Arrow "
                          "counts it; cast it to VARCHAR");
}

/// Of numbers with a sign, as DuckDB's are there; it gives others than these for large ones.
Status fillUnsigned128(const Elements &elements, ArrayHolder &holder) {
  bool fits = true;
  for (const auto &element : elements) {
    const U128 value = unsigned128(element.value_or(std::string_view()));
    append(holder.converted, value);
    fits &= value >> 127 == 0;
  }
  return fits ? Status()
              : makeError(ErrorKind::kData,
                          "a UHUGEINT is larger than the integers of 128 bits that "
                          "Arrow has; cast it to VARCHAR");
}

void fillUuids(const Elements &elements, ArrayHolder &holder) {
  for (const auto &element : elements) {
    UuidBytes bytes{}; // of NULL
    element.value_or(std::string_view()).copy(bytes.data(), bytes.size());
    append(holder.converted, bytes);
  }
}

/// Of enums, with the texts that they stand for.
Status fillPlaces(const Elements &elements, const ArrowType &type, ArrayHolder &holder) {
  holder.converted.resize(elements.size() * type.width);
  for (size_t index = 0; index < elements.size(); ++index) {
    const uint32_t place = enumPlace(elements[index].value_or(std::string_view()));
    std::memcpy(holder.converted.data() + index * type.width, &place, type.width);
  }
  const Elements texts(type.values.begin(), type.values.end());
  return exportElements(texts, 0, ArrowType{"u", 0, {}}, holder.dictionary);
}

Status exportElements(const Elements &elements, ElementCode code, const ArrowType &type,
                      ArrowArray &out) {
  auto *holder = new ArrayHolder{};
  Status status;
  const bool isText = type.format == "u" || type.format == "z", isStruct = type.format == "+s";
  const bool isArray = type.size != 0;
  if (isStruct) {
    status = fillStructs(elements, type, *holder);
  } else if (isArray) {
    status = fillArrays(elements, type, *holder);
  } else if (!type.children.empty()) {
    status = fillLists(elements, type, *holder);
  } else if (isText) {
    fillTexts(elements, *holder);
  } else if (type.format == kArrowInterval) {
    status = fillIntervals(elements, *holder);
  } else if (type.isUnsigned128) {
    status = fillUnsigned128(elements, *holder);
  } else if (!type.values.empty()) {
    status = fillPlaces(elements, type, *holder);
  } else if (type.format == kArrowUuid) {
    fillUuids(elements, *holder);
  } else {
    fillNumbers(elements, code, type, *holder);
  }
  holder->validity.resize((elements.size() + 7) / 8);
  bool hasNulls = false;
  for (size_t index = 0; index < elements.size(); ++index) {
    hasNulls |= !elements[index];
    if (elements[index]) {
      setBit(holder->validity, index);
    }
  }
  holder->converted.resize(holder->converted.size() + 1); // no null pointers to nothing
  holder->texts.resize(holder->texts.size() + 1);
  holder->buffers[0] = hasNulls ? holder->validity.data() : nullptr;
  holder->buffers[1] = holder->converted.data();
  holder->buffers[2] = holder->texts.data();
  fillArray(out, holder, static_cast<uint32_t>(elements.size()),
            isStruct || isArray ? 1
            : isText            ? 3
                                : 2);
  return status;
}

} // namespace

Status exportNested(const HrSegment &segment, uint32_t rows, const ArrowType &type,
                    ArrowArray &out) {
  const auto *offsets = static_cast<const uint32_t *>(segment.data);
  Elements values(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    if (!segment.validity || (segment.validity[row / 8] >> (row % 8) & 1) != 0) {
      values[row] = std::string_view(reinterpret_cast<const char *>(segment.heap) + offsets[row],
                                     offsets[row + 1] - offsets[row]);
    }
  }
  return exportElements(values, 0, type, out);
}

} // namespace headrace::exec
