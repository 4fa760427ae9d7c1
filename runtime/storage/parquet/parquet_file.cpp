// Opening, and recognising a file that has changed.
#include "runtime/storage/parquet/parquet_file.h"

#include "runtime/primitives/hash/hash.h"

#include <atomic>
#include <cstring>

namespace headrace::storage {
namespace {

uint64_t hashBytes(const uint8_t *data, uint64_t bytes) {
  uint64_t hash = bytes;
  for (; bytes >= 8; bytes -= 8, data += 8) {
    int64_t word;
    std::memcpy(&word, data, 8);
    hash = primitives::hashCombine(hash, static_cast<uint64_t>(word));
  }
  int64_t last = 0;
  std::memcpy(&last, data, bytes);
  return primitives::hashInteger(
      static_cast<int64_t>(primitives::hashCombine(hash, static_cast<uint64_t>(last))));
}

} // namespace

Expected<std::shared_ptr<const ParquetFile>> ParquetFile::open(const std::string &path) {
  HR_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> mapping, MappedFile::open(path));
  HR_ASSIGN_OR_RETURN(auto range, locateFooter(mapping->data(), mapping->bytes(), path));
  std::shared_ptr<ParquetFile> file(new ParquetFile);
  const uint8_t *footer = mapping->data() + range.first;
  HR_ASSIGN_OR_RETURN(file->footer_, parseFooter(footer, range.second, mapping->bytes(), path));
  file->identity_ = {path, mapping->bytes(), mapping->stamp().modifiedNanoseconds,
                     hashBytes(footer, range.second)};
  file->mapping_ = std::move(mapping);
  for (size_t i = 0; i < file->footer_.columns.size(); ++i) {
    file->columns_.emplace(file->footer_.columns[i].name, static_cast<int>(i));
  }
  static std::atomic<uint64_t> opened{0};
  file->number_ = ++opened;
  return std::shared_ptr<const ParquetFile>(std::move(file));
}

int ParquetFile::columnIndex(const std::string &name) const {
  auto found = columns_.find(name);
  return found == columns_.end() ? -1 : found->second;
}

bool ParquetFile::isCurrent() const {
  Expected<FileStamp> stamp = stampOf(path());
  if (!stamp.ok() || !(*stamp == mapping_->stamp())) {
    return false;
  }
  auto range = locateFooter(mapping_->data(), mapping_->bytes(), path());
  return range.ok() &&
         hashBytes(mapping_->data() + range->first, range->second) == identity_.footerHash;
}

std::string placeOf(const ParquetFile &file, size_t rowGroup, size_t column) {
  return file.path() + ", row group " + std::to_string(rowGroup) + ", column " +
         file.footer().columns[column].name;
}

} // namespace headrace::storage
