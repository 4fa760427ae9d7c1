// Frame: what travels before a body between processes.
//
//   | u32 magic | u32 channel | u64 body bytes | u64 run | 64 bytes header |
#pragma once

#include <cstdint>

#include "runtime/transport/transport.h"

namespace headrace {

constexpr uint32_t kFrameMagic = 0x46524d31;

struct Frame {
  uint32_t magic = kFrameMagic;
  uint32_t channel = 0;
  uint64_t bodyBytes = 0;
  uint64_t run = 0;
  HeaderBytes header{};
};
static_assert(sizeof(Frame) == 88);

/// A message on its way to a peer.
struct Outgoing {
  Frame frame;
  BufferRef body; ///< null if it has none
};

} // namespace headrace
