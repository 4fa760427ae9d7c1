// From the column downwards each level says for its entries which value of it they are in.
#include "runtime/storage/parquet/write/leaf_rows.h"

#include <arrow/array/array_nested.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>

#include <utility>

namespace headrace::storage {
namespace {

constexpr int64_t kAbsent = -1;

/// Entries as far as a level knows them.
struct Entries {
  std::vector<uint16_t> definition, repetition;
  std::vector<int64_t> places; ///< in the array of this level; kAbsent
  uint16_t definitionMax = 0, repetitionMax = 0;
};

/// One more level of definition: entries whose value is NULL end here.
void define(const arrow::Array &array, Entries &entries) {
  const auto level = static_cast<uint16_t>(++entries.definitionMax);
  for (size_t i = 0; i < entries.places.size(); ++i) {
    int64_t &place = entries.places[i];
    if (place == kAbsent) {
      continue;
    }
    if (array.IsValid(place)) {
      entries.definition[i] = level;
    } else {
      place = kAbsent;
    }
  }
}

/// The entries of the elements of lists, of which `range(place)` gives begin and end.
template <typename Range> Entries elements(const Entries &lists, Range range) {
  Entries made;
  made.definitionMax = static_cast<uint16_t>(lists.definitionMax + 1);
  made.repetitionMax = static_cast<uint16_t>(lists.repetitionMax + 1);
  auto add = [&](uint16_t definition, uint16_t repetition, int64_t place) {
    made.definition.push_back(definition);
    made.repetition.push_back(repetition);
    made.places.push_back(place);
  };
  for (size_t i = 0; i < lists.places.size(); ++i) {
    const auto [begin, end] =
        lists.places[i] == kAbsent ? std::pair<int64_t, int64_t>() : range(lists.places[i]);
    if (begin == end) {
      add(lists.definition[i], lists.repetition[i], kAbsent);
    }
    for (int64_t place = begin; place < end; ++place) {
      add(made.definitionMax, place == begin ? lists.repetition[i] : made.repetitionMax, place);
    }
  }
  return made;
}

void descend(const std::shared_ptr<arrow::Array> &array, bool isNullable, Entries entries,
             std::vector<LeafRows> &out);

template <typename Lists>
void descendIntoList(const Lists &lists, const Entries &entries, std::vector<LeafRows> &out) {
  auto range = [&](int64_t place) {
    const int64_t begin = lists.value_offset(place);
    return std::pair<int64_t, int64_t>(begin, begin + lists.value_length(place));
  };
  // Elements may be absent by a flag of the type, whatever there is.
  descend(lists.values(), lists.type()->field(0)->nullable(), elements(entries, range), out);
}

/// A slice's fields are sliced alike.
void descendIntoStruct(const arrow::StructArray &rows, const Entries &entries,
                       std::vector<LeafRows> &out) {
  for (int field = 0; field < rows.num_fields(); ++field) {
    descend(rows.field(field), rows.type()->field(field)->nullable(), entries, out);
  }
}

void addLeaf(const std::shared_ptr<arrow::Array> &array, Entries entries,
             std::vector<LeafRows> &out) {
  LeafRows leaf;
  leaf.values = array;
  leaf.entries = entries.places.size();
  for (int64_t place : entries.places) {
    if (place != kAbsent) {
      leaf.places.push_back(place);
    }
  }
  leaf.definition = std::move(entries.definition);
  if (entries.repetitionMax > 0) {
    leaf.repetition = std::move(entries.repetition);
  }
  out.push_back(std::move(leaf));
}

void descend(const std::shared_ptr<arrow::Array> &array, bool isNullable, Entries entries,
             std::vector<LeafRows> &out) {
  if (array->type_id() == arrow::Type::EXTENSION) {
    const auto &extension = static_cast<const arrow::ExtensionArray &>(*array);
    return descend(extension.storage(), isNullable, std::move(entries), out);
  }
  if (isNullable) {
    define(*array, entries);
  }
  switch (array->type_id()) {
  case arrow::Type::LIST:
    return descendIntoList(static_cast<const arrow::ListArray &>(*array), entries, out);
  case arrow::Type::LARGE_LIST:
    return descendIntoList(static_cast<const arrow::LargeListArray &>(*array), entries, out);
  case arrow::Type::MAP: // a list of structs
    return descendIntoList(static_cast<const arrow::ListArray &>(*array), entries, out);
  case arrow::Type::FIXED_SIZE_LIST:
    return descendIntoList(static_cast<const arrow::FixedSizeListArray &>(*array), entries, out);
  case arrow::Type::STRUCT:
    return descendIntoStruct(static_cast<const arrow::StructArray &>(*array), entries, out);
  default:
    return addLeaf(array, std::move(entries), out);
  }
}

bool isNested(const arrow::DataType &type) {
  return type.id() == arrow::Type::EXTENSION
             ? isNested(*static_cast<const arrow::ExtensionType &>(type).storage_type())
             : type.num_fields() > 0;
}

} // namespace

std::vector<LeafRows> leavesOf(const std::shared_ptr<arrow::Array> &column, bool isNullable) {
  std::vector<LeafRows> leaves;
  const auto rows = static_cast<size_t>(column->length());
  const bool hasNulls = isNullable && column->null_count() > 0;
  if (!isNested(*column->type()) && !hasNulls) {
    const bool isExtension = column->type_id() == arrow::Type::EXTENSION;
    LeafRows &leaf = leaves.emplace_back();
    leaf.values =
        isExtension ? static_cast<const arrow::ExtensionArray &>(*column).storage() : column;
    leaf.entries = rows;
    leaf.isWhole = true;
    return leaves;
  }
  Entries entries;
  entries.definition.assign(rows, 0);
  entries.repetition.assign(rows, 0);
  entries.places.resize(rows);
  for (size_t row = 0; row < rows; ++row) {
    entries.places[row] = static_cast<int64_t>(row);
  }
  descend(column, isNullable, std::move(entries), leaves);
  return leaves;
}

} // namespace headrace::storage
