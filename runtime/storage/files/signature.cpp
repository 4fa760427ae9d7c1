// AWS Signature Version 4, of the headers that every request has.
#include "runtime/storage/files/credentials.h"

#include "runtime/base/percent_text.h"
#include "runtime/base/sha256.h"

#include <ctime>

namespace headrace::storage {
namespace {

std::string digitsOf(const std::string &bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (unsigned char each : bytes) {
    digits += kDigits[each >> 4];
    digits += kDigits[each & 15];
  }
  return digits;
}

/// Host and path of an address; the host as it is sent.
std::pair<std::string, std::string> partsOf(const std::string &url) {
  const size_t begin = url.find("://") + 3;
  const size_t slash = std::min(url.find('/', begin), url.size());
  std::string host = url.substr(begin, slash - begin);
  const std::string port = url.starts_with("https") ? ":443" : ":80";
  if (host.ends_with(port)) {
    host.resize(host.size() - port.size());
  }
  return {host, slash == url.size() ? "/" : url.substr(slash)};
}

} // namespace

std::string canonicalQuery(const std::map<std::string, std::string> &query) {
  std::string text;
  for (const auto &[name, value] : query) {
    text += (text.empty() ? "" : "&") + percentEncoded(name) + "=" + percentEncoded(value);
  }
  return text;
}

std::vector<std::string> signatureHeaders(const Signing &signing, const Credentials &credentials,
                                          std::chrono::system_clock::time_point now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char moment[17];
  std::strftime(moment, sizeof moment, "%Y%m%dT%H%M%SZ", &utc);
  const std::string date(moment, 8);
  const auto [host, path] = partsOf(signing.url);
  std::map<std::string, std::string> headers = {
      {"host", host}, {"x-amz-content-sha256", signing.bodyDigest}, {"x-amz-date", moment}};
  if (!credentials.sessionToken.empty()) {
    headers["x-amz-security-token"] = credentials.sessionToken;
  }
  std::string lines, names;
  for (const auto &[name, value] : headers) {
    lines += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string request = signing.method + "\n" + path + "\n" + canonicalQuery(signing.query) +
                              "\n" + lines + "\n" + names + "\n" + headers["x-amz-content-sha256"];
  const std::string scope = date + "/" + signing.region + "/s3/aws4_request";
  const std::string toSign =
      "AWS4-HMAC-SHA256\n" + std::string(moment) + "\n" + scope + "\n" + sha256(request);
  std::string key = "AWS4" + credentials.secret;
  for (const std::string &part :
       {date, signing.region, std::string("s3"), std::string("aws4_request")}) {
    key = hmacSha256(key, part);
  }
  std::vector<std::string> sent;
  for (const auto &[name, value] : headers) {
    if (name != "host") {
      sent.push_back(name + ": " + value);
    }
  }
  sent.push_back("Authorization: AWS4-HMAC-SHA256 Credential=" + credentials.keyId + "/" + scope +
                 ", SignedHeaders=" + names + ", Signature=" + digitsOf(hmacSha256(key, toSign)));
  return sent;
}

} // namespace headrace::storage
