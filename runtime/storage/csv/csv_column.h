// Values of one column of a CSV piece: from the places of their texts to what kernels read.
#pragma once

#include "runtime/storage/columns/encoded_chunk.h"
#include "runtime/storage/columns/source.h"
#include "runtime/storage/csv/csv_format.h"

#include <string_view>
#include <vector>

namespace headrace::storage {

/// Where a value is in its piece, with its quotes.
struct CsvField {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// A value that is not of its column's type, or may not be NULL.
struct CsvMistake {
  size_t row = 0;
  std::string text; ///< "cannot be read as i64: 'x'"
  bool isType = false;
};

/// Fills `chunk` with the values of `fields`; texts point into `text`, where quotes inside of
/// values are removed in place. False: `mistake` says which value is wrong.
bool readCsvColumn(const CsvFormat &format, const plan::SlotColumn &column,
                   const std::vector<CsvField> &fields, const BufferHandle &text, uint8_t *bytes,
                   EncodedChunk &chunk, CsvMistake &mistake);

/// Whether values are of a column's type. Copies nothing of the format.
class CsvCheck {
public:
  CsvCheck(const CsvFormat &format, size_t column);
  bool holds(std::string_view value, bool quoted) const;

private:
  const CsvFormat *format_;
  LogicalType type_;
  bool neverNull_;
};

} // namespace headrace::storage
