// Names and ranges of types.
#include "runtime/storage/columns/column_type.h"

#include "model/plan/names.h"
#include "runtime/abi/type_bytes.h"

#include <algorithm>

namespace headrace::storage {

bool canBe(const LogicalType &column, HrType type) {
  if (column.isHeldAsText()) {
    return type == HR_STRING;
  }
  switch (column.kind) {
  case LogicalKind::kBool:
    return type == HR_BOOL;
  case LogicalKind::kF32:
    return type == HR_F32;
  case LogicalKind::kF64:
    return type == HR_F64;
  default:
    return type == HR_I8 || type == HR_I16 || type == HR_I32 || type == HR_I64 || type == HR_I128;
  }
}

bool widensTo(const LogicalType &stored, const LogicalType &wanted) {
  auto isInteger = [](LogicalKind kind) {
    return kind >= LogicalKind::kI8 && kind <= LogicalKind::kI64;
  };
  return stored == wanted ||
         (isInteger(stored.kind) && isInteger(wanted.kind) && stored.kind < wanted.kind);
}

nlohmann::json typeJson(const LogicalType &type) {
  nlohmann::json json = {{"kind", plan::nameOf(type.kind)}};
  if (type.kind == LogicalKind::kDecimal) {
    json["precision"] = type.precision;
    json["scale"] = type.scale;
  }
  if (type.kind == LogicalKind::kTime || type.kind == LogicalKind::kTimestamp) {
    json["unit"] = plan::nameOf(type.unit);
    json["zoned"] = type.zoned;
  }
  for (const LogicalType &child : type.children) {
    json["children"].push_back(typeJson(child));
  }
  if (type.size != 0) {
    json["size"] = type.size;
  }
  if (!type.names.empty()) {
    json["names"] = type.names;
  }
  return json;
}

LogicalType typeOf(const nlohmann::json &json) {
  LogicalType type;
  type.kind =
      plan::enumOf<LogicalKind>(json.at("kind").get<std::string>()).value_or(LogicalKind::kNone);
  type.precision = json.value("precision", 0);
  type.scale = json.value("scale", 0);
  type.unit = plan::enumOf<TimeUnit>(json.value("unit", "")).value_or(TimeUnit::kMicrosecond);
  type.zoned = json.value("zoned", false);
  return type;
}

nlohmann::json unknownColumn(size_t index, nlohmann::json type, bool nullable) {
  return {{"index", index},          {"type", std::move(type)},
          {"nullable", nullable},    {"min", nullptr},
          {"max", nullptr},          {"nulls", nullptr},
          {"distinct", nullptr},     {"dictionary_entries", nullptr},
          {"all_dictionary", false}, {"average_bytes", nullptr},
          {"ordered", false}};
}

const char *typeName(HrType type) {
  constexpr const char *kNames[] = {"bool", "i8",  "i16", "i32",   "i64",
                                    "i128", "f32", "f64", "string"};
  return type <= HR_STRING ? kNames[type] : "unknown";
}

bool fitsInteger(HrType type, __int128 min, __int128 max) {
  if (type == HR_I128) {
    return true;
  }
  __int128 limit = static_cast<__int128>(1) << (8 * abi::bytesOf(type) - 1);
  return min >= -limit && max < limit;
}

std::string integerText(__int128 value) {
  unsigned __int128 rest = value < 0 ? -static_cast<unsigned __int128>(value) : value;
  std::string text;
  do {
    text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) {
    text.push_back('-');
  }
  std::reverse(text.begin(), text.end());
  return text;
}

} // namespace headrace::storage
