// Who asks Amazon's S3 or what speaks like it: found as AWS's tools find it, and the signature of a
// request.
#pragma once

#include "runtime/base/status.h"
#include "runtime/storage/files/http_client.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace headrace::storage {

struct Credentials {
  std::string keyId, secret, sessionToken;
  std::chrono::system_clock::time_point expires = std::chrono::system_clock::time_point::max();
};

/// The first that are there, of: AWS_ACCESS_KEY_ID and its like; a web identity
/// (AWS_WEB_IDENTITY_TOKEN_FILE); the profile AWS_PROFILE of ~/.aws/credentials; a container's
/// (AWS_CONTAINER_CREDENTIALS_*); the instance's. Null: none, so requests go unsigned. What expires
/// is asked for again in time. kUser: a profile without keys; kIo: who should give them does not.
Expected<std::shared_ptr<const Credentials>> credentialsOfEnvironment();

/// AWS_REGION, AWS_DEFAULT_REGION, that of the profile, or us-east-1.
std::string regionOfEnvironment();

/// What a request of S3 needs besides its address.
struct Signing {
  std::string method, url; ///< without the query
  std::map<std::string, std::string> query;
  std::string region;
  std::string bodyDigest; ///< SHA-256
};

/// The headers that sign a request at this moment ("Signature Version 4").
std::vector<std::string> signatureHeaders(const Signing &signing, const Credentials &credentials,
                                          std::chrono::system_clock::time_point now);
/// As it stands behind "?" in the address, in the order of names; empty: nothing.
std::string canonicalQuery(const std::map<std::string, std::string> &query);

} // namespace headrace::storage
