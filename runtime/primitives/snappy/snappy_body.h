// The Snappy loop, compiled once per instruction set (isa/body.h).
//
// A block is a varint of the decompressed size, then elements; the low two bits of a tag say which:
//   00 literal: (tag >> 2) + 1 bytes follow; 60..63: the length - 1 is in the next 1..4 bytes
//   01 copy of ((tag >> 2) & 7) + 4 bytes from (tag >> 5) << 8 | next byte back
//   10 copy of (tag >> 2) + 1 bytes, the distance in the next 2 bytes      11: in the next 4 bytes
//
// The fast loop steps K streams together, one element each, without a branch on the kind of
// element: a table gives length and the high part of the distance, and every element is one 32-byte
// copy. It runs only as many steps as surely fit into every input and output, and leaves to the
// checked slow path whatever is unusual: longer than 32 bytes, overlapping, or reaching before the
// output's start.
#pragma once

#include "runtime/primitives/snappy/snappy.h"

#include <stdint.h>
#include <string.h>

namespace headrace::primitives {
namespace {

struct SnappyTags {
  uint32_t length[256];   // kSnappyUnusual: for the slow path
  uint16_t distance[256]; // the part of the distance that the tag holds; literals: 32, which passes
                          // all checks
};
constexpr uint32_t kSnappyUnusual = 1u << 30;

constexpr SnappyTags makeSnappyTags() {
  SnappyTags tags{};
  for (uint32_t tag = 0; tag < 256; ++tag) {
    uint32_t kind = tag & 3;
    uint32_t length = kind == 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    tags.length[tag] = kind == 3 || length > 32 ? kSnappyUnusual : length;
    tags.distance[tag] = static_cast<uint16_t>(kind == 0 ? 32 : kind == 1 ? (tag >> 5) << 8 : 0);
  }
  return tags;
}
constexpr SnappyTags kSnappyTags = makeSnappyTags();

struct SnappyStream {
  const uint8_t *in, *inEnd;
  uint8_t *out, *outEnd, *outBegin;
};

inline bool openSnappy(SnappyStream &stream, const SnappyBlock &block) {
  const uint8_t *in = block.input;
  const uint8_t *end = in + block.inputBytes;
  uint64_t declared = 0;
  for (uint32_t shift = 0;; shift += 7) {
    if (in == end || shift > 28) {
      return false;
    }
    uint8_t byte = *in++;
    declared |= static_cast<uint64_t>(byte & 127) << shift;
    if (!(byte & 128)) {
      break;
    }
  }
  stream = {in, end, block.output, block.output + block.outputBytes, block.output};
  return declared == block.outputBytes;
}

/// Copies `length` bytes from `distance` back, the two possibly overlapping; all of it within the
/// output.
inline void copyBack(uint8_t *out, uint64_t distance, uint64_t length, uint64_t room) {
  const uint8_t *from = out - distance;
  if (distance >= length) {
    if (room >= 64 && length <= 64 && distance >= 64) {
      memcpy(out, from, 64);
    } else {
      memcpy(out, from, length);
    }
    return;
  }
  // A repeating pattern. Grow it to at least eight bytes, then go on by words at a multiple of its
  // length.
  uint64_t done = 0;
  uint64_t period = distance;
  if (room >= 72) {
    while (period < 8) {
      uint64_t word;
      memcpy(&word, from, 8); // bytes past the pattern are overwritten below
      memcpy(out + done, &word, 8);
      done += period;
      period *= 2;
      if (done >= length) {
        return;
      }
    }
    for (; done < length; done += 8) {
      uint64_t word;
      memcpy(&word, out + done - period, 8);
      memcpy(out + done, &word, 8);
    }
    return;
  }
  for (; done < length; ++done) {
    out[done] = from[done];
  }
}

/// One element, everything checked. There is at least one input byte.
inline bool stepSnappy(SnappyStream &stream) {
  const uint8_t *in = stream.in;
  const uint64_t room = static_cast<uint64_t>(stream.outEnd - stream.out);
  const uint8_t tag = *in++;
  uint64_t left = static_cast<uint64_t>(stream.inEnd - in);
  const uint32_t kind = tag & 3;
  if (kind == 0) {
    uint64_t length = (tag >> 2) + 1u;
    if (length > 60) {
      const uint64_t bytes = length - 60;
      if (left < bytes) {
        return false;
      }
      length = 0;
      for (uint64_t i = 0; i < bytes; ++i) {
        length |= static_cast<uint64_t>(in[i]) << (8 * i);
      }
      ++length;
      in += bytes;
      left -= bytes;
    }
    if (length > left || length > room) {
      return false;
    }
    memcpy(stream.out, in, length);
    stream.out += length;
    stream.in = in + length;
    return true;
  }
  const uint64_t bytes = kind == 3 ? 4 : kind;
  if (left < bytes) {
    return false;
  }
  uint64_t distance = 0;
  for (uint64_t i = 0; i < bytes; ++i) {
    distance |= static_cast<uint64_t>(in[i]) << (8 * i);
  }
  uint64_t length = (tag >> 2) + 1u;
  if (kind == 1) {
    length = ((tag >> 2) & 7) + 4u;
    distance |= static_cast<uint64_t>(tag >> 5) << 8;
  }
  if (distance == 0 || distance > static_cast<uint64_t>(stream.out - stream.outBegin) ||
      length > room) {
    return false;
  }
  copyBack(stream.out, distance, length, room);
  stream.out += length;
  stream.in = in + bytes;
  return true;
}

/// Steps that surely stay inside: a step takes at most 34 bytes of input and reads as many; it
/// writes 32.
inline int64_t stepsLeft(const SnappyStream &stream) {
  int64_t bySource = (stream.inEnd - stream.in - 40) / 34;
  int64_t byTarget = (stream.outEnd - stream.out - 64) / 32;
  return bySource < byTarget ? bySource : byTarget;
}

/// Steps all K streams until one is near its end.
template <int K> inline bool runSnappy(SnappyStream *stream) {
  for (;;) {
    int64_t steps = INT64_MAX;
    for (int k = 0; k < K; ++k) {
      int64_t left = stepsLeft(stream[k]);
      steps = left < steps ? left : steps;
    }
    if (steps <= 0) {
      return true;
    }
    const uint8_t *in[K];
    uint8_t *out[K];
    for (int k = 0; k < K; ++k) {
      in[k] = stream[k].in;
      out[k] = stream[k].out;
    }
    uint32_t unusual = 0;
    for (; steps > 0 && !unusual; --steps) {
#pragma clang loop unroll(full)
      for (int k = 0; k < K; ++k) {
        const uint32_t tag = *in[k];
        const uint32_t kind = tag & 3;
        uint32_t word;
        memcpy(&word, in[k] + 1, 4);
        const uint32_t length = kSnappyTags.length[tag];
        const uint64_t distance =
            (word & static_cast<uint32_t>((1ull << (8 * kind)) - 1)) | kSnappyTags.distance[tag];
        const bool literal = kind == 0;
        if (__builtin_expect((distance < length) |
                                 (distance > static_cast<uint64_t>(out[k] - stream[k].outBegin)),
                             0)) {
          unusual |= 1u << k;
          continue;
        }
        const uint8_t *copyFrom = out[k] - distance;
        const uint8_t *from = literal ? in[k] + 1 : copyFrom;
        const uint8_t *afterCopy = in[k] + 1 + kind;
        const uint8_t *afterLiteral = in[k] + 2 + (tag >> 2);
        uint8_t window[32];
        memcpy(window, from, 32);
        memcpy(out[k], window, 32);
        out[k] += length;
        in[k] = literal ? afterLiteral : afterCopy;
      }
    }
    for (int k = 0; k < K; ++k) {
      stream[k].in = in[k];
      stream[k].out = out[k];
      if (unusual >> k & 1 && !stepSnappy(stream[k])) {
        return false;
      }
    }
  }
}

/// The rest of a stream that is near its end, element by element.
inline bool finishSnappy(SnappyStream &stream) {
  while (stream.in != stream.inEnd) {
    if (!stepSnappy(stream)) {
      return false;
    }
  }
  return stream.out == stream.outEnd;
}

/// Keeps kSnappyStreams streams running: when one is near its end it is finished and the next block
/// takes its place.
bool snappyBlocks(const SnappyBlock *blocks, uint64_t count) {
  static_assert(kSnappyStreams == 3);
  SnappyStream stream[kSnappyStreams];
  uint32_t open = 0;
  uint64_t next = 0;
  for (;;) {
    while (open < kSnappyStreams && next < count) {
      if (!openSnappy(stream[open++], blocks[next++])) {
        return false;
      }
    }
    if (open == 0) {
      return true;
    }
    if (!(open == 3   ? runSnappy<3>(stream)
          : open == 2 ? runSnappy<2>(stream)
                      : runSnappy<1>(stream))) {
      return false;
    }
    for (uint32_t k = open; k-- > 0;) {
      if (stepsLeft(stream[k]) <= 0) {
        if (!finishSnappy(stream[k])) {
          return false;
        }
        stream[k] = stream[--open];
      }
    }
  }
}

} // namespace
} // namespace headrace::primitives
