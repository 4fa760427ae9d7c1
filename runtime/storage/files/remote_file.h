// A file in a store: read by ranges, each for the version that was asked for first, so that a file
// that changes in between is an error.
#pragma once

#include "runtime/storage/files/http_client.h"
#include "runtime/storage/files/input_file.h"
#include "runtime/storage/files/store_address.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headrace::storage {

/// A request to a store; signed if it is one of S3 and there are credentials. Headers may be added
/// before it is sent; what is signed, method and body, stays as it is.
Expected<HttpRequest> storeRequest(const StoreAddress &address, const std::string &method,
                                   const std::map<std::string, std::string> &query = {},
                                   std::string body = {});
/// What is wrong with an answer that is not what was asked for. kIo.
Status storeError(const StoreAddress &address, const HttpAnswer &answer);

/// A range that is on its way; it goes into memory that must stay as long as this.
class RangeRead {
public:
  /// Blocks. kIo: it did not come, or the file is another by now.
  Status wait();

private:
  friend class RemoteFile;
  const class RemoteFile *file_ = nullptr; ///< outlives this
  uint64_t offset_ = 0;
  uint64_t bytes_ = 0;
  std::unique_ptr<HttpCall> call_;
};

class RemoteFile final : public InputFile {
public:
  /// Asks the store what it has there, unless it is known.
  static Expected<std::shared_ptr<const RemoteFile>> open(const std::string &text,
                                                          const FileStamp *known);
  /// What the store says of several files, all asked at once.
  static Expected<std::vector<FileStamp>> stampsOf(const std::vector<std::string> &texts);

  bool isRemote() const override { return true; }
  Status read(uint64_t offset, uint64_t bytes, void *out) const override;
  Expected<std::unique_ptr<RangeRead>> start(uint64_t offset, std::span<uint8_t> out) const;

private:
  friend class RangeRead;
  RemoteFile(StoreAddress address, FileStamp stamp)
      : InputFile(std::move(stamp), address.shown), address_(std::move(address)) {}
  Status check(const HttpAnswer &answer, uint64_t offset, uint64_t bytes) const;

  const StoreAddress address_;
};

} // namespace headrace::storage
