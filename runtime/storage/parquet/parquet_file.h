// An open Parquet file: its mapping, its footer, its identity. Immutable and shared by all queries.
#pragma once

#include "runtime/storage/identity.h"
#include "runtime/storage/mapped_file.h"
#include "runtime/storage/parquet/footer.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace headrace::storage {

class ParquetFile {
public:
  /// Maps the file and reads its footer.
  static Expected<std::shared_ptr<const ParquetFile>> open(const std::string &path);

  const std::string &path() const { return identity_.path; }
  const FileIdentity &identity() const { return identity_; }
  const ParquetFooter &footer() const { return footer_; }
  const std::shared_ptr<const MappedFile> &mapping() const { return mapping_; }
  /// Different for any two opened files of the process; key of the page cache.
  uint64_t number() const { return number_; }
  /// -1: no such column.
  int columnIndex(const std::string &name) const;
  /// The same file, not changed since it was opened? (Looks at the file system and hashes the
  /// footer.)
  bool isCurrent() const;

private:
  ParquetFile() = default;
  FileIdentity identity_;
  ParquetFooter footer_;
  std::shared_ptr<const MappedFile> mapping_;
  std::unordered_map<std::string, int> columns_;
  uint64_t number_ = 0;
};

/// "FILE, row group 3, column NAME"; for messages.
std::string placeOf(const ParquetFile &file, size_t rowGroup, size_t column);

} // namespace headrace::storage
