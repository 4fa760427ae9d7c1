// Times of compressed transfers against plain ones.
#include "model/cost/codec.h"

#include <algorithm>
#include <cmath>

namespace headrace::cost {
namespace {

/// Three steps in a row, of which only the slowest counts in full when they overlap.
Breakdown stepsOf(const CodecQuestion &question, const Cost &compress, const Cost &send,
                  const Cost &decompress) {
  Breakdown parts{{{"compress", compress}, {"bytes", send}, {"decompress", decompress}}};
  if (question.overlap == CodecOverlap::kPipelined) {
    auto slowest =
        std::max_element(parts.parts.begin(), parts.parts.end(), [](const auto &a, const auto &b) {
          return a.cost.seconds < b.cost.seconds;
        });
    for (auto part = parts.parts.begin(); part != parts.parts.end(); ++part) {
      if (part != slowest) {
        part->cost.seconds /= std::max(question.chunks, 1.0);
      }
    }
  }
  return parts;
}

} // namespace

CodecDecision chooseCodec(const topology::DeviceType &source, const topology::DeviceType &target,
                          const CodecQuestion &question) {
  CodecDecision decision;
  decision.plain = {question.bytes / question.bandwidth, question.relativeError};
  decision.wireBytes = question.bytes;
  decision.parts.parts = {{"bytes", decision.plain}};
  double best = decision.plain.seconds;
  for (const topology::Codec &codec : source.codecs) {
    auto reader = std::find_if(
        target.codecs.begin(), target.codecs.end(),
        [&](const topology::Codec &candidate) { return candidate.name == codec.name; });
    if (reader == target.codecs.end()) {
      continue;
    }
    double ratio = question.ratio > 0 ? question.ratio : codec.ratio.value;
    // An assumed ratio is as uncertain as the codec; one measured on the data is not.
    double ratioError = question.ratio > 0 ? 0 : codec.relativeError;
    Breakdown parts =
        stepsOf(question, {question.bytes / codec.compressBytesPerSecond, codec.relativeError},
                {question.bytes / ratio / question.bandwidth,
                 std::hypot(question.relativeError, ratioError)},
                {question.bytes / reader->decompressBytesPerSecond, reader->relativeError});
    if (double seconds = parts.total().seconds; seconds < best) {
      best = seconds;
      decision.codec = &codec;
      decision.wireBytes = question.bytes / ratio;
      decision.parts = std::move(parts);
    }
  }
  return decision;
}

} // namespace headrace::cost
