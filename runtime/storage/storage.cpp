// The open files of the process, and the way from a slot to its source.
#include "runtime/storage/storage.h"

#include "runtime/storage/csv/csv_source.h"
#include "runtime/storage/page_cache.h"
#include "runtime/storage/parquet/parquet_file.h"
#include "runtime/storage/parquet/scan_source.h"
#include "runtime/storage/parquet/statistics.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

namespace headrace::storage {

struct Storage::State {
  explicit State(StorageOptions options)
      : pieceRows(options.pieceRows),
        supply{std::make_shared<PageCache>(options.cacheBytesMax), std::make_shared<PageBuffers>(),
               std::make_shared<std::atomic<uint64_t>>(0)} {}

  /// The open file of this path, opened anew if it has changed.
  Expected<std::shared_ptr<const ParquetFile>> open(const std::string &path) {
    {
      std::lock_guard lock(mutex);
      auto found = files.find(path);
      if (found != files.end() && found->second->isCurrent()) {
        return found->second;
      }
    }
    HR_ASSIGN_OR_RETURN(std::shared_ptr<const ParquetFile> file, ParquetFile::open(path));
    std::lock_guard lock(mutex);
    files[path] = file;
    return file;
  }

  Expected<std::vector<std::shared_ptr<const ParquetFile>>>
  openAll(const std::vector<std::string> &paths) {
    std::vector<std::shared_ptr<const ParquetFile>> opened;
    for (const std::string &path : paths) {
      HR_ASSIGN_OR_RETURN(std::shared_ptr<const ParquetFile> file, open(path));
      opened.push_back(std::move(file));
    }
    return opened;
  }

  Expected<CsvFiles> openCsv(const std::vector<std::string> &addresses) {
    CsvFiles opened;
    for (const std::string &address : addresses) {
      std::shared_ptr<const CsvFile> file;
      {
        std::lock_guard lock(mutex);
        file = csvFiles[address];
      }
      if (!file || !file->isCurrent()) {
        HR_ASSIGN_OR_RETURN(file, CsvFile::open(address));
      }
      std::lock_guard lock(mutex);
      csvFiles[address] = file;
      opened.push_back(std::move(file));
    }
    return opened;
  }

  const uint64_t pieceRows;
  const PageSupply supply;
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<const ParquetFile>> files;
  std::unordered_map<std::string, std::shared_ptr<const CsvFile>> csvFiles;
};

namespace {

/// The plan must have been compiled for these files.
template <typename Files>
Status checkManifest(const Files &files, const std::vector<FileIdentity> &manifest) {
  for (size_t i = 0; i < manifest.size(); ++i) {
    FileIdentity wanted = manifest[i];
    wanted.path = files[i]->identity().path; // a moved file is the same file
    if (!(wanted == files[i]->identity())) {
      return makeError(
          ErrorKind::kMismatch,
          "the file has changed since the plan was compiled, recompile: ", files[i]->path());
    }
  }
  return Status();
}

} // namespace

Storage::Storage(StorageOptions options) : state_(std::make_shared<State>(options)) {}
Storage::~Storage() = default;

Expected<nlohmann::json> Storage::statistics(const std::vector<std::string> &paths) {
  if (!paths.empty() && isCsvAddress(paths.front())) {
    HR_ASSIGN_OR_RETURN(CsvFiles files, state_->openCsv(paths));
    return csvStatistics(files);
  }
  HR_ASSIGN_OR_RETURN(auto files, state_->openAll(paths));
  return parquetStatistics(files);
}

Expected<std::unique_ptr<MorselSource>> Storage::scan(const plan::Slot &slot,
                                                      const std::vector<std::string> &paths,
                                                      const std::vector<FileIdentity> &manifest,
                                                      Share share) {
  if (!manifest.empty() && manifest.size() != paths.size()) {
    return makeError(ErrorKind::kMismatch, "table ", slot.name, " was compiled for ",
                     manifest.size(), " files (recompile), got: ", paths.size());
  }
  if (!paths.empty() && isCsvAddress(paths.front())) {
    HR_ASSIGN_OR_RETURN(CsvFiles files, state_->openCsv(paths));
    HR_RETURN_IF_ERROR(checkManifest(files, manifest));
    return makeCsvSource(slot, std::move(files), share);
  }
  HR_ASSIGN_OR_RETURN(auto files, state_->openAll(paths));
  HR_RETURN_IF_ERROR(checkManifest(files, manifest));
  return makeScanSource(slot, std::move(files), state_->supply, state_->pieceRows, share);
}

StorageCounters Storage::counters() const {
  PageCache::Counters cache = state_->supply.cache->counters();
  return {cache.bytes, cache.hits, cache.misses,
          state_->supply.fileBytesRead->load(std::memory_order_relaxed)};
}

void Storage::keepWithin(std::shared_ptr<MemoryTier> tier) {
  // Asked to give way in this order: what waits for use first.
  state_->supply.memory->use(tier);
  state_->supply.cache->use(std::move(tier));
}

void Storage::dropCache() { state_->supply.cache->clear(); }

} // namespace headrace::storage
