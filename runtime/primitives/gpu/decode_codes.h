// Codes of pages by many threads; compiled into kernels alone.
#pragma once

#include "runtime/primitives/gpu/code_run.h"

namespace headrace::decode {

/// Thread `first` of `stride`: 32 threads take kDecodedRows of a page together, each every 32nd:
/// what they store lies side by side, and each searches for its run once and then goes along.
/// `groupsBefore`: of each page, as many such parts as all pages before it have; null for one page.
inline void decodeCodes(const DecodeCodesParameters *pages, const uint64_t *groupsBefore,
                        uint64_t pageCount, uint64_t first, uint64_t stride) {
  const uint64_t lanes = stride < 32 ? stride : 32;
  const uint64_t lane = first % lanes, step = stride / lanes;
  uint64_t group = first / lanes;
  if (group >= step) {
    return; // fewer than 32 are left
  }
  auto partsOf = [](const DecodeCodesParameters &page) {
    return (page.rows + kDecodedRows - 1) / kDecodedRows;
  };
  const uint64_t begin = groupsBefore == nullptr ? 0 : groupsBefore[pageCount - 1];
  const uint64_t groups = begin + partsOf(pages[pageCount - 1]);
  for (; group < groups; group += step) {
    uint64_t index = 0;
    for (uint64_t end = pageCount; end - index > 1;) {
      const uint64_t middle = (index + end) / 2;
      (groupsBefore[middle] <= group ? index : end) = middle;
    }
    const DecodeCodesParameters page = pages[index]; // stores may not change it
    const uint64_t base =
        (group - (groupsBefore == nullptr ? 0 : groupsBefore[index])) * kDecodedRows;
    const uint64_t mask = (uint64_t(1) << page.bitWidth) - 1;
    uint64_t number = 0; // the last run that begins at or before `base`
    for (uint64_t end = page.runCount; end - number > 1;) {
      const uint64_t middle = (number + end) / 2;
      (page.runs[middle].firstRow <= base ? number : end) = middle;
    }
    auto firstOf = [&](uint64_t run) {
      return run < page.runCount ? page.runs[run].firstRow : page.rows;
    };
    CodeRun run = page.runs[number];
    uint64_t next = firstOf(number + 1);
    for (uint64_t row = base + lane; row < base + kDecodedRows && row < page.rows; row += lanes) {
      while (row >= next) {
        run = page.runs[++number];
        next = firstOf(number + 1);
      }
      uint64_t code = run.place;
      if (run.isPacked != 0) {
        const uint64_t bit = code + (row - run.firstRow) * page.bitWidth;
        const uint32_t *word = page.stream + bit / 32;
        code = (word[0] | uint64_t(word[1]) << 32) >> (bit % 32) & mask;
      }
      page.codes[row] = static_cast<uint32_t>(code);
    }
  }
}

} // namespace headrace::decode
