// Looks at names only, never into files. Stores list their own.
#include "runtime/exec/table_paths.h"

#include "runtime/base/path_text.h"
#include "runtime/storage/files/store_listing.h"

#include <algorithm>
#include <filesystem>

namespace headrace::exec {
namespace {

namespace fs = std::filesystem;

/// What is in a folder, in the order of names. kIo if it cannot be read.
Expected<std::vector<fs::path>> childrenOf(const fs::path &folder) {
  std::vector<fs::path> children;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    children.push_back(entry->path());
  }
  if (error) {
    return makeError(ErrorKind::kIo, "cannot read the directory (", error.message(),
                     "): ", folder.string());
  }
  std::sort(children.begin(), children.end());
  return children;
}

bool isDirectory(const fs::path &path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// A folder KEY=VALUE, which has rows of one value.
bool isPartition(const fs::path &path) {
  const size_t equals = path.filename().string().find('=');
  return equals != std::string::npos && equals != 0 && isDirectory(path);
}

/// Those in a folder, and in its partitions.
Expected<std::vector<std::string>> parquetFiles(const fs::path &folder) {
  HR_ASSIGN_OR_RETURN(std::vector<fs::path> children, childrenOf(folder));
  std::vector<std::string> files;
  for (const fs::path &child : children) {
    if (isPartition(child)) {
      HR_ASSIGN_OR_RETURN(std::vector<std::string> inside, parquetFiles(child));
      files.insert(files.end(), inside.begin(), inside.end());
    } else if (child.extension() == ".parquet") {
      files.push_back(child.string());
    }
  }
  return files;
}

Status addTable(TablePaths &tables, const std::string &name, std::vector<std::string> files) {
  auto [at, added] = tables.try_emplace(name, std::move(files));
  return added ? Status()
               : makeError(ErrorKind::kUser, "two tables of the same name (", at->second.front(),
                           "): ", name);
}

/// NAME.parquet, or a folder NAME of Parquet files; anything else is no table.
Status addEntry(TablePaths &tables, const fs::path &path) {
  if (isDirectory(path)) {
    HR_ASSIGN_OR_RETURN(std::vector<std::string> files, parquetFiles(path));
    return files.empty() ? Status() : addTable(tables, path.filename().string(), std::move(files));
  }
  return path.extension() == ".parquet" ? addTable(tables, path.stem().string(), {path.string()})
                                        : Status();
}

Status addNamed(TablePaths &tables, const std::string &name, const std::string &path) {
  if (name.empty() || path.empty()) {
    return makeError(ErrorKind::kUser, "tables are DIR, FILE or NAME=PATH, got ", name, "=", path);
  }
  HR_ASSIGN_OR_RETURN(std::vector<std::string> files, tableFiles(path));
  std::vector<std::string> &bound = tables[name];
  bound.insert(bound.end(), files.begin(), files.end());
  return {};
}

} // namespace

Expected<std::vector<std::string>> tableFiles(const std::string &text) {
  if (storage::isStoreAddress(text)) {
    std::vector<std::string> addresses;
    HR_ASSIGN_OR_RETURN(std::vector<storage::StoreFile> found, storage::storeFiles(text));
    for (storage::StoreFile &file : found) {
      addresses.push_back(std::move(file.address));
    }
    return addresses;
  }
  HR_ASSIGN_OR_RETURN(std::vector<std::string> paths, matchingPaths(text));
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    std::error_code ignored;
    if (isDirectory(path)) {
      HR_ASSIGN_OR_RETURN(std::vector<std::string> inside, parquetFiles(path));
      files.insert(files.end(), inside.begin(), inside.end());
    } else if (fs::exists(path, ignored)) {
      files.push_back(path);
    } else {
      return makeError(ErrorKind::kIo, "no such file: ", path);
    }
  }
  if (files.empty()) {
    return makeError(ErrorKind::kIo, "no Parquet files in: ", text);
  }
  return files;
}

Status addTables(TablePaths &tables, const std::string &text) {
  std::error_code ignored;
  size_t equals = text.find('=');
  // A folder may be called "year=2024".
  if (equals != std::string::npos && text.find('/') > equals &&
      !fs::exists(homePath(text), ignored)) {
    return addNamed(tables, text.substr(0, equals), text.substr(equals + 1));
  }
  if (storage::isStoreAddress(text)) {
    HR_ASSIGN_OR_RETURN(auto found, storage::storeTables(text));
    TablePaths added;
    for (auto &[name, file] : found) {
      added[name].push_back(std::move(file.address));
    }
    for (auto &[name, files] : added) {
      HR_RETURN_IF_ERROR(addTable(tables, name, std::move(files)));
    }
    return {};
  }
  size_t before = tables.size();
  HR_ASSIGN_OR_RETURN(std::vector<std::string> paths, matchingPaths(text));
  fs::path only = paths.front();
  if (paths.size() > 1 || only != homePath(text)) {
    for (const std::string &path : paths) {
      HR_RETURN_IF_ERROR(addEntry(tables, path));
    }
  } else if (isDirectory(only)) {
    HR_ASSIGN_OR_RETURN(std::vector<fs::path> children, childrenOf(only));
    if (std::any_of(children.begin(), children.end(), isPartition)) {
      const fs::path named = only.has_filename() ? only : only.parent_path();
      return addEntry(tables, named);
    }
    for (const fs::path &child : children) {
      HR_RETURN_IF_ERROR(addEntry(tables, child));
    }
  } else if (fs::exists(only, ignored)) {
    return addTable(tables, only.stem().string(), {only.string()});
  } else {
    return makeError(ErrorKind::kIo, "no such directory of tables: ", only.string());
  }
  return tables.size() > before ? Status()
                                : makeError(ErrorKind::kIo, "no Parquet files in: ", text);
}

} // namespace headrace::exec
