// A Parquet file of which the footer was read: what it is, and the way to its bytes. Shared by all
// queries.
#pragma once

#include "runtime/storage/columns/given_columns.h"
#include "runtime/storage/files/identity.h"
#include "runtime/storage/files/input_file.h"
#include "runtime/storage/parquet/footer.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace headrace::storage {

struct PageIndex;
class ParquetFile;

/// A file of a table, and the columns of which it has no bytes.
struct TableFile {
  std::shared_ptr<const ParquetFile> file;
  std::shared_ptr<const GivenColumns> given;
};

class ParquetFile {
public:
  /// Reads the file's footer. `known`: as openFile has it.
  static Expected<std::shared_ptr<const ParquetFile>> open(const std::string &path,
                                                           const FileStamp *known = nullptr,
                                                           PlainBytes bytes = PlainBytes::kBinary);

  /// As messages show it.
  const std::string &path() const { return identity_.path; }
  bool isRemote() const { return isRemote_; }
  const FileIdentity &identity() const { return identity_; }
  const ParquetFooter &footer() const { return footer_; }
  /// The file's bytes. Opened by who asks first and closed with the last reference, so that a table
  /// of many files needs few descriptors. kIo if it is another file by now.
  Expected<std::shared_ptr<const InputFile>> input() const;
  /// The pages of a column chunk, cut into parts of so many rows. Reads their headers the first
  /// time, of `opened`, or its own input if that is null.
  Expected<std::shared_ptr<const PageIndex>>
  pageIndex(size_t rowGroup, size_t column, uint64_t partRows,
            std::shared_ptr<const InputFile> opened = nullptr) const;
  /// What pageIndex() has read; null: it has not.
  std::shared_ptr<const PageIndex> knownPageIndex(size_t rowGroup, size_t column,
                                                  uint64_t partRows) const;
  /// Different for any two opened files of the process; key of the page cache.
  uint64_t number() const { return number_; }
  /// -1: no such column.
  int columnIndex(const std::string &name) const;
  /// The same file, not changed since its footer was read? (Looks at the file system and hashes the
  /// footer; asks the store, unless it is `known` what is there.)
  bool isCurrent(const FileStamp *known = nullptr) const;

private:
  ParquetFile() = default;
  std::string source_; ///< the path or address by which it is opened
  bool isRemote_ = false;
  FileIdentity identity_;
  ParquetFooter footer_;
  uint64_t footerBytes_ = 0;
  FileStamp stamp_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const InputFile> input_;             ///< under `mutex_`
  using PartsOfChunk = std::tuple<size_t, size_t, uint64_t>; ///< row group, column, rows of a part
  mutable std::map<PartsOfChunk, std::shared_ptr<const PageIndex>> pageIndexes_; ///< likewise
  std::unordered_map<std::string, int> columns_;
  uint64_t number_ = 0;
};

/// "FILE, row group 3, column NAME"; for messages.
std::string placeOf(const ParquetFile &file, size_t rowGroup, size_t column);

} // namespace headrace::storage
