// The footer of a Parquet file as plain structs; reading it is the only use of Arrow's Parquet
// library.
#pragma once

#include "runtime/base/status.h"
#include "runtime/storage/columns/column_type.h"
#include "runtime/storage/files/input_file.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::storage {

/// Parquet's physical types; the numbers are the format's.
enum class Stored : uint8_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixed = 7,
};

struct ListColumn;

struct ParquetColumn {
  std::string name;
  LogicalType type;
  std::string unsupported; ///< why this column cannot be read; empty if it can
  Stored stored = Stored::kInt64;
  bool isUnsigned = false;
  bool isJson = false;     ///< a text, which is JSON
  uint32_t fixedBytes = 0; ///< kFixed
  int64_t factor = 1;      ///< of integers: a value is as many of what is stored (us of ms)
  bool nullable = false;   ///< has definition levels (0 or 1)
  /// Of lists, which arrow_pages.cpp hands on packed, as byte arrays; intervals likewise.
  std::shared_ptr<const ListColumn> list;
  /// Of structs, maps and lists of them: the leaf columns that they are stored in, which Arrow
  /// makes arrays of, handed on likewise. It stands for the first; the others are found by no name.
  std::vector<int> leaves;

  bool isPacked() const { return list || !leaves.empty() || type.kind == LogicalKind::kInterval; }
};

/// What is stored of a column of lists.
struct ListColumn {
  /// The definition levels from which on the list is not NULL, and has an element.
  struct Level {
    int16_t list = 0, element = 0;
  };
  ParquetColumn element;     ///< the values
  std::vector<Level> levels; ///< from the outermost list to the innermost
  int16_t definitionMax = 0; ///< of a value that is not NULL
};

/// A value from statistics, in the domain of the column's type.
struct StatisticsValue {
  __int128 integer = 0; ///< bools, integral types
  double real = 0;
  std::string text;
};

struct ParquetChunk {
  uint64_t begin = 0; ///< byte range in the file, checked to lie within it
  uint64_t bytes = 0;
  uint64_t uncompressedBytes = 0;
  int codec = 0; ///< Parquet's number: 0 none, 1 Snappy, …
  bool encrypted = false;
  bool hasDictionary = false;
  uint64_t dictionaryBytes = 0; ///< of its page in the file; 0: not known
  std::optional<bool>
      allDictionary; ///< every data page is dictionary-encoded, where the writer says so
  std::optional<StatisticsValue> min, max;
  std::optional<uint64_t> nulls;
  std::optional<uint64_t> distinct;
};

struct ParquetRowGroup {
  uint64_t rows = 0;
  std::vector<ParquetChunk> chunks; ///< by column
};

struct ParquetFooter {
  uint64_t rows = 0;
  std::vector<ParquetColumn> columns; ///< leaf columns in file order
  std::vector<ParquetRowGroup> rowGroups;
  std::shared_ptr<const void> arrowMetadata; ///< Arrow's FileMetaData, for arrow_pages.cpp
};

/// Behind the footer: its length and the magic.
inline constexpr uint64_t kTailBytes = 8;

/// What byte arrays are that are said to be nothing else.
enum class PlainBytes : uint8_t { kBinary, kText };

/// The footer's bytes, after checking both magics and the length.
Expected<std::vector<uint8_t>> readFooter(const InputFile &file);
/// Parses the footer of a file of `fileBytes`; `path` for messages.
Expected<ParquetFooter> parseFooter(const std::vector<uint8_t> &footer, uint64_t fileBytes,
                                    const std::string &path,
                                    PlainBytes bytes = PlainBytes::kBinary);

} // namespace headrace::storage
