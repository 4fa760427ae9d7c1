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

#include "runtime/storage/columns/decoders.h"
#include "runtime/storage/columns/encoded_chunk.h"

#include <memory>
#include <utility>
#include <vector>

namespace headrace::storage {

/// Messages carry no place.
class CodedPages {
public:
  CodedPages(const Decoders &decoders, EncodedChunk &chunk, std::shared_ptr<PageBuffers> memory)
      : decoders_(decoders), chunk_(chunk), memory_(std::move(memory)) {}

  /// Before any page: the dictionary (values of chunk.type), and how many rows the pages of codes
  /// have that will be added, in how many bytes. `share`: which part of the dictionary's chunk they
  /// are, of its rows.
  void begin(std::shared_ptr<const EncodedDictionary> dictionary, uint64_t rows, uint64_t bytes,
             double share);
  /// Appends a page to the chunk. `owner` holds the codes.
  Status add(const HrSegment &codes, BufferHandle owner);
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
  const std::shared_ptr<PageBuffers> memory_;
  Form form_ = Form::kUnknown; ///< until the first page is seen
  PaddedBuffer values_;        ///< of all pages, one after the other
  uint64_t valueRows_ = 0;
  std::vector<uint8_t>
      ignored_;                ///< the values of codes that are only checked, and the table for it
  std::vector<uint8_t> codes_; ///< one a byte, of the segments to be packed
  std::vector<size_t> packedSegments_;
};

} // namespace headrace::storage
