// Files appear whole: they are written under another name and linked.
#include "runtime/bootstrap/folder_bootstrap.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/random.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/base/sha256.h"
#include "runtime/bootstrap/tcp.h"

namespace headrace {

namespace {

constexpr auto kLook = std::chrono::milliseconds(5);
constexpr int64_t kAskNanoseconds = 50'000'000;
/// For which rank 0 waits at its end before it removes what others may still read.
constexpr int64_t kLeaveNanosecondsMax = 5'000'000'000;

int64_t now() { return RealClock::instance().nowNanoseconds(); }
bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

/// Fails (kMismatch) if the file is there already.
Status writeNew(const std::string &path, std::string_view text) {
  std::string unfinished = path + ".part" + std::to_string(getpid());
  int file = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool written = file >= 0;
  while (written && !text.empty()) {
    ssize_t count = write(file, text.data(), text.size());
    written = count > 0;
    text.remove_prefix(written ? static_cast<size_t>(count) : 0);
  }
  int error = errno;
  if (file >= 0) {
    close(file);
  }
  if (written && link(unfinished.c_str(), path.c_str()) != 0) {
    error = errno;
    written = false;
  }
  unlink(unfinished.c_str());
  return written ? Status()
                 : makeError(error == EEXIST ? ErrorKind::kMismatch : ErrorKind::kIo,
                             "cannot write a file of the job (", std::strerror(error), "): ", path);
}

std::string readWhole(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string drawSecret() {
  uint8_t drawn[32];
  HR_CHECK(getrandom(drawn, sizeof(drawn), 0) == sizeof(drawn));
  return sha256(drawn);
}

/// The first address of this machine's name; that of the machine itself, if it has none.
std::string ownAddress() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  Expected<Socket> listening = listenAt({name, 0});
  return listening.ok() ? ownEnd(*listening).host : "127.0.0.1";
}

} // namespace

Expected<std::unique_ptr<Bootstrap>> FolderBootstrap::join(Options options) {
  std::unique_ptr<FolderBootstrap> made(new FolderBootstrap(std::move(options)));
  HR_RETURN_IF_ERROR(made->openSession());
  made->joined_ = true;
  if (made->options_.address.empty()) {
    made->options_.address = ownAddress();
  }
  HR_RETURN_IF_ERROR(made->fence());
  return std::unique_ptr<Bootstrap>(std::move(made));
}

Status FolderBootstrap::openSession() {
  std::string session = path("session");
  if (options_.rank == 0) {
    std::error_code ignored;
    madeFolder_ = std::filesystem::create_directories(options_.folder, ignored);
    credentials_.secret = drawSecret();
    Status written = writeNew(session, credentials_.secret);
    return written.kind() != ErrorKind::kMismatch
               ? written
               : makeError(
                     ErrorKind::kUser,
                     "a job has begun in this folder before, give it a new one: ", options_.folder);
  }
  int64_t end = now() + static_cast<int64_t>(options_.patienceSeconds * 1e9);
  while (!exists(session)) {
    if (now() > end) {
      return makeError(ErrorKind::kIo, "rank 0 did not come within ", options_.patienceSeconds,
                       " s (--join-timeout) to the folder: ", options_.folder);
    }
    HR_RETURN_IF_ERROR(pause());
  }
  struct stat found{};
  if (stat(session.c_str(), &found) != 0 || found.st_uid != geteuid() ||
      (found.st_mode & 077) != 0) {
    return makeError(ErrorKind::kUser,
                     "others may read or have written the job's secret: ", session);
  }
  credentials_.secret = readWhole(session);
  return {};
}

/// Between two looks.
Status FolderBootstrap::pause() {
  if (options_.interrupted && now() >= nextAsk_) {
    nextAsk_ = now() + kAskNanoseconds;
    if (options_.interrupted()) {
      return stoppedByUser();
    }
  }
  std::this_thread::sleep_for(kLook);
  return {};
}

FolderBootstrap::~FolderBootstrap() {
  if (!joined_) {
    return;
  }
  (void)writeNew(leftPath(options_.rank), {});
  if (options_.rank != 0) {
    return;
  }
  // After a failure one of them may never leave.
  int64_t end = now() + (failure_.ok() ? kLeaveNanosecondsMax : kLeaveNanosecondsMax / 5);
  for (int rank = 1; rank < options_.size; ++rank) {
    while (!exists(leftPath(rank)) && now() < end) {
      std::this_thread::sleep_for(kLook);
    }
  }
  for (int rank = 0; rank < options_.size; ++rank) {
    for (uint64_t number : {exchanges_, exchanges_ - 1, exchanges_ - 2}) {
      unlink(recordPath(number, rank).c_str());
    }
    unlink(leftPath(rank).c_str());
  }
  unlink(path("session").c_str());
  if (madeFolder_) {
    rmdir(options_.folder.c_str()); // not if it has others' files
  }
}

std::string FolderBootstrap::recordPath(uint64_t number, int rank) const {
  return path("record." + std::to_string(number) + "." + std::to_string(rank));
}

Expected<std::vector<std::string>> FolderBootstrap::exchange(std::string_view record) {
  HR_RETURN_IF_ERROR(checkRecord(record));
  HR_RETURN_IF_ERROR(failure_);
  uint64_t number = exchanges_++;
  failure_ = writeNew(recordPath(number, options_.rank), record);
  int64_t end = now() + static_cast<int64_t>(options_.patienceSeconds * 1e9);
  std::vector<std::string> records;
  for (int rank = 0; rank < options_.size && failure_.ok(); ++rank) {
    Expected<std::string> other = waitForRecord(number, rank, end);
    failure_ = other.status();
    records.push_back(other.ok() ? std::move(*other) : std::string());
  }
  HR_RETURN_IF_ERROR(failure_);
  // All have begun this exchange, and so have read the last one.
  if (number > 0) {
    unlink(recordPath(number - 1, options_.rank).c_str());
  }
  return records;
}

Expected<std::string> FolderBootstrap::waitForRecord(uint64_t number, int rank, int64_t end) {
  std::string wanted = recordPath(number, rank);
  while (true) {
    // Asked first: a rank writes its record before it leaves, and rank 0 leaves last.
    bool left = exists(leftPath(rank));
    bool ended = !exists(path("session"));
    if (exists(wanted)) {
      return readWhole(wanted);
    }
    if (left) {
      return makeError(ErrorKind::kIo, "the others waited for a rank that has left: rank ", rank);
    }
    if (ended) {
      // no test: it takes a rank that looks only a second after another one has left
      return makeError(ErrorKind::kIo, "rank 0 has ended the job in: ", options_.folder);
    }
    if (now() > end) {
      return makeError(ErrorKind::kIo, "the others waited for ", options_.patienceSeconds,
                       " s (--join-timeout) for: rank ", rank);
    }
    HR_RETURN_IF_ERROR(pause());
  }
}

} // namespace headrace
