// What holds of a logical type, and its text.
#include "runtime/base/logical_type.h"

namespace headrace {

bool LogicalType::integral() const {
  switch (kind) {
  case LogicalKind::kI8:
  case LogicalKind::kI16:
  case LogicalKind::kI32:
  case LogicalKind::kI64:
  case LogicalKind::kU8:
  case LogicalKind::kU16:
  case LogicalKind::kU32:
  case LogicalKind::kU64:
  case LogicalKind::kI128:
  case LogicalKind::kDecimal:
  case LogicalKind::kDate:
  case LogicalKind::kTime:
  case LogicalKind::kTimestamp:
    return true;
  default:
    return false;
  }
}

std::string LogicalType::text() const {
  for (const LogicalKindName &entry : kLogicalKindNames) {
    if (entry.value != kind) {
      continue;
    }
    std::string text = entry.name;
    if (kind == LogicalKind::kDecimal) {
      text += "<" + std::to_string(precision) + ", " + std::to_string(scale) + ">";
    }
    if (kind == LogicalKind::kTime || kind == LogicalKind::kTimestamp) {
      text += std::string("<") + kTimeUnitNames[static_cast<int>(unit)].name +
              (zoned ? ", zoned>" : ">");
    }
    for (size_t index = 0; index < children.size(); ++index) {
      text += index == 0 ? "<" : ", ";
      text += index < names.size() && !names[index].empty() ? names[index] + ": " : "";
      text += children[index].text();
    }
    text += size == 0 ? "" : ", " + std::to_string(size);
    return children.empty() ? text : text + ">";
  }
  return "?"; // a value outside the enum
}

} // namespace headrace
