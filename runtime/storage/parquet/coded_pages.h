// The form in which a chunk keeps its pages of dictionary codes:
//
//   values   where those take little more memory than codes and dictionary: read several times
//   faster, with or
//            without a selection, and without page boundaries (l_extendedprice even takes less)
//   packed   where the stream has many short runs: one bit-packed run instead (l_linestatus: a run
//   every few rows) as is    else
//
// Texts stay codes: predicates and groups work on dictionary entries.
#pragma once

#include "runtime/storage/decoders.h"
#include "runtime/storage/encoded_chunk.h"

#include <vector>

namespace headrace::storage {

/// Messages carry no place.
class CodedPages {
public:
  CodedPages(const Decoders &decoders, EncodedChunk &chunk) : decoders_(decoders), chunk_(chunk) {}

  /// Before any page: the dictionary (values of chunk.type), and how many rows all pages of codes
  /// have, in how many bytes.
  void begin(PaddedBuffer dictionary, uint32_t entries, uint64_t rows, uint64_t bytes);
  /// Appends a page to the chunk. `owned` holds the codes, unless they lie in the file.
  Status add(const HrSegment &codes, PaddedBuffer owned);
  /// After the last page: the chunk has what its segments need.
  Status end();

  /// All codes of a page as values.
  Status decode(const HrSegment &codes, void *out) const;

private:
  enum class Form : uint8_t { kUnknown, kValues, kPacked, kAsIs };
  Status check(const HrSegment &codes);
  Status addValues(const HrSegment &codes);
  Status addPacked(const HrSegment &codes);
  Status pack();

  const Decoders &decoders_;
  EncodedChunk &chunk_;
  Form form_ = Form::kUnknown; ///< until the first page is seen
  PaddedBuffer dictionary_;
  PaddedBuffer values_; ///< of all pages, one after the other
  uint64_t valueRows_ = 0;
  std::vector<uint8_t>
      ignored_;                ///< the values of codes that are only checked, and the table for it
  std::vector<uint8_t> codes_; ///< one a byte, of the segments to be packed
  std::vector<size_t> packedSegments_;
};

} // namespace headrace::storage
