// Whether compression pays on a way of a given speed.
#pragma once

#include "model/cost/cost.h"

#include <span>
#include <string>

namespace headrace::cost {

/// How the three steps (compress, send, decompress) follow each other.
enum class CodecOverlap : uint8_t {
  kSerial,    ///< one after the other: pays iff 1 − 1/r > B·(1/C + 1/D)
  kPipelined, ///< chunk by chunk, each on its own engine: the slowest step counts, and the others
              ///< for one chunk
};

/// The bytes to move and the way they go.
struct CodecQuestion {
  double bytes = 0;
  double bandwidth = 0;     ///< of the way, bytes per second; above 0
  double relativeError = 0; ///< of the bandwidth
  double ratio = 0;         ///< that the data are known to give; 0: what the codec usually gives
  CodecOverlap overlap = CodecOverlap::kSerial;
  double chunks = 16; ///< pipelined: how many
};

struct CodecDecision {
  const topology::Codec *codec = nullptr; ///< null: plain bytes are quicker
  double wireBytes = 0;
  Breakdown parts; ///< "compress", "bytes", "decompress"; pipelined: what of each shows
  Cost plain;      ///< without compression
};

/// The codec of least time on `source` that `target` knows by the same name, or none.
CodecDecision chooseCodec(const topology::DeviceType &source, const topology::DeviceType &target,
                          const CodecQuestion &question);

} // namespace headrace::cost
