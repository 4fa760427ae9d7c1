// Page headers of Parquet (Thrift's compact protocol), checked byte by byte: they are foreign
// input.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>

namespace headrace::storage {

enum class PageKind : uint8_t { kData, kDataV2, kDictionary, kOther };

/// Parquet's numbers.
enum class Encoding : int32_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kRleDictionary = 8,
};

struct PageHeader {
  PageKind kind = PageKind::kOther;
  uint64_t uncompressedBytes = 0;
  uint64_t compressedBytes = 0;
  uint32_t values = 0; ///< rows, NULLs included; entries of a dictionary
  int32_t encoding = 0;
  int32_t levelEncoding = static_cast<int32_t>(Encoding::kRle); ///< definition levels of kData
  uint32_t nulls = 0;                                           ///< kDataV2
  uint64_t definitionBytes = 0; ///< kDataV2: before the values, never compressed
  uint64_t repetitionBytes = 0; ///< kDataV2
  bool compressed = true;
  uint64_t headerBytes = 0; ///< of the header itself
};

/// Reads the header at `next`. Messages carry no place: the caller knows it.
Expected<PageHeader> readPageHeader(const uint8_t *next, const uint8_t *end);

} // namespace headrace::storage
