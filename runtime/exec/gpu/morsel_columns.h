// MorselColumns: columns of a morsel in the form that kernels for threads read, for a block of
// memory.
#pragma once

#include "model/plan/plan.h"
#include "runtime/abi/kernel.h"
#include "runtime/device/decode/code_runs.h"
#include "runtime/exec/memory/memory_account.h"

#include <cstddef>
#include <span>
#include <vector>

namespace headrace::exec {

/// Purpose: columns that are not in the device yet: measured, then written at once with pointers
/// that are valid there:
///
///   HrSegment… | of each column data, texts, validity | pages of codes || codes
///
/// Codes of dictionaries go as they are in pages; the kernel HR_DECODE_PAGES makes indices of them,
/// in a part of the block that the host does not have (after ||). Other columns are decoded on the
/// way: numbers to values, strings to offsets and bytes. Thread-safety: of a plain value. Lifetime:
/// within the morsel's and the scratch's.
class MorselColumns {
public:
  /// `columns`: what the morsel's are; `isKept`: those to leave out; `scratch` is for strings until
  /// they are written, and gives the memory error. kCorrupt for pages that do not decode.
  static Expected<MorselColumns> measure(const HrMorsel &morsel,
                                         std::span<const plan::Column> columns,
                                         const std::vector<bool> &isKept, BumpArena &scratch);
  /// Of the host's block, and the first of the device's; 0: all are kept.
  int64_t bytes() const { return columns_.empty() ? 0 : bytes_; }
  /// With what the device alone has.
  int64_t deviceBytes() const { return bytes() + codesBytes_; }
  /// Parts of pages for HR_DECODE_PAGES, whose HrArgs are at decodeAt(); 0: it is not needed.
  uint64_t decodeGroups() const { return groups_; }
  int64_t decodeAt() const { return decodeAt_; }
  /// bytes() at `host`, which the device will have at `device`. Sets those of `made`, by the
  /// morsel's columns. kCorrupt for values that do not decode.
  Status write(std::byte *host, uint64_t device, std::span<HrColumn> made) const;

private:
  enum class Form : uint8_t { kValues, kCodes, kTexts };
  /// Rows of a segment of codes.
  struct Page {
    decode::CodeRuns codes;
    std::span<const uint8_t> stream; ///< what they need of it
    uint32_t rows = 0, bitWidth = 0;
    int64_t runsAt = 0, streamAt = 0;
  };
  struct Column {
    size_t index = 0;
    Form form = Form::kValues;
    HrType type = HR_I64;
    const HrColumn *source = nullptr;
    HrString *texts = nullptr;                                ///< kTexts: of each row
    std::vector<Page> pages;                                  ///< kCodes
    int64_t data = 0, dictionary = 0, heap = 0, validity = 0; ///< offsets; 0: none. kCodes: data
                                                              ///< in the codes
  };
  int64_t take(int64_t bytes);
  /// False where they are better decoded here.
  Expected<bool> measureCodes(Column &column);
  void measureDecoding();
  Status measureTexts(Column &column, BumpArena &scratch);
  Status writeColumn(const Column &column, std::byte *host, uint64_t device, HrColumn &made,
                     HrSegment &segment) const;
  void writeCodes(const Column &column, std::byte *host) const;
  void writeDecoding(std::byte *host, uint64_t device) const;
  void writeTexts(const Column &column, std::byte *host) const;
  void writeDictionary(const Column &column, std::byte *host, uint64_t device) const;
  Status writeValidity(const Column &column, std::byte *host) const;

  HrMorsel morsel_{};
  std::vector<Column> columns_;
  int64_t bytes_ = 0, codesBytes_ = 0;
  uint64_t groups_ = 0;
  int64_t decodeAt_ = 0, pagesAt_ = 0, groupsAt_ = 0;
};

} // namespace headrace::exec
