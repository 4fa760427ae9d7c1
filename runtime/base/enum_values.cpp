// Places and texts of enums as bytes.
#include "runtime/base/enum_values.h"

#include <algorithm>

namespace headrace {

static constexpr uint32_t kPlaceBytes = 4;

std::string packedEnum(uint32_t place, std::string_view text) {
  std::string bytes;
  for (uint32_t byte = kPlaceBytes; byte-- > 0;) {
    bytes += static_cast<char>(static_cast<uint8_t>(place >> (8 * byte)));
  }
  return bytes.append(text);
}

std::string_view enumText(std::string_view bytes) {
  return bytes.substr(std::min<size_t>(bytes.size(), kPlaceBytes));
}

uint32_t enumPlace(std::string_view bytes) {
  uint32_t place = 0;
  for (const char byte : bytes.substr(0, kPlaceBytes)) {
    place = place << 8 | static_cast<uint8_t>(byte);
  }
  return place;
}

} // namespace headrace
