// The table of types that are held as bytes.
#include "runtime/base/byte_types.h"

#include "runtime/base/binary_functions.h"
#include "runtime/base/enum_values.h"
#include "runtime/base/interval_values.h"
#include "runtime/base/unsigned128.h"
#include "runtime/base/uuid.h"

#include <algorithm>

namespace headrace {
namespace {

using Text = std::string_view;
using MaybeString = std::optional<std::string>;

constexpr ByteType kByteTypes[] = {
    {LogicalKind::kBinary, "binary", "a BLOB", binaryText, binaryOfText},
    {LogicalKind::kInterval, "interval", "an INTERVAL",
     [](Text bytes) { return intervalText(intervalParts(bytes)); },
     [](Text text) {
       const auto parts = parseInterval(text);
       return parts ? MaybeString(packedInterval(*parts)) : std::nullopt;
     }},
    {LogicalKind::kU128, "ui128", "a UHUGEINT",
     [](Text bytes) { return unsigned128Text(unsigned128(bytes)); },
     [](Text text) {
       const auto number = parseUnsigned128(text);
       return number ? MaybeString(packedUnsigned128(*number)) : std::nullopt;
     }},
    {LogicalKind::kEnum, "enum", "an ENUM", [](Text bytes) { return std::string(enumText(bytes)); },
     [](Text) { return MaybeString(); }}, // only its list says where it stands
    {LogicalKind::kUuid, "uuid", "a UUID", uuidText,
     [](Text text) {
       const auto bytes = parseUuid(text);
       return bytes ? MaybeString(std::string(bytes->begin(), bytes->end())) : std::nullopt;
     }},
};

} // namespace

const ByteType *byteTypeOf(LogicalKind kind) {
  const ByteType *found = std::ranges::find(kByteTypes, kind, &ByteType::kind);
  return found == std::end(kByteTypes) ? nullptr : found;
}

} // namespace headrace
