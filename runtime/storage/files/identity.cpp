// Manifests to and from JSON. Hashes are text: JSON numbers lose bits past 2^53 in other readers.
#include "runtime/storage/files/identity.h"

#include <charconv>
#include <cstdio>

namespace headrace::storage {

nlohmann::json toJson(const std::vector<FileIdentity> &manifest) {
  nlohmann::json files = nlohmann::json::array();
  for (const FileIdentity &file : manifest) {
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(file.footerHash));
    files.push_back({{"path", file.path},
                     {"bytes", file.bytes},
                     {"modified_nanoseconds", file.modifiedNanoseconds},
                     {"footer_hash", hash}});
  }
  return files;
}

Expected<std::vector<FileIdentity>> manifestFromJson(const nlohmann::json &document) {
  if (!document.is_array()) {
    return makeError(ErrorKind::kCorrupt,
                     "a manifest must be an array of files, got: ", document.type_name());
  }
  std::vector<FileIdentity> manifest;
  for (const nlohmann::json &file : document) {
    auto field = [&](const char *name) -> const nlohmann::json & {
      static const nlohmann::json missing;
      if (!file.is_object()) {
        return missing;
      }
      auto found = file.find(name);
      return found == file.end() ? missing : *found;
    };
    const nlohmann::json &path = field("path"), &bytes = field("bytes"),
                         &modified = field("modified_nanoseconds"), &hash = field("footer_hash");
    if (!path.is_string() || !bytes.is_number_unsigned() || !modified.is_number_integer() ||
        !hash.is_string()) {
      return makeError(ErrorKind::kCorrupt,
                       "a manifest entry needs path, bytes, modified_nanoseconds and footer_hash, "
                       "entry is number: ",
                       manifest.size());
    }
    FileIdentity identity;
    identity.path = path.get<std::string>();
    identity.bytes = bytes.get<uint64_t>();
    identity.modifiedNanoseconds = modified.get<int64_t>();
    const std::string &text = hash.get_ref<const std::string &>();
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), identity.footerHash, 16);
    if (error != std::errc() || end != text.data() + text.size()) {
      return makeError(ErrorKind::kCorrupt, "footer_hash must be hexadecimal, got: ", text);
    }
    manifest.push_back(std::move(identity));
  }
  return manifest;
}

} // namespace headrace::storage
