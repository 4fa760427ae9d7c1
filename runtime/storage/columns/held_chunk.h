// A chunk of a column and the bytes that it is charged with: what a morsel pins.
#pragma once

#include "runtime/memory/budget.h"
#include "runtime/storage/columns/encoded_chunk.h"

#include <memory>

namespace headrace::storage {

struct HeldChunk {
  Charge charge;
  std::shared_ptr<const EncodedChunk> chunk;
};
using HeldChunkHandle = std::shared_ptr<const HeldChunk>;

} // namespace headrace::storage
