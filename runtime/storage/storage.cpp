// The open files of the process, and the way from a slot to its source.
#include "runtime/storage/storage.h"

#include "runtime/base/temporary_space.h"
#include "runtime/storage/columns/page_cache.h"
#include "runtime/storage/csv/csv_source.h"
#include "runtime/storage/parquet/parquet_file.h"
#include "runtime/storage/parquet/scan_source.h"
#include "runtime/storage/parquet/statistics.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace headrace::storage {
namespace {

/// What a scan has under way of remote files ahead of its workers: as much as a link of 10 Gbit/s
/// brings in 50 ms, and at most this part of the memory.
constexpr uint64_t kAheadBytesMax = 64 << 20;
constexpr uint64_t kAheadPart = 16;

} // namespace

struct Storage::State {
  explicit State(StorageOptions options)
      : supply{std::make_shared<PageCache>(options.cacheBytesMax), std::make_shared<PageBuffers>(),
               std::make_shared<std::atomic<uint64_t>>(0),
               std::make_shared<std::atomic<uint64_t>>(kAheadBytesMax)} {}

  /// The open file of this address, opened anew if it has changed.
  Expected<std::shared_ptr<const ParquetFile>> open(const Address &address) {
    const FileStamp *known = address.known();
    const PlainBytes bytes = address.bytesAreTexts() ? PlainBytes::kText : PlainBytes::kBinary;
    const std::pair key{address.path, bytes};
    {
      std::lock_guard lock(mutex);
      auto found = files.find(key);
      if (found != files.end() && found->second->isCurrent(known)) {
        return found->second;
      }
    }
    HR_ASSIGN_OR_RETURN(std::shared_ptr<const ParquetFile> file,
                        ParquetFile::open(address.path, known, bytes));
    std::lock_guard lock(mutex);
    files[key] = file;
    return file;
  }

  Expected<std::vector<TableFile>> openAll(const std::vector<std::string> &addresses) {
    std::vector<TableFile> opened;
    const auto none = std::make_shared<const GivenColumns>();
    for (const std::string &text : addresses) {
      HR_ASSIGN_OR_RETURN(Address address, Address::of(text));
      TableFile table{nullptr, none};
      if (!address.reader.is_null()) {
        HR_ASSIGN_OR_RETURN(GivenColumns given, GivenColumns::of(address.reader));
        table.given = std::make_shared<const GivenColumns>(std::move(given));
      }
      HR_ASSIGN_OR_RETURN(table.file, open(address));
      opened.push_back(std::move(table));
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
      HR_ASSIGN_OR_RETURN(Address parsed, Address::of(address));
      if (!file || !file->isCurrent(parsed.known())) {
        HR_ASSIGN_OR_RETURN(file, CsvFile::open(parsed));
      }
      std::lock_guard lock(mutex);
      csvFiles[address] = file;
      opened.push_back(std::move(file));
    }
    return opened;
  }

  /// Forgets plain forms of files that no scan reads.
  void dropPlainForms() {
    std::lock_guard lock(mutex);
    std::erase_if(csvFiles, [](const auto &file) {
      return file.second && !file.second->format().isPlain() && file.second.use_count() == 1;
    });
  }

  const PageSupply supply;
  std::shared_ptr<const std::function<void()>> dropUnread; ///< dropPlainForms, while this is there
  std::mutex mutex;
  std::map<std::pair<std::string, PlainBytes>, std::shared_ptr<const ParquetFile>> files;
  std::unordered_map<std::string, std::shared_ptr<const CsvFile>> csvFiles;
};

namespace {

/// The files of a table are all of one format.
Expected<bool> areCsv(const std::vector<std::string> &addresses) {
  if (addresses.empty()) {
    return false;
  }
  HR_ASSIGN_OR_RETURN(Address first, Address::of(addresses.front()));
  return first.isCsv();
}

/// The plan must have been compiled for these files.
const ParquetFile &fileOf(const TableFile &table) { return *table.file; }
const CsvFile &fileOf(const std::shared_ptr<const CsvFile> &file) { return *file; }

template <typename Files>
Status checkManifest(const Files &files, const std::vector<FileIdentity> &manifest) {
  for (size_t i = 0; i < manifest.size(); ++i) {
    FileIdentity wanted = manifest[i];
    wanted.path = fileOf(files[i]).identity().path; // a moved file is the same file
    if (!(wanted == fileOf(files[i]).identity())) {
      return makeError(
          ErrorKind::kMismatch,
          "the file has changed since the plan was compiled, recompile: ", fileOf(files[i]).path());
    }
  }
  return Status();
}

} // namespace

Storage::Storage(StorageOptions options) : state_(std::make_shared<State>(options)) {
  state_->dropUnread =
      std::make_shared<const std::function<void()>>([weak = std::weak_ptr<State>(state_)] {
        if (std::shared_ptr<State> state = weak.lock()) {
          state->dropPlainForms();
        }
      });
  TemporarySpace::instance().add(state_->dropUnread);
}
Storage::~Storage() = default;

Expected<nlohmann::json> Storage::statistics(const std::vector<std::string> &paths) {
  HR_ASSIGN_OR_RETURN(bool isCsv, areCsv(paths));
  if (isCsv) {
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
  HR_ASSIGN_OR_RETURN(bool isCsv, areCsv(paths));
  if (isCsv) {
    HR_ASSIGN_OR_RETURN(CsvFiles files, state_->openCsv(paths));
    HR_RETURN_IF_ERROR(checkManifest(files, manifest));
    return makeCsvSource(slot, std::move(files), share, *state_->supply.aheadBytesMax);
  }
  HR_ASSIGN_OR_RETURN(auto files, state_->openAll(paths));
  HR_RETURN_IF_ERROR(checkManifest(files, manifest));
  return makeScanSource(slot, std::move(files), state_->supply, share);
}

StorageCounters Storage::counters() const {
  PageCache::Counters cache = state_->supply.cache->counters();
  return {cache.bytes, cache.hits, cache.misses,
          state_->supply.fileBytesRead->load(std::memory_order_relaxed)};
}

void Storage::keepWithin(std::shared_ptr<MemoryTier> tier) {
  *state_->supply.aheadBytesMax =
      std::min(kAheadBytesMax, static_cast<uint64_t>(tier->limitBytes()) / kAheadPart);
  // Asked to give way in this order: what waits for use first.
  state_->supply.memory->use(tier);
  state_->supply.cache->use(std::move(tier));
}

void Storage::dropCache() { state_->supply.cache->clear(); }

} // namespace headrace::storage
