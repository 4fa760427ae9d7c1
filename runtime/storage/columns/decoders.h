// The decoding primitives of this process, for layers that are not kernels.
#pragma once

#include "runtime/abi/imports.h"
#include "runtime/primitives/dispatch/isa.h"

namespace headrace::storage {

struct Decoders {
  primitives::Isa isa;
  HrImports imports; ///< only the entries of primitives

  static const Decoders &get(); ///< of this process: HEADRACE_ISA or the best there is

  /// All rows of one segment as values of `width` bytes (1, 2, 4, 8, 16). False: it does not
  /// decode.
  bool decode(const HrSegment &segment, const void *dictionary, uint32_t dictionaryCount,
              uint32_t width, void *out) const;
};

} // namespace headrace::storage
