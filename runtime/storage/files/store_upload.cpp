// Small files go in one request, others as a multipart upload.
#include "runtime/storage/files/store_upload.h"

#include "runtime/storage/files/remote_file.h"
#include "runtime/storage/files/xml_text.h"

#include <nlohmann/json.hpp>

namespace headrace::storage {
namespace {

constexpr size_t kPartBytes = 8 << 20;
/// Parts become larger by as much after so many: there may be 10,000, and a file of 5 TiB.
constexpr size_t kPartsOfOneSize = 500;
constexpr size_t kPartsUnderWay = 4;

} // namespace

Expected<std::unique_ptr<StoreUpload>> StoreUpload::start(const std::string &text) {
  HR_ASSIGN_OR_RETURN(StoreAddress address, StoreAddress::of(text));
  if (!address.isS3()) {
    return makeError(ErrorKind::kUnsupported,
                     "files are written to paths and to s3://, not to http(s): ", address.shown);
  }
  if (address.key.empty() || address.key.ends_with('/')) {
    return makeError(ErrorKind::kUser,
                     "the address of a file needs a bucket and a key, got: ", address.shown);
  }
  return std::unique_ptr<StoreUpload>(new StoreUpload(std::move(address)));
}

StoreUpload::~StoreUpload() {
  if (!isHandedOver_) {
    abort();
  }
}

Expected<std::string> StoreUpload::handOver() {
  if (!buffer_.empty() || id_.empty()) {
    HR_RETURN_IF_ERROR(send());
  }
  HR_RETURN_IF_ERROR(settle(0));
  isHandedOver_ = true;
  return nlohmann::json({{"id", id_}, {"tags", tags_}}).dump();
}

Expected<std::unique_ptr<StoreUpload>> StoreUpload::takeOver(const std::string &text,
                                                             const std::string &handed) {
  HR_ASSIGN_OR_RETURN(std::unique_ptr<StoreUpload> upload, start(text));
  const nlohmann::json told = nlohmann::json::parse(handed);
  upload->id_ = told["id"];
  upload->tags_ = told["tags"].get<std::vector<std::string>>();
  upload->isHandedOver_ = true;
  return upload;
}

Expected<HttpAnswer> StoreUpload::ask(const std::string &method,
                                      std::map<std::string, std::string> query,
                                      std::string body) const {
  HR_ASSIGN_OR_RETURN(HttpRequest request, storeRequest(address_, method, query, std::move(body)));
  HR_ASSIGN_OR_RETURN(HttpAnswer answer, askHttp(std::move(request)));
  // An upload that fails when it is put together says so behind a status of success.
  if (answer.status / 100 != 2 || answer.body.find("<Error>") != std::string::npos) {
    return storeError(address_, answer);
  }
  return answer;
}

Status StoreUpload::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t part = kPartBytes * (1 + parts_ / kPartsOfOneSize);
    const size_t count = std::min(bytes.size(), part - buffer_.size());
    buffer_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    if (buffer_.size() == part) {
      HR_RETURN_IF_ERROR(send());
    }
  }
  return {};
}

Status StoreUpload::begin() {
  HR_ASSIGN_OR_RETURN(HttpAnswer answer, ask("POST", {{"uploads", ""}}, ""));
  id_ = xmlText(answer.body, "UploadId");
  // no test: moto gives one
  return id_.empty()
             ? makeError(ErrorKind::kIo, "the store begins no upload of parts: ", address_.shown)
             : Status();
}

Status StoreUpload::send() {
  if (id_.empty()) {
    HR_RETURN_IF_ERROR(begin());
  }
  HR_RETURN_IF_ERROR(settle(kPartsUnderWay - 1));
  HR_ASSIGN_OR_RETURN(HttpRequest request,
                      storeRequest(address_, "PUT",
                                   {{"partNumber", std::to_string(++parts_)}, {"uploadId", id_}},
                                   std::move(buffer_)));
  buffer_.clear();
  HR_ASSIGN_OR_RETURN(std::unique_ptr<HttpCall> call, HttpCall::start(std::move(request)));
  sent_.push_back(std::move(call));
  return {};
}

/// Waits until no more parts than these are on their way.
Status StoreUpload::settle(size_t leftMax) {
  while (sent_.size() > leftMax) {
    HR_ASSIGN_OR_RETURN(HttpAnswer answer, sent_.front()->wait());
    sent_.pop_front();
    if (answer.status / 100 != 2) {
      return storeError(address_, answer);
    }
    tags_.push_back(answer.header("etag"));
  }
  return {};
}

Status StoreUpload::finish() {
  if (id_.empty()) {
    HR_ASSIGN_OR_RETURN(HttpAnswer answer, ask("PUT", {}, std::move(buffer_)));
    static_cast<void>(answer);
    ended_ = true;
    return {};
  }
  if (!buffer_.empty()) {
    HR_RETURN_IF_ERROR(send());
  }
  HR_RETURN_IF_ERROR(settle(0));
  std::string parts = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < tags_.size(); ++i) {
    parts += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + tags_[i] +
             "</ETag></Part>";
  }
  HR_ASSIGN_OR_RETURN(HttpAnswer answer,
                      ask("POST", {{"uploadId", id_}}, parts + "</CompleteMultipartUpload>"));
  static_cast<void>(answer);
  ended_ = true;
  return {};
}

void StoreUpload::abort() {
  if (!ended_) {
    ended_ = true;
    sent_.clear();
    if (!id_.empty()) {
      static_cast<void>(
          ask("DELETE", {{"uploadId", id_}}, "")); // what stays, the bucket's rules remove
    }
  }
}

} // namespace headrace::storage
