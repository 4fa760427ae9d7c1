// A CSV file with what its bytes mean, and where its records are: one pass over the file counts
// them and cuts it into pieces of whole records, so that splits are sound in any quoted text.
#pragma once

#include "runtime/storage/columns/given_columns.h"
#include "runtime/storage/csv/csv_format.h"
#include "runtime/storage/files/identity.h"
#include "runtime/storage/files/input_file.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace headrace::storage {

/// Whole records of a file, one behind the other.
struct CsvPiece {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t rows = 0;
  uint64_t firstLine = 1; ///< number of the line at `offset`
};

/// Immutable. Thread-safe.
class CsvFile {
public:
  /// Reads the file once. kUser: options that do not fit; kData: a quote that does not belong, with
  /// its line.
  static Expected<std::shared_ptr<const CsvFile>> open(const Address &address);

  /// As messages show it.
  const std::string &path() const { return identity_.path; }
  const FileIdentity &identity() const { return identity_; }
  const CsvFormat &format() const { return format_; }
  const GivenColumns &given() const { return given_; }
  const std::vector<CsvPiece> &pieces() const { return pieces_; }
  /// The file's bytes, opened anew, so that a table of many files needs few descriptors. kIo if it
  /// is another file by now.
  Expected<std::shared_ptr<const InputFile>> input() const;
  /// Whether each read of `input` takes as long as an answer does.
  bool isRemote() const { return isRemote_ && !plain_; }
  /// Not changed since it was opened? `known`: as openFile has it.
  bool isCurrent(const FileStamp *known = nullptr) const;

private:
  friend class CsvIndexer;
  std::string source_; ///< the path or address by which it is opened
  /// The same records as plain CSV, where the file is compressed or of another dialect.
  std::shared_ptr<const InputFile> plain_;
  bool isRemote_ = false;
  FileIdentity identity_;
  FileStamp stamp_;
  CsvFormat format_;
  GivenColumns given_;
  std::vector<CsvPiece> pieces_;
};

} // namespace headrace::storage
