// Opening, and recognising a file that has changed.
#include "runtime/storage/parquet/parquet_file.h"

#include "runtime/primitives/hash/hash.h"
#include "runtime/storage/files/open_file.h"
#include "runtime/storage/parquet/page_index.h"

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

Expected<std::shared_ptr<const ParquetFile>>
ParquetFile::open(const std::string &path, const FileStamp *known, PlainBytes bytes) {
  HR_ASSIGN_OR_RETURN(std::shared_ptr<const InputFile> input, openFile(path, known));
  HR_ASSIGN_OR_RETURN(std::vector<uint8_t> footer, readFooter(*input));
  std::shared_ptr<ParquetFile> file(new ParquetFile);
  HR_ASSIGN_OR_RETURN(file->footer_, parseFooter(footer, input->bytes(), input->path(), bytes));
  file->source_ = path;
  file->isRemote_ = input->isRemote();
  file->footerBytes_ = footer.size();
  file->stamp_ = input->stamp();
  file->identity_ = {input->path(), input->bytes(), input->stamp().modifiedNanoseconds,
                     hashBytes(footer.data(), footer.size())};
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

Expected<std::shared_ptr<const InputFile>> ParquetFile::input() const {
  std::lock_guard lock(mutex_);
  std::shared_ptr<const InputFile> input = input_.lock();
  if (!input) {
    // Each read of a remote file is of this version, or an error.
    HR_ASSIGN_OR_RETURN(input, openFile(source_, isRemote_ ? &stamp_ : nullptr));
    if (!(input->stamp() == stamp_)) {
      return makeError(ErrorKind::kIo, "the file was changed while it was read: ", path());
    }
    input_ = input;
  }
  return input;
}

std::shared_ptr<const PageIndex> ParquetFile::knownPageIndex(size_t rowGroup, size_t column,
                                                             uint64_t partRows) const {
  std::lock_guard lock(mutex_);
  auto found = pageIndexes_.find({rowGroup, column, partRows});
  return found == pageIndexes_.end() ? nullptr : found->second;
}

Expected<std::shared_ptr<const PageIndex>>
ParquetFile::pageIndex(size_t rowGroup, size_t column, uint64_t partRows,
                       std::shared_ptr<const InputFile> opened) const {
  if (std::shared_ptr<const PageIndex> known = knownPageIndex(rowGroup, column, partRows)) {
    return known;
  }
  if (!opened) {
    HR_ASSIGN_OR_RETURN(opened, input());
  }
  Expected<PageIndex> index = readPageIndex(footer_, *opened, rowGroup, column, partRows);
  if (!index.ok()) {
    return Status(index.status().kind(),
                  placeOf(*this, rowGroup, column) + ": " + index.status().message());
  }
  std::lock_guard lock(mutex_);
  return pageIndexes_
      .emplace(PartsOfChunk(rowGroup, column, partRows),
               std::make_shared<const PageIndex>(std::move(*index)))
      .first->second;
}

bool ParquetFile::isCurrent(const FileStamp *known) const {
  Expected<std::shared_ptr<const InputFile>> input = openFile(source_, known);
  if (!input.ok() || !((*input)->stamp() == stamp_)) {
    return false;
  }
  if (isRemote_ && !stamp_.tag.empty()) {
    return true; // a tag is of what the file holds
  }
  // Of the same length in a file of the same length, it would stand where it stood.
  std::vector<uint8_t> footer(footerBytes_);
  const uint64_t begin = (*input)->bytes() - kTailBytes - footerBytes_;
  return (*input)->read(begin, footerBytes_, footer.data()).ok() &&
         hashBytes(footer.data(), footer.size()) == identity_.footerHash;
}

std::string placeOf(const ParquetFile &file, size_t rowGroup, size_t column) {
  return file.path() + ", row group " + std::to_string(rowGroup) + ", column " +
         file.footer().columns[column].name;
}

} // namespace headrace::storage
