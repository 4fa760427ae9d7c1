// The one place that calls Arrow's codecs.
#include "runtime/storage/parquet/codec.h"

#include "runtime/primitives/dispatch/isa.h"
#include "runtime/primitives/snappy/snappy.h"

#include <arrow/util/compression.h>

#include <exception>
#include <memory>
#include <optional>

namespace headrace::storage {
namespace {

std::optional<arrow::Compression::type> arrowCodec(int codec) {
  switch (codec) {
  case 1:
    return arrow::Compression::SNAPPY;
  case 2:
    return arrow::Compression::GZIP;
  case 4:
    return arrow::Compression::BROTLI;
  case 5:
    return arrow::Compression::LZ4_HADOOP;
  case 6:
    return arrow::Compression::ZSTD;
  case 7:
    return arrow::Compression::LZ4;
  default:
    return std::nullopt;
  }
}

Expected<std::unique_ptr<arrow::util::Codec>> openCodec(int codec) {
  if (std::optional<arrow::Compression::type> type = arrowCodec(codec)) {
    if (auto created = arrow::util::Codec::Create(*type); created.ok()) {
      return *std::move(created);
    }
  }
  return makeError(ErrorKind::kUnsupported, "compression is not supported: ", codecName(codec));
}

} // namespace

const char *codecName(int codec) {
  constexpr const char *kNames[] = {"uncompressed", "snappy", "gzip", "lzo",
                                    "brotli",       "lz4",    "zstd", "lz4_raw"};
  return codec >= 0 && codec <= 7 ? kNames[codec] : "unknown";
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

Expected<std::vector<uint8_t>> compressWithArrow(int codec, std::span<const uint8_t> input) {
  try {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<arrow::util::Codec> opened, openCodec(codec));
    int64_t bytes = static_cast<int64_t>(input.size());
    std::vector<uint8_t> output(static_cast<size_t>(opened->MaxCompressedLen(bytes, input.data())));
    auto written =
        opened->Compress(bytes, input.data(), static_cast<int64_t>(output.size()), output.data());
    if (!written.ok()) {
      // no test: what fits memory compresses
      return makeError(ErrorKind::kInternal, "a block does not compress (", codecName(codec),
                       "): ", written.status().message());
    }
    output.resize(static_cast<size_t>(*written));
    return output;
  } catch (const std::exception &error) {
    // no test: what fits memory compresses
    return makeError(ErrorKind::kInternal, "a block does not compress (", codecName(codec),
                     "): ", error.what());
  }
}

} // namespace headrace::storage
