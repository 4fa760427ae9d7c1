// Files behind a network: s3://bucket/key?region=… and http(s)://host/path. What such an address
// means, how it is asked for, and how it may be shown: secrets have no place in it.
#pragma once

#include "runtime/base/status.h"

#include <string>
#include <string_view>

namespace headrace::storage {

/// Where a bucket is, as the options behind a "?" and the environment say.
struct BucketPlace {
  std::string region;
  std::string endpoint; ///< "http://127.0.0.1:9000"; empty: Amazon's
  bool anonymous = false;

  bool operator==(const BucketPlace &) const = default;
};

struct StoreAddress {
  std::string text;   ///< as it was given
  std::string shown;  ///< for messages, plans and keys of caches: what is behind "?" as a digest
  std::string bucket; ///< empty: http(s)
  std::string key;    ///< in the bucket, as it is: not percent-encoded
  std::string query;  ///< of s3: what was behind "?"
  BucketPlace place;

  bool isS3() const { return !bucket.empty(); }
  /// Whether a text begins as such an address does.
  static bool is(std::string_view text);
  /// kUser: an option that is not known, credentials, no bucket or host; kUnsupported: another
  /// scheme.
  static Expected<StoreAddress> of(const std::string &text);
  /// Of the object, or with an empty key of the bucket; percent-encoded.
  std::string url() const;
  /// The same place with another key.
  StoreAddress withKey(const std::string &other) const;
};

} // namespace headrace::storage
