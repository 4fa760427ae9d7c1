// The bytes of a file from its begin to its end, decompressed.
#pragma once

#include "runtime/storage/files/input_file.h"

#include <memory>
#include <span>
#include <string>

namespace headrace::storage {

/// One thread at a time.
class ByteReader {
public:
  virtual ~ByteReader() = default;
  /// How many bytes `out` has got; 0: the end. kIo; kCorrupt: what is compressed is damaged.
  virtual Expected<size_t> read(std::span<char> out) = 0;
};

/// `compression`: "gzip", "zstd", or empty: none. kUnsupported: another.
Expected<std::unique_ptr<ByteReader>> readBytes(std::shared_ptr<const InputFile> input,
                                                const std::string &compression);

} // namespace headrace::storage
