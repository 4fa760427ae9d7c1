// KEY.o: a line "headrace-object LENGTH SHA256", then the object.
#include "passes/driver/object_cache.h"

#include "runtime/base/sha256.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <fstream>
#include <span>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

namespace headrace::driver {

namespace {

std::string headOf(llvm::StringRef object) {
  return "headrace-object " + std::to_string(object.size()) + " " + sha256(object) + "\n";
}

/// A folder (no link to one) that nobody else can write to; made so whatever the umask is.
bool isPrivate(const std::string &folder) {
  llvm::sys::fs::create_directories(llvm::sys::path::parent_path(folder));
  if (::mkdir(folder.c_str(), 0700) == 0) {
    ::chmod(folder.c_str(), 0700);
  }
  struct stat info;
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) {
    return false;
  }
  if (info.st_mode & (S_IWGRP | S_IWOTH)) {
    return false; // others may have put something there
  }
  return (info.st_mode & 077) == 0 || ::chmod(folder.c_str(), 0700) == 0;
}

} // namespace

lower::ObjectCache objectCache(const std::string &folder) {
  lower::ObjectCache cache;
  if (folder.empty() || !isPrivate(folder)) {
    return cache;
  }
  cache.find = [folder](const std::string &key, std::vector<char> *object) {
    std::string path = folder + "/" + key + ".o";
    // Read, not mapped: a mapped file could be cut short under our hands.
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
    if (!file) {
      return false;
    }
    llvm::StringRef content = (*file)->getBuffer();
    llvm::StringRef kept = content.drop_front(std::min(content.size(), content.find('\n') + 1));
    if (kept.empty() || content.drop_back(kept.size()) != headOf(kept)) {
      return false; // damaged: it is made anew
    }
    ::utimes(path.c_str(), nullptr); // the cache removes first what was not used for longest
    object->assign(kept.begin(), kept.end());
    return true;
  };
  cache.put = [folder](const std::string &key, const std::vector<char> &object) {
    // Written under another name and renamed, so that no reader sees half a file.
    std::string temporary = folder + "/" + key + "." + std::to_string(::getpid()) + ".tmp";
    std::ofstream file(temporary, std::ios::binary);
    file << headOf(llvm::StringRef(object.data(), object.size()));
    file.write(object.data(), static_cast<std::streamsize>(object.size()));
    file.close();
    ::chmod(temporary.c_str(), 0600);
    if (file.fail() || llvm::sys::fs::rename(temporary, folder + "/" + key + ".o")) {
      llvm::sys::fs::remove(temporary); // a full disk: the program runs without the cache
    }
  };
  return cache;
}

} // namespace headrace::driver
