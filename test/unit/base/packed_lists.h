// Packed lists by hand, for the tests of their functions.
#pragma once

#include "runtime/base/list_functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

/// As much room as is asked for and no byte more, so that a sanitizer sees what goes beyond.
class ExactRoom final : public TextRoom {
  char *take(uint64_t bytes) override {
    if (bytes > kBytesMax) {
      return nullptr;
    }
    memory_.push_back(std::vector<char>(std::max<uint64_t>(bytes, 1))); // null is no room
    return memory_.back().data();
  }
  std::vector<std::vector<char>> memory_;
};

inline const ElementCode kInteger = elementCode({LogicalKind::kI32});
inline const ElementCode kReal = elementCode({LogicalKind::kF64});
inline const ElementCode kText = elementCode({LogicalKind::kString});

inline std::string pack(ElementCode code, const std::vector<std::optional<std::string>> &elements) {
  uint64_t texts = 0;
  for (const auto &element : elements) {
    texts += element ? element->size() : 0;
  }
  std::string bytes(ListWriter::bytesOf(code, elements.size(), texts), 'x');
  ListWriter writer(bytes.data(), code, static_cast<uint32_t>(elements.size()));
  for (const auto &element : elements) {
    writer.add(element ? std::optional<std::string_view>(*element) : std::nullopt);
  }
  EXPECT_EQ(writer.end(), bytes.data() + bytes.size());
  return bytes;
}

inline std::optional<std::string> integer(int value) {
  return std::string(ElementBytes::ofInteger(kInteger, value).view());
}
inline std::optional<std::string> real(double value) {
  return std::string(ElementBytes::ofReal(kReal, value).view());
}

} // namespace headrace
