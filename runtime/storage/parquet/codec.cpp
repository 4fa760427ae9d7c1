// The one place that calls Arrow's codecs.
#include "runtime/storage/parquet/codec.h"

#include "runtime/primitives/dispatch/isa.h"
#include "runtime/primitives/snappy/snappy.h"

#include <arrow/util/compression.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

namespace headrace::storage {
namespace {

/// By Parquet's numbers.
constexpr std::string_view kNames[] = {"uncompressed", "snappy", "gzip", "lzo",
                                       "brotli",       "lz4",    "zstd", "lz4_raw"};

Expected<std::unique_ptr<arrow::util::Codec>> openCodec(int codec, int level = 0) {
  HR_ASSIGN_OR_RETURN(const arrow::Compression::type type, arrowCodec(codec));
  auto created =
      level == 0 ? arrow::util::Codec::Create(type) : arrow::util::Codec::Create(type, level);
  if (created.ok() && *created) {
    return *std::move(created);
  }
  return makeError(ErrorKind::kUnsupported, "compression is not supported: ", codecName(codec));
}

} // namespace

const char *codecName(int codec) {
  return codec >= 0 && static_cast<size_t>(codec) < std::size(kNames) ? kNames[codec].data()
                                                                      : "unknown";
}

Expected<int> codecNamed(std::string_view name) {
  const auto *known = std::find(std::begin(kNames), std::end(kNames), name);
  if (known == std::end(kNames)) {
    return makeError(ErrorKind::kUnsupported, "compression is not supported: ", name);
  }
  return static_cast<int>(known - std::begin(kNames));
}

Expected<arrow::Compression::type> arrowCodec(int codec) {
  switch (codec) {
  case kCodecNone:
    return arrow::Compression::UNCOMPRESSED;
  case kCodecSnappy:
    return arrow::Compression::SNAPPY;
  case 2:
    return arrow::Compression::GZIP;
  case 4:
    return arrow::Compression::BROTLI;
  case 5:
    return arrow::Compression::LZ4_HADOOP;
  case kCodecZstd:
    return arrow::Compression::ZSTD;
  case kCodecLz4:
    return arrow::Compression::LZ4;
  default:
    return makeError(ErrorKind::kUnsupported, "compression is not supported: ", codecName(codec));
  }
}

Status decompressWithArrow(int codec, const uint8_t *input, uint64_t inputBytes, uint8_t *output,
                           uint64_t outputBytes) {
  try {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<arrow::util::Codec> opened, openCodec(codec));
    auto written = opened->Decompress(static_cast<int64_t>(inputBytes), input,
                                      static_cast<int64_t>(outputBytes), output);
    if (!written.ok()) {
      return makeError(ErrorKind::kCorrupt, "a page does not decompress (", codecName(codec),
                       "): ", written.status().message());
    }
    if (static_cast<uint64_t>(*written) != outputBytes) {
      return makeError(ErrorKind::kCorrupt, "a page decompresses to ", *written,
                       " bytes, its header says: ", outputBytes);
    }
  } catch (const std::exception &error) {
    return makeError(ErrorKind::kCorrupt, "a page does not decompress (", codecName(codec),
                     "): ", error.what());
  }
  return Status();
}

Status decompressBlock(int codec, const uint8_t *input, uint64_t inputBytes, uint8_t *output,
                       uint64_t outputBytes) {
  if (codec != kCodecSnappy) {
    return decompressWithArrow(codec, input, inputBytes, output, outputBytes);
  }
  static const primitives::Isa isa = primitives::detectIsa();
  primitives::SnappyBlock block{input, inputBytes, output, outputBytes};
  return primitives::snappyDecompress(isa, {&block, 1})
             ? Status()
             : makeError(ErrorKind::kCorrupt, "a block does not decompress: ", codecName(codec));
}

Expected<std::vector<uint8_t>> compressWithArrow(int codec, std::span<const uint8_t> input,
                                                 int level) {
  try {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<arrow::util::Codec> opened, openCodec(codec, level));
    const auto bytes = static_cast<int64_t>(input.size());
    const int64_t room = opened->MaxCompressedLen(bytes, input.data());
    // Not filled with zeros first.
    const std::unique_ptr<uint8_t[]> output(new uint8_t[static_cast<size_t>(room)]);
    auto written = opened->Compress(bytes, input.data(), room, output.get());
    if (!written.ok()) {
      // no test: what fits memory compresses
      return makeError(ErrorKind::kInternal, "a block does not compress (", codecName(codec),
                       "): ", written.status().message());
    }
    return std::vector<uint8_t>(output.get(), output.get() + *written);
  } catch (const std::exception &error) {
    // no test: what fits memory compresses
    return makeError(ErrorKind::kInternal, "a block does not compress (", codecName(codec),
                     "): ", error.what());
  }
}

} // namespace headrace::storage
