// Where bytes live.
#pragma once

#include <cstdint>

namespace headrace {

enum class Tier : uint8_t { kDevice, kPinned, kHost, kFile };
constexpr int kTierCount = 4;

/// "device", "pinned", "host" or "file".
constexpr const char *tierName(Tier tier) {
  constexpr const char *kNames[kTierCount] = {"device", "pinned", "host", "file"};
  return kNames[static_cast<int>(tier)];
}

} // namespace headrace
