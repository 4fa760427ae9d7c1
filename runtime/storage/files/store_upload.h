// A new file in a bucket: written in parts, and there when it is finished, whole, or not at all.
#pragma once

#include "runtime/storage/files/http_client.h"
#include "runtime/storage/files/store_address.h"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::storage {

/// Purpose: one object on its way. Thread-safety: one thread. What is neither finished, aborted nor
/// handed over when this ends is aborted.
class StoreUpload {
public:
  /// kUser: it is no address of a file; kUnsupported: http(s), which has no way to write.
  static Expected<std::unique_ptr<StoreUpload>> start(const std::string &text);
  ~StoreUpload();
  StoreUpload(const StoreUpload &) = delete;
  StoreUpload &operator=(const StoreUpload &) = delete;

  /// Appends; blocks while several parts are on their way. kIo.
  Status write(std::string_view bytes);
  /// Sends the rest; what another process needs to finish or abort the upload. Until then abort()
  /// still does. kIo.
  Expected<std::string> handOver();
  /// What another process has handed over, of the same address.
  static Expected<std::unique_ptr<StoreUpload>> takeOver(const std::string &text,
                                                         const std::string &handed);
  /// After it the file is there. kIo.
  Status finish();
  /// Nothing of it stays.
  void abort();

private:
  explicit StoreUpload(StoreAddress address) : address_(std::move(address)) {}
  Status begin();
  Status send();
  Status settle(size_t leftMax);
  Expected<HttpAnswer> ask(const std::string &method, std::map<std::string, std::string> query,
                           std::string body) const;

  const StoreAddress address_;
  std::string buffer_; ///< of the next part
  std::string id_;     ///< of the upload; empty: no part was sent yet
  std::deque<std::unique_ptr<HttpCall>> sent_;
  std::vector<std::string> tags_; ///< of the parts that have arrived, in order
  size_t parts_ = 0;
  bool ended_ = false;
  bool isHandedOver_ = false;
};

} // namespace headrace::storage
