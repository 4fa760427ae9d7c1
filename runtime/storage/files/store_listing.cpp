// ListObjectsV2, a thousand keys an answer; patterns are matched here.
#include "runtime/storage/files/store_listing.h"

#include "runtime/base/percent_text.h"
#include "runtime/storage/files/remote_file.h"
#include "runtime/storage/files/xml_text.h"

#include <algorithm>
#include <charconv>
#include <fnmatch.h>

namespace headrace::storage {
namespace {

constexpr std::string_view kSuffix = ".parquet";

/// All objects whose keys begin so.
Expected<std::vector<StoreFile>> listed(const StoreAddress &address, const std::string &prefix,
                                        std::vector<std::string> &keys) {
  std::vector<StoreFile> files;
  std::map<std::string, std::string> query = {
      {"list-type", "2"}, {"prefix", prefix}, {"encoding-type", "url"}};
  const StoreAddress bucket = address.withKey("");
  while (true) {
    HR_ASSIGN_OR_RETURN(HttpRequest request, storeRequest(bucket, "GET", query));
    request.shown = address.shown;
    HR_ASSIGN_OR_RETURN(HttpAnswer answer, askHttp(std::move(request)));
    if (answer.status != 200) {
      return storeError(address, answer);
    }
    for (std::string_view object : xmlElements(answer.body, "Contents")) {
      const std::string key = percentDecoded(xmlText(object, "Key"));
      const std::string size = xmlText(object, "Size");
      StoreFile file;
      file.address = address.withKey(key).text;
      std::from_chars(size.data(), size.data() + size.size(), file.stamp.bytes);
      file.stamp.modifiedNanoseconds =
          secondsOfMoment(xmlText(object, "LastModified")) * 1'000'000'000;
      file.stamp.tag = xmlText(object, "ETag");
      keys.push_back(key);
      files.push_back(std::move(file));
    }
    query["continuation-token"] = xmlText(answer.body, "NextContinuationToken");
    if (xmlText(answer.body, "IsTruncated") != "true") {
      return files;
    }
  }
}

bool isPattern(const std::string &key) { return key.find_first_of("*[") != std::string::npos; }

/// A component "**" stands for any number of folders, none included.
bool matches(const std::string &pattern, const std::string &key) {
  const size_t any = pattern.starts_with("**/") ? 0 : pattern.find("/**/");
  if (any == std::string::npos) {
    const bool endsInAny = pattern == "**" || pattern.ends_with("/**");
    const std::string begin = endsInAny ? pattern.substr(0, pattern.size() - 2) : "";
    return endsInAny ? key.starts_with(begin) && !key.ends_with('/')
                     : ::fnmatch(pattern.c_str(), key.c_str(), FNM_PATHNAME) == 0;
  }
  const std::string before = any == 0 ? "" : pattern.substr(0, any);
  const std::string rest = pattern.substr(any == 0 ? 3 : any + 4);
  for (size_t slash = any == 0 ? 0 : key.find('/'); slash != std::string::npos;
       slash = key.find('/', slash + 1)) {
    const std::string folder = any == 0 && slash == 0 ? "" : key.substr(0, slash);
    if (any != 0 && ::fnmatch(before.c_str(), folder.c_str(), FNM_PATHNAME) != 0) {
      continue;
    }
    // From this folder on, at any depth.
    for (size_t at = folder.empty() ? 0 : slash + 1; at != std::string::npos;) {
      if (matches(rest, key.substr(at))) {
        return true;
      }
      const size_t next = key.find('/', at);
      at = next == std::string::npos ? next : next + 1;
    }
    if (any == 0) {
      break;
    }
  }
  return false;
}

/// Whether a key below a folder is one of its Parquet files, or of its folders KEY=VALUE.
bool isOfFolder(std::string_view below) {
  if (!below.ends_with(kSuffix)) {
    return false;
  }
  for (size_t slash = below.find('/'); slash != std::string_view::npos;
       below.remove_prefix(slash + 1), slash = below.find('/')) {
    const size_t equals = below.substr(0, slash).find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return false;
    }
  }
  return true;
}

Status sortByName(std::vector<StoreFile> &files, const std::string &text) {
  std::sort(files.begin(), files.end(),
            [](const StoreFile &a, const StoreFile &b) { return a.address < b.address; });
  return files.empty() ? makeError(ErrorKind::kIo, "no Parquet files in: ", text) : Status();
}

Expected<std::vector<StoreFile>> matchingFiles(const StoreAddress &address) {
  const size_t begin = address.key.find_first_of("*[");
  std::vector<std::string> keys;
  HR_ASSIGN_OR_RETURN(std::vector<StoreFile> files,
                      listed(address, address.key.substr(0, begin), keys));
  std::vector<StoreFile> matching;
  for (size_t i = 0; i < files.size(); ++i) {
    if (matches(address.key, keys[i])) {
      matching.push_back(std::move(files[i]));
    }
  }
  if (matching.empty()) {
    return makeError(ErrorKind::kIo, "no file matches: ", address.shown);
  }
  HR_RETURN_IF_ERROR(sortByName(matching, address.shown));
  return matching;
}

std::string folderOf(const StoreAddress &address) {
  return address.key.empty() || address.key.ends_with('/') ? address.key : address.key + "/";
}

std::string stemOf(std::string_view path) {
  path = path.substr(path.find_last_of('/') + 1);
  return std::string(path.substr(0, std::min(path.find_last_of('.'), path.size())));
}

/// As the name of a table: NAME.parquet, or a folder NAME, with what is within them.
std::string tableOf(std::string_view below) {
  const size_t slash = below.find('/');
  if (slash == std::string_view::npos) {
    return below.ends_with(kSuffix) ? stemOf(below) : "";
  }
  return isOfFolder(below.substr(slash + 1)) ? std::string(below.substr(0, slash)) : "";
}

Expected<StoreAddress> listable(const std::string &text) {
  HR_ASSIGN_OR_RETURN(StoreAddress address, StoreAddress::of(text));
  if (!address.isS3() && isPattern(text.substr(0, text.find('?')))) {
    return makeError(
        ErrorKind::kUnsupported,
        "a server of http(s) does not list its files, name each of them: ", address.shown);
  }
  return address;
}

Expected<std::vector<StoreFile>> oneFile(const StoreAddress &address) {
  HR_ASSIGN_OR_RETURN(std::shared_ptr<const RemoteFile> file,
                      RemoteFile::open(address.text, nullptr));
  return std::vector<StoreFile>{{address.text, file->stamp()}};
}

} // namespace

bool isStoreAddress(const std::string &text) { return StoreAddress::is(text); }

Expected<std::string> shownAddress(const std::string &text) {
  HR_ASSIGN_OR_RETURN(StoreAddress address, StoreAddress::of(text));
  return address.shown;
}

std::string stemOfAddress(const std::string &text) {
  return stemOf(text.substr(0, text.find('?')));
}

Expected<bool> hasStoreFiles(const std::string &folder) {
  HR_ASSIGN_OR_RETURN(StoreAddress address, StoreAddress::of(folder));
  if (!address.isS3() || address.key.empty()) {
    return makeError(
        ErrorKind::kUser,
        "a folder of files is written to a path or to s3://BUCKET/FOLDER, got: ", address.shown);
  }
  std::vector<std::string> keys;
  HR_ASSIGN_OR_RETURN(std::vector<StoreFile> files, listed(address, folderOf(address), keys));
  return !files.empty();
}

Expected<std::vector<StoreFile>> storeFiles(const std::string &text) {
  HR_ASSIGN_OR_RETURN(StoreAddress address, listable(text));
  if (!address.isS3()) {
    return oneFile(address);
  }
  if (isPattern(address.key)) {
    return matchingFiles(address);
  }
  const bool mayBeFile = !address.key.empty() && !address.key.ends_with('/');
  const std::string folder = folderOf(address);
  if (mayBeFile && !stemOf(address.key).empty() &&
      address.key.find('.', address.key.find_last_of('/') + 1) != std::string::npos) {
    return oneFile(address); // a name with a suffix
  }
  std::vector<std::string> keys;
  HR_ASSIGN_OR_RETURN(std::vector<StoreFile> files, listed(address, address.key, keys));
  std::vector<StoreFile> inside;
  for (size_t i = 0; i < files.size(); ++i) {
    if (mayBeFile && keys[i] == address.key) {
      return std::vector<StoreFile>{std::move(files[i])};
    }
    if (keys[i].starts_with(folder) &&
        isOfFolder(std::string_view(keys[i]).substr(folder.size()))) {
      inside.push_back(std::move(files[i]));
    }
  }
  HR_RETURN_IF_ERROR(sortByName(inside, address.shown));
  return inside;
}

Expected<std::vector<std::pair<std::string, StoreFile>>> storeTables(const std::string &text) {
  HR_ASSIGN_OR_RETURN(StoreAddress address, listable(text));
  std::vector<std::pair<std::string, StoreFile>> tables;
  const bool isFile = !address.isS3() || address.key.ends_with(kSuffix);
  if (isPattern(address.key) || isFile) {
    HR_ASSIGN_OR_RETURN(std::vector<StoreFile> files, storeFiles(text));
    for (StoreFile &file : files) {
      tables.emplace_back(stemOfAddress(file.address), std::move(file));
    }
    return tables;
  }
  const std::string folder = folderOf(address);
  std::vector<std::string> keys;
  HR_ASSIGN_OR_RETURN(std::vector<StoreFile> files, listed(address, folder, keys));
  const std::string own =
      stemOf(folder.empty() ? address.bucket : folder.substr(0, folder.size() - 1));
  const bool isPartitioned = std::any_of(keys.begin(), keys.end(), [&](const std::string &key) {
    const std::string below = key.substr(folder.size());
    return below.find('/') != std::string::npos && isOfFolder(below);
  });
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string below = keys[i].substr(folder.size());
    const std::string name = !isPartitioned ? tableOf(below) : isOfFolder(below) ? own : "";
    if (!name.empty()) {
      tables.emplace_back(name, std::move(files[i]));
    }
  }
  if (tables.empty()) {
    return makeError(ErrorKind::kIo, "no Parquet files in: ", address.shown);
  }
  return tables;
}

Expected<std::vector<FileStamp>> storeStamps(const std::vector<std::string> &texts) {
  return RemoteFile::stampsOf(texts);
}

} // namespace headrace::storage
