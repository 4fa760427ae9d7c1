// What is in a bucket: the files of a folder, or those that a pattern matches, with their versions.
#pragma once

#include "runtime/storage/files/input_file.h"

#include <string>
#include <vector>

namespace headrace::storage {

/// A file in a store, as it is asked for, and what the store says of it.
struct StoreFile {
  std::string address;
  FileStamp stamp;
};

/// The text is one of a store, not a path.
bool isStoreAddress(const std::string &text);
/// As messages, plans and keys of caches show an address: without what may be a secret.
Expected<std::string> shownAddress(const std::string &text);
/// The last part of its path, without the suffix.
std::string stemOfAddress(const std::string &text);

/// The files of one table, in the order of their names: of a file; of a pattern (* [ in the key,
/// and ** for any number of folders); of a folder its Parquet files and those of its folders
/// KEY=VALUE. kIo: there are none.
Expected<std::vector<StoreFile>> storeFiles(const std::string &text);
/// Whether anything is in a folder of S3. kUser: it is no address of one.
Expected<bool> hasStoreFiles(const std::string &folder);
/// The files that tables by their names are made of, below a folder or of a pattern, as
/// exec::addTables has them of paths: the name of a table and a file of it, in order.
Expected<std::vector<std::pair<std::string, StoreFile>>> storeTables(const std::string &text);
/// What stores say now of these files.
Expected<std::vector<FileStamp>> storeStamps(const std::vector<std::string> &texts);

} // namespace headrace::storage
