// One place for options: behind "?". Credentials are refused there, since addresses are shown.
#include "runtime/storage/files/store_address.h"

#include "runtime/base/percent_text.h"
#include "runtime/base/sha256.h"
#include "runtime/storage/files/credentials.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace headrace::storage {
namespace {

constexpr std::string_view kS3 = "s3://";
constexpr std::array<std::string_view, 2> kHttp = {"http://", "https://"};

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  return text;
}

/// The options of an s3 address. Those that are left out come from the environment.
Status readOptions(std::string_view query, StoreAddress &address) {
  BucketPlace &place = address.place;
  std::string scheme;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view option = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const size_t equals = std::min(option.find('='), option.size());
    const std::string name = percentDecoded(option.substr(0, equals));
    const std::string value = percentDecoded(option.substr(std::min(equals + 1, option.size())));
    if (name == "region") {
      place.region = value;
    } else if (name == "endpoint_override") {
      place.endpoint = value;
    } else if (name == "scheme" && (value == "http" || value == "https")) {
      scheme = value;
    } else if (name == "anonymous" && (value == "true" || value == "false")) {
      place.anonymous = value == "true";
    } else {
      // A value may be a secret that does not belong here: it is not shown.
      return makeError(ErrorKind::kUser,
                       "the options of an s3 address are region, endpoint_override, "
                       "scheme=http|https and anonymous=true|false; keys and secrets come from "
                       "the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), got: ",
                       name);
    }
  }
  if (place.endpoint.empty()) {
    place.endpoint = environment("AWS_ENDPOINT_URL_S3");
  }
  if (place.endpoint.empty()) {
    place.endpoint = environment("AWS_ENDPOINT_URL");
  }
  if (!place.endpoint.empty() && place.endpoint.find("://") == std::string::npos) {
    place.endpoint = (scheme.empty() ? "https" : scheme) + "://" + place.endpoint;
  }
  if (place.endpoint.find('@') != std::string::npos) {
    return makeError(ErrorKind::kUser,
                     "credentials do not belong into the endpoint of an s3 address");
  }
  while (place.endpoint.ends_with('/')) {
    place.endpoint.pop_back();
  }
  if (place.region.empty()) {
    place.region = regionOfEnvironment();
  }
  return {};
}

} // namespace

bool StoreAddress::is(std::string_view text) {
  const size_t colon = text.find("://");
  return colon != std::string_view::npos && colon > 1 &&
         std::all_of(text.begin(), text.begin() + static_cast<ptrdiff_t>(colon),
                     [](unsigned char each) { return std::isalnum(each) || each == '+'; });
}

Expected<StoreAddress> StoreAddress::of(const std::string &text) {
  StoreAddress address;
  address.text = text;
  const size_t begin = text.find("://") + 3;
  const size_t mark = std::min(text.find('?'), text.size());
  const std::string query = text.substr(std::min(mark + 1, text.size()));
  const std::string path = text.substr(0, mark);
  const size_t slash = std::min(path.find('/', begin), path.size());
  const std::string scheme = lower(text.substr(0, begin));
  const bool isHttp = std::find(kHttp.begin(), kHttp.end(), scheme) != kHttp.end();
  if (!isHttp && scheme != kS3) {
    return makeError(ErrorKind::kUnsupported, "files of ", scheme,
                     " cannot be read; s3://, http:// and https:// can: ", path.substr(begin));
  }
  if (path.substr(begin, slash - begin).find('@') != std::string::npos) {
    return makeError(ErrorKind::kUser,
                     "credentials do not belong into an address, which is shown; those of s3 come "
                     "from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY): ",
                     scheme, "…", path.substr(path.find('@', begin)));
  }
  if (slash == begin) {
    return makeError(ErrorKind::kUser, "an address needs a host or a bucket, got: ", path);
  }
  address.shown = path;
  if (isHttp) {
    if (!query.empty()) { // may be a signature
      address.shown += "?…" + sha256(query).substr(0, 8);
    }
    return address;
  }
  address.bucket = path.substr(begin, slash - begin);
  address.key = path.substr(std::min(slash + 1, path.size()));
  address.query = query;
  address.shown = text;
  HR_RETURN_IF_ERROR(readOptions(query, address));
  return address;
}

std::string StoreAddress::url() const {
  if (!isS3()) {
    return text;
  }
  const std::string path = percentEncoded(key, "/");
  if (!place.endpoint.empty()) {
    return place.endpoint + "/" + bucket + (key.empty() ? "" : "/") + path;
  }
  const std::string host = "s3." + place.region + ".amazonaws.com";
  // Certificates are for one name below the host.
  return bucket.find('.') == std::string::npos
             ? "https://" + bucket + "." + host + "/" + path
             : "https://" + host + "/" + bucket + (key.empty() ? "" : "/") + path;
}

StoreAddress StoreAddress::withKey(const std::string &other) const {
  StoreAddress moved = *this;
  moved.key = other;
  moved.text = std::string(kS3) + bucket + "/" + other + (query.empty() ? "" : "?" + query);
  moved.shown = moved.text;
  return moved;
}

} // namespace headrace::storage
