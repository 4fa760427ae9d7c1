// Every answer says which version it is of: it must be the one that is read.
#include "runtime/storage/files/remote_file.h"

#include "runtime/base/sha256.h"
#include "runtime/storage/files/credentials.h"
#include "runtime/storage/files/ranges.h"
#include "runtime/storage/files/xml_text.h"

#include <array>
#include <charconv>

namespace headrace::storage {
namespace {

constexpr int64_t kNanoseconds = 1'000'000'000;

/// "bytes 0-99/1234": where it begins, and the size of the file.
struct ContentRange {
  uint64_t begin = 0;
  uint64_t size = 0;
};

std::optional<ContentRange> contentRange(const std::string &text) {
  ContentRange range;
  const size_t slash = text.find('/');
  if (!text.starts_with("bytes ") || slash == std::string::npos) {
    return std::nullopt;
  }
  const char *begin = text.data() + 6, *end = text.data() + text.size();
  const bool none = *begin == '*'; // the range is not in the file
  const bool hasBegin = std::from_chars(begin, end, range.begin).ec == std::errc();
  const bool hasSize = std::from_chars(text.data() + slash + 1, end, range.size).ec == std::errc();
  return (hasBegin || none) && hasSize ? std::optional(range) : std::nullopt;
}

FileStamp stampOf(const HttpAnswer &answer, uint64_t bytes) {
  FileStamp stamp;
  stamp.bytes = bytes;
  stamp.modifiedNanoseconds = secondsOfMoment(answer.header("last-modified")) * kNanoseconds;
  stamp.tag = answer.header("etag");
  return stamp;
}

std::string rangeHeader(uint64_t offset, uint64_t bytes) {
  return "Range: bytes=" + std::to_string(offset) + "-" + std::to_string(offset + bytes - 1);
}

/// Of the moments listings and answers have different digits; a tag says more.
bool isSameVersion(const FileStamp &a, const FileStamp &b) {
  return a.bytes == b.bytes && a.tag == b.tag &&
         (!a.tag.empty() || a.modifiedNanoseconds == b.modifiedNanoseconds);
}

Status changed(const std::string &shown) {
  return makeError(ErrorKind::kIo, "the file was changed while it was read: ", shown);
}

/// The first byte is asked for: what has no such thing as HEAD for it, a signed address, has GET.
struct StampCall {
  StoreAddress address;
  std::unique_ptr<uint8_t[]> byte = std::make_unique<uint8_t[]>(1);
  std::unique_ptr<HttpCall> call;

  static Expected<StampCall> start(StoreAddress address) {
    StampCall made;
    made.address = std::move(address);
    HR_ASSIGN_OR_RETURN(HttpRequest request, storeRequest(made.address, "GET"));
    request.headers.push_back(rangeHeader(0, 1));
    request.out = {made.byte.get(), 1};
    HR_ASSIGN_OR_RETURN(made.call, HttpCall::start(std::move(request)));
    return made;
  }
  Expected<FileStamp> wait() {
    HR_ASSIGN_OR_RETURN(HttpAnswer answer, call->wait());
    const std::optional<ContentRange> range = contentRange(answer.header("content-range"));
    if (answer.status == 416 && (!range || range->size == 0)) {
      return stampOf(answer, 0);
    }
    if (answer.status != 206) {
      return storeError(address, answer);
    }
    if (!range || range->begin != 0) {
      return makeError(ErrorKind::kIo,
                       "the server does not say which part of the file it sends: ", address.shown);
    }
    return stampOf(answer, range->size);
  }
};

} // namespace

Expected<HttpRequest> storeRequest(const StoreAddress &address, const std::string &method,
                                   const std::map<std::string, std::string> &query,
                                   std::string body) {
  HttpRequest request;
  request.method = method;
  request.url = address.url();
  request.shown = address.shown;
  request.body = std::move(body);
  if (!address.isS3()) {
    return request;
  }
  std::shared_ptr<const Credentials> credentials;
  if (!address.place.anonymous) {
    HR_ASSIGN_OR_RETURN(credentials, credentialsOfEnvironment());
  }
  if (credentials) {
    Signing signing{method, request.url, query, address.place.region, sha256(request.body)};
    request.sign = [signing = std::move(signing), credentials](std::vector<std::string> &headers) {
      for (std::string &each :
           signatureHeaders(signing, *credentials, std::chrono::system_clock::now())) {
        headers.push_back(std::move(each));
      }
    };
  }
  if (!query.empty()) {
    request.url += "?" + canonicalQuery(query);
  }
  return request;
}

Status storeError(const StoreAddress &address, const HttpAnswer &answer) {
  const std::string code = address.isS3() ? xmlText(answer.body, "Code") : "";
  const std::string &region = answer.header("x-amz-bucket-region");
  if (code == "NoSuchBucket") {
    return makeError(ErrorKind::kIo, "no such bucket: ", address.shown);
  }
  if (answer.status == 404) {
    return makeError(ErrorKind::kIo, "no such file: ", address.shown);
  }
  if (answer.status == 412) {
    return changed(address.shown);
  }
  if (!region.empty() && region != address.place.region) {
    return makeError(ErrorKind::kIo,
                     "the bucket is in another region, set AWS_REGION or the "
                     "option region of the address to ",
                     region, ": ", address.shown);
  }
  if (answer.status == 401 || answer.status == 403) {
    bool hasNone = false;
    if (address.isS3()) {
      Expected<std::shared_ptr<const Credentials>> credentials = credentialsOfEnvironment();
      hasNone = credentials.ok() && !*credentials;
    }
    return makeError(ErrorKind::kIo, "access is denied (", answer.status, code.empty() ? "" : " ",
                     code,
                     hasNone ? "; there are no credentials, which AWS_ACCESS_KEY_ID and "
                               "AWS_SECRET_ACCESS_KEY give"
                             : "",
                     "): ", address.shown);
  }
  return makeError(ErrorKind::kIo, "the server answers ", answer.status, code.empty() ? "" : " ",
                   code, ": ", address.shown);
}

Status RangeRead::wait() {
  HR_ASSIGN_OR_RETURN(HttpAnswer answer, call_->wait());
  return file_->check(answer, offset_, bytes_);
}

Expected<std::shared_ptr<const RemoteFile>> RemoteFile::open(const std::string &text,
                                                             const FileStamp *known) {
  HR_ASSIGN_OR_RETURN(StoreAddress address, StoreAddress::of(text));
  FileStamp stamp;
  if (known) {
    stamp = *known;
  } else {
    HR_ASSIGN_OR_RETURN(StampCall call, StampCall::start(address));
    HR_ASSIGN_OR_RETURN(stamp, call.wait());
  }
  return std::shared_ptr<const RemoteFile>(new RemoteFile(std::move(address), std::move(stamp)));
}

Expected<std::vector<FileStamp>> RemoteFile::stampsOf(const std::vector<std::string> &texts) {
  std::vector<StampCall> calls;
  for (const std::string &text : texts) {
    HR_ASSIGN_OR_RETURN(StoreAddress address, StoreAddress::of(text));
    HR_ASSIGN_OR_RETURN(StampCall call, StampCall::start(std::move(address)));
    calls.push_back(std::move(call));
  }
  std::vector<FileStamp> stamps;
  for (StampCall &call : calls) {
    HR_ASSIGN_OR_RETURN(FileStamp stamp, call.wait());
    stamps.push_back(std::move(stamp));
  }
  return stamps;
}

Status RemoteFile::check(const HttpAnswer &answer, uint64_t offset, uint64_t bytes) const {
  if (answer.status != 206) {
    return answer.status == 416 ? changed(path()) : storeError(address_, answer);
  }
  const std::optional<ContentRange> range = contentRange(answer.header("content-range"));
  if (!range || range->begin != offset) {
    return makeError(ErrorKind::kIo, "the server sends another part of the file than bytes ",
                     offset, " to ", offset + bytes - 1, ": ", path());
  }
  return isSameVersion(stampOf(answer, range->size), stamp()) ? Status() : changed(path());
}

Expected<std::unique_ptr<RangeRead>> RemoteFile::start(uint64_t offset,
                                                       std::span<uint8_t> out) const {
  if (offset + out.size() > bytes()) {
    return makeError(ErrorKind::kIo, "the file was cut short while it was read: ", path());
  }
  HR_ASSIGN_OR_RETURN(HttpRequest request, storeRequest(address_, "GET"));
  request.headers.push_back(rangeHeader(offset, out.size()));
  if (!stamp().tag.empty() && !stamp().tag.starts_with("W/")) { // weak ones never match
    request.headers.push_back("If-Match: " + stamp().tag);
  }
  request.out = out;
  auto read = std::make_unique<RangeRead>();
  read->file_ = this;
  read->offset_ = offset;
  read->bytes_ = out.size();
  HR_ASSIGN_OR_RETURN(read->call_, HttpCall::start(std::move(request)));
  return read;
}

Status RemoteFile::read(uint64_t offset, uint64_t bytes, void *out) const {
  std::vector<std::unique_ptr<RangeRead>> parts;
  auto *next = static_cast<uint8_t *>(out);
  for (const ByteRange &part : mergedRanges({{offset, bytes}})) {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<RangeRead> read, start(part.begin, {next, part.bytes}));
    parts.push_back(std::move(read));
    next += part.bytes;
  }
  for (const std::unique_ptr<RangeRead> &part : parts) {
    HR_RETURN_IF_ERROR(part->wait());
  }
  return Status();
}

} // namespace headrace::storage
